//! Calls: a name or a path decides which kind of call it is. Each kind has a file of its own.

mod device;
mod known_method;
mod number;
mod option;

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall};

use super::{Pair, Translator, all_at, methods, ours_at, plain, through};

pub(crate) use self::device::form_name;

/// The types of numbers, and `bool`.
const PRIMITIVES: [&str; 15] = [
    "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f16", "bf16", "f32", "f64",
    "bool",
];

impl Translator<'_> {
    /// `receiver.method(arguments)`
    pub(super) fn method_call(&mut self, call: &ExprMethodCall) -> Pair {
        let name = plain(&call.method);
        if matches!(&*call.receiver, Expr::Path(path) if self.is_state(&path.path)) {
            return self.refuse(
                call,
                "a method of the operator has no counterpart in CUDA C++; write a free `#[device]` function, and pass it \
                 what it needs, `*self` if that is everything",
            );
        }
        if let Some(pair) = self.inner_call(call) {
            return pair;
        }
        if call.args.is_empty() && call.turbofish.is_none() {
            match name.as_str() {
                "as_" | "to_f32" | "to_f64" | "into" => return self.conversion(call, &name),
                "len" => {
                    let Pair { probe, tree } = self.expression(&call.receiver, true);
                    let probe = through("array", call.receiver.span(), probe);
                    return Pair {
                        probe: self.of_one_meaning(call, &name, &probe, &[], None),
                        tree: quote!(__warpfold::language::syntax::Expression::Length(&#tree)),
                    };
                }
                "is_some" | "is_none" => return self.is_some(call, &name),
                // `T::from(0.5).unwrap()` of `num_traits`.
                "unwrap" if is_constant(&call.receiver) => return self.constant_value(quote!(#call)),
                _ => {}
            }
        }
        if let ("unwrap_or", 1, None) = (name.as_str(), call.args.len(), &call.turbofish) {
            return self.unwrap_or(&call.receiver, &call.args[0]);
        }
        let refused = self.errors.len();
        let receiver = self.receiver(&call.receiver);
        match (methods::method(&name), methods::instead(&name)) {
            (Some(method), _) => self.method_of_a_number(call, &method, receiver),
            // In a chain of methods, only the first refusal is reported.
            (None, _) if self.errors.len() > refused => Pair::default(),
            (None, Some(instead)) => self.refuse(
                &call.method,
                format!("the method `{name}` has no counterpart in CUDA C++; {instead}"),
            ),
            (None, None) => self.method_of_a_type(call, &name, receiver),
        }
    }

    /// `function(arguments)`, where the function is a path.
    pub(super) fn call(&mut self, call: &ExprCall) -> Pair {
        let func = match &*call.func {
            Expr::Group(inner) => &*inner.expr,
            func => func,
        };
        let Expr::Path(callee) = func else {
            return self.refuse(&call.func, "only a function can be called, by its name");
        };
        let last = callee.path.segments.last().map(|segment| plain(&segment.ident)).unwrap_or_default();
        let before = callee.path.segments.iter().rev().nth(1).map(|segment| plain(&segment.ident));
        let before = before.unwrap_or_default();
        let of_type = callee.qself.is_some() || before.starts_with(|first: char| first.is_uppercase());
        let of_type = of_type || PRIMITIVES.contains(&before.as_str());
        let is_constant = of_type || matches!(last.as_str(), "size_of" | "align_of");
        if call.args.is_empty() && is_constant {
            return self.constant_value(quote!(#call));
        }
        // `std::cmp::max(a, b)`, which is `Ord::max`.
        if before == "cmp" && matches!(last.as_str(), "max" | "min") {
            return self.function_of_a_number(call, &callee.path, &last);
        }
        // A method by its path: `f32::sqrt(x)`, `Float::sqrt(x)`, `<T as Float>::sqrt(x)`.
        if of_type && !last.starts_with(|first: char| first.is_uppercase()) {
            let known = match methods::is_of_number(&last) {
                true => before == "Number",
                false => true,
            };
            let known = known
                && (PRIMITIVES.contains(&before.as_str())
                    || methods::traits_of(&last).contains(&before.as_str())
                    || self.function.has_type_parameter(&before));
            if !known {
                return self.function_of_a_type(call, callee);
            }
            return self.function_of_a_number(call, &callee.path, &last);
        }
        if last == "swap"
            && let Some(pair) = self.swap(call, func)
        {
            return pair;
        }
        if let ("Some", [value]) = (last.as_str(), &call.args.iter().collect::<Vec<_>>()[..]) {
            return self.some(call, func, value);
        }
        if last.starts_with(|first: char| first.is_uppercase()) {
            return self.tuple_structure(call);
        }
        self.free_function(call, callee, &last)
    }

    /// The receiver of a method, as a value.
    fn receiver(&mut self, receiver: &Expr) -> Pair {
        let Pair { probe, tree } = self.expression(receiver, true);
        match self.reference(receiver) {
            Some(_) => Pair { probe: quote!((*#probe)), tree },
            None => Pair { probe, tree },
        }
    }

    /// An argument of a method. It may be a reference, as in `a.total_cmp(&b)`.
    fn argument(&mut self, argument: &Expr) -> (TokenStream, TokenStream) {
        match argument {
            Expr::Reference(inner) if inner.mutability.is_none() => {
                let Pair { probe, tree } = self.expression(&inner.expr, true);
                (quote!(&#probe), tree)
            }
            argument => {
                let Pair { probe, tree } = self.expression(argument, true);
                (probe, tree)
            }
        }
    }

    /// Passes a function through `same`, so that the probe compiles only if it is the known
    /// function.
    pub(super) fn same(&self, function: &Expr, known: TokenStream) -> TokenStream {
        let (span, same) = ours_at(function.span(), Ident::new("same", function.span()));
        let known = all_at(function.span(), known);
        quote_spanned!(span=> __warpfold::language::#same(#function, #known))
    }
}

/// Whether an expression calls an associated function with literals only.
fn is_constant(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    let of_type =
        matches!(&*call.func, Expr::Path(path) if path.qself.is_some() || path.path.segments.len() > 1);
    of_type
        && call.args.iter().all(|argument| match argument {
            Expr::Unary(unary) => matches!(&*unary.expr, Expr::Lit(_)),
            argument => matches!(argument, Expr::Lit(_)),
        })
}
