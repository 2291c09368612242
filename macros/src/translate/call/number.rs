//! Calls of numbers' methods, as `x.sqrt()` and as `f32::sqrt(x)`, and conversions between numbers.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, Path};

use crate::translate::methods::{self, Method, Returns, is_order};
use crate::translate::{Pair, Translator, all_at, of, optional, ours_at, own, plain, through};

/// In generic code only the bound `Ord` tells that a type is not a float.
const ORDER_OF_ANYTHING: &str = "of floats `min`, `max` and `clamp` leave open which zero they return; in generic code write \
     `Ord::min(a, b)` for integers, or `warpfold::math::minimum(a, b)` for floats";

impl Translator<'_> {
    /// A conversion that is a method: `x.as_()`, `x.to_f32()`, `x.to_f64()` and `x.into()`.
    pub(super) fn conversion(&mut self, call: &ExprMethodCall, name: &str) -> Pair {
        match name {
            // `num_traits::AsPrimitive`.
            "as_" => {
                let Pair { probe, tree } = self.primitive(&call.receiver);
                let (slot, method) = (self.slot(call.span()), &call.method);
                let span = call.method.span();
                let (_, value) = ours_at(span, own("value"));
                let cast = all_at(span, quote!(__warpfold::language::cast_of(&#value, #value.#method())));
                Pair {
                    probe: of(
                        slot,
                        call.span(),
                        quote!({
                            use __warpfold::language::known::AsPrimitive as _;
                            let #value = #probe;
                            #cast
                        }),
                    ),
                    tree: cast_of_number(&tree, slot),
                }
            }
            // The methods of `half`.
            "to_f32" | "to_f64" => {
                let Pair { probe, tree } = self.receiver(&call.receiver);
                let probe = through("half", call.receiver.span(), probe);
                let (slot, method) = (self.slot(call.span()), &call.method);
                Pair {
                    probe: of(slot, call.span(), quote!(#probe.#method())),
                    tree: cast_of_number(&tree, slot),
                }
            }
            // `into`, the reverse of `From`. A type parameter may have an `into` from another trait, so
            // the receiver must be a number also in generic code.
            _ => {
                let Pair { probe, tree } = self.expression(&call.receiver, true);
                let probe = through("number", call.receiver.span(), probe);
                let (slot, method) = (self.slot(call.span()), &call.method);
                Pair {
                    probe: of(slot, call.span(), quote!(#probe.#method())),
                    tree: cast_of_number(&tree, slot),
                }
            }
        }
    }

    /// A method of numbers, by its name.
    pub(super) fn method_of_a_number(
        &mut self,
        call: &ExprMethodCall,
        method: &Method,
        receiver: Pair,
    ) -> Pair {
        let (name, Pair { probe, tree }) = (method.name, receiver);
        if self.function.generic && is_order(name) {
            return self.refuse(&call.method, ORDER_OF_ANYTHING);
        }
        if name.starts_with("ieee_") {
            return self.refuse(&call.method, "write `warpfold::math::minimum(a, b)`, or one of its like");
        }
        if methods::is_of_number(name) {
            let message = format!(
                "other traits have a `{name}`, too; write `Number::{name}(a, b)`, of `warpfold::operators`"
            );
            return self.refuse(&call.method, message);
        }
        let (probes, trees): (Vec<_>, Vec<_>) =
            call.args.iter().map(|argument| self.argument(argument)).unzip();
        if let Some(turbofish) = &call.turbofish {
            return self.refuse(turbofish, "a method of a number has no type arguments");
        }
        // In generic code the bounds tell that a method is one of numbers. Elsewhere a type of the
        // user may have a method of this name.
        let callee = (!self.function.generic).then(|| {
            let function = if is_order(name) { "order" } else { "meaning" };
            self.callee_named(function, name, call.method.span())
        });
        let form = callee.as_ref().map(|(_, slot)| {
            let called = self.form_of(call, slot, probes.len());
            quote!({ use __warpfold::language::callee::NumberMethods as _; #called })
        });
        let probe = self.of_one_meaning(call, name, &probe, &probes, form);
        let trees: Vec<TokenStream> = std::iter::once(tree).chain(trees).collect();
        self.method(probe, method, &trees, None, callee.map(|(number, _)| number))
    }

    /// A function or a method by its path: `f32::from_bits(x)`, `u64::from(x)`, `f32::sqrt(x)`.
    pub(super) fn function_of_a_number(&mut self, call: &ExprCall, path: &Path, name: &str) -> Pair {
        let slot = self.slot(call.span());
        let func = &*call.func;
        let before =
            path.segments.iter().rev().nth(1).map(|segment| plain(&segment.ident)).unwrap_or_default();
        let before_is_a_parameter = self.function.has_type_parameter(&before);
        match name {
            "from" if call.args.len() == 1 => {
                let Pair { probe, tree } = self.primitive(&call.args[0]);
                let func = self.same(func, quote!(::core::convert::From::from));
                Pair {
                    probe: of(slot, call.span(), quote!(#func(#probe))),
                    tree: cast_of_number(&tree, slot),
                }
            }
            "from_f32" if matches!(before.as_str(), "f16" | "bf16") && call.args.len() == 1 => {
                let Pair { probe, tree } = self.primitive(&call.args[0]);
                let made = through("half", call.span(), quote!(#func(#probe)));
                Pair {
                    probe: of(slot, call.span(), made),
                    tree: cast_of_number(&tree, slot),
                }
            }
            "from_f64" => self.refuse(
                path,
                "the result of `from_f64` depends on the CPU, which may round twice; write `from_f32(x as f32)`",
            ),
            "from_bits" if before_is_a_parameter => {
                self.refuse(path, "`from_bits` of a type parameter has no known meaning; name the type")
            }
            "from_bits" => {
                let (probes, trees) = self.all(&call.args);
                let method = Method { name: "from_bits", kinds: "u", returns: Returns::Same, exact: true };
                self.method(
                    of(slot, call.span(), quote!(#func(#(#probes),*))),
                    &method,
                    &trees,
                    Some(slot),
                    None,
                )
            }
            name => {
                let Some(method) = methods::method(name) else {
                    let instead = methods::instead(name).unwrap_or("docs/OPERATORS.md lists those that are");
                    return self.refuse(path, format!("`{name}` has no counterpart in CUDA C++; {instead}"));
                };
                let is_ord = before == "Ord" || before == "cmp";
                if self.function.generic && is_order(name) && !is_ord {
                    return self.refuse(path, ORDER_OF_ANYTHING);
                }
                let mut arguments = call.args.iter();
                let Some(first) = arguments.next() else { return Pair::default() };
                let first = match first {
                    // `Ord::cmp(&a, &b)`
                    Expr::Reference(inner) if inner.mutability.is_none() => {
                        let Pair { probe, tree } = self.first(&inner.expr, name);
                        (quote!(&#probe), tree)
                    }
                    first => {
                        let Pair { probe, tree } = self.first(first, name);
                        (probe, tree)
                    }
                };
                let rest: Vec<_> = arguments.map(|argument| self.argument(argument)).collect();
                let (probes, trees): (Vec<_>, Vec<_>) = std::iter::once(first).chain(rest).unzip();
                // The function of a known trait that the path must mean.
                let word = Ident::new(name, Span::mixed_site());
                let of_trait = |known: &str| {
                    let known = format_ident!("{known}", span = Span::mixed_site());
                    quote!(__warpfold::language::known::#known::#word)
                };
                let known = if before == "cmp" {
                    Some(quote!(::core::cmp::#word))
                } else if methods::traits_of(name).contains(&before.as_str()) {
                    Some(of_trait(&before))
                } else if before_is_a_parameter {
                    let Some(known) = self.known_trait(name) else {
                        return self.refuse(
                            path,
                            format!("`{name}` of a type parameter has no known meaning; call it on a value of a known type"),
                        );
                    };
                    Some(of_trait(known))
                } else {
                    // A path of a number names an inherent function. `is_zero`, `is_one` and
                    // `ieee_*` are functions of traits.
                    (matches!(name, "is_zero" | "is_one") || name.starts_with("ieee_"))
                        .then(|| self.known_trait(name).map(of_trait))
                        .flatten()
                };
                let func = match known {
                    Some(known) => self.same(func, known),
                    None => quote!(#func),
                };
                // The tree derives the result's type from the method. The slot only receives it in
                // the probe.
                self.method(of(slot, call.span(), quote!(#func(#(#probes),*))), &method, &trees, None, None)
            }
        }
    }

    /// The first operand of a function of numbers.
    fn first(&mut self, operand: &Expr, function: &str) -> Pair {
        let Pair { probe, tree } = self.primitive(operand);
        if self.function.generic || !is_order(function) {
            return Pair { probe, tree };
        }
        Pair { probe: through("ordered", operand.span(), probe), tree }
    }

    /// An operand of a function of numbers. If there are no type parameters, the probe checks that
    /// it is a number.
    fn primitive(&mut self, operand: &Expr) -> Pair {
        let Pair { probe, tree } = self.expression(operand, true);
        if self.function.generic {
            return Pair { probe, tree };
        }
        Pair { probe: through("number", operand.span(), probe), tree }
    }

    /// The node of a method. The result has the type of `slot`, if there is one.
    fn method(
        &mut self,
        probe: TokenStream,
        method: &Method,
        operands: &[TokenStream],
        slot: Option<usize>,
        callee: Option<usize>,
    ) -> Pair {
        self.exact &= method.exact;
        let returns = match (slot, method.returns) {
            (Some(slot), _) => quote!(Slot(#slot)),
            (None, returns) => {
                let name = format_ident!(
                    "{}",
                    match returns {
                        Returns::Same => "Same",
                        Returns::Unsigned => "Unsigned",
                        Returns::Bool => "Bool",
                        Returns::U32 => "U32",
                        Returns::Ordering => "Ordering",
                        Returns::PartialOrdering => "PartialOrdering",
                    }
                );
                quote!(#name)
            }
        };
        let (name, kinds) = (method.name, method.kinds);
        let callee = optional(callee.map(ToTokens::into_token_stream));
        let tree = quote!(__warpfold::language::syntax::Expression::Method {
            name: #name,
            kinds: #kinds,
            returns: __warpfold::language::syntax::Returns::#returns,
            operands: &[#(#operands),*],
            callee: #callee,
        });
        Pair { probe, tree }
    }
}

/// A conversion that only numbers have in this form.
fn cast_of_number(tree: &TokenStream, slot: usize) -> TokenStream {
    let syntax = quote!(__warpfold::language::syntax::Expression);
    quote!(#syntax::Cast(&#syntax::OfNumber(&#tree), #slot))
}
