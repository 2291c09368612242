//! Macros and functions of the standard library that stand for other syntax: `matches!`,
//! `debug_assert!`, `debug_assert_eq!`, `debug_assert_ne!` and `core::mem::swap`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, Macro, Pat, Token, parse_quote_spanned};

use super::{Pair, Translator, plain};

/// What a macro call stands for.
pub(super) enum Expansion {
    /// A value.
    Value(Pair),
    /// An assertion, which a kernel leaves out. The tokens belong to the probe.
    Assertion(TokenStream),
}

/// The arguments of `matches!`.
struct Matches {
    value: Expr,
    pattern: Pat,
    guard: Option<Expr>,
}

impl Parse for Matches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let guard = match input.parse::<Option<Token![if]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        input.parse::<Option<Token![,]>>()?;
        Ok(Self { value, pattern, guard })
    }
}

impl Translator<'_> {
    /// What a macro call stands for. None if it is refused.
    pub(super) fn expansion(&mut self, call: &Macro) -> Option<Expansion> {
        let last = call.path.segments.last().map(|segment| plain(&segment.ident)).unwrap_or_default();
        let name = call.path.get_ident();
        match (name, last.as_str()) {
            (Some(name), "matches") => {
                let arguments: Matches = match call.parse_body() {
                    Ok(arguments) => arguments,
                    Err(error) => {
                        self.errors.push(error);
                        return None;
                    }
                };
                let Matches { value, pattern, guard } = arguments;
                let guard = guard.map(|guard| quote!(if #guard));
                let choice: Expr = parse_quote_spanned! {call.span()=>
                    match (#value) { #pattern #guard => true, _ => false }
                };
                let outer = std::mem::replace(&mut self.in_macro, true);
                let Pair { probe, tree } = self.expression(&choice, true);
                self.in_macro = outer;
                let checked = of_core(name, quote!(0, _));
                Some(Expansion::Value(Pair { probe: quote!({ #checked #probe }), tree }))
            }
            (Some(name), "debug_assert") => Some(Expansion::Assertion(of_core(name, quote!(true)))),
            (Some(name), "debug_assert_eq") => Some(Expansion::Assertion(of_core(name, quote!(0, 0)))),
            (Some(name), "debug_assert_ne") => Some(Expansion::Assertion(of_core(name, quote!(0, 1)))),
            _ => self.refuse(&call.path, macro_refused(&last)),
        }
    }

    /// `core::mem::swap` of two places, as an assignment. None if this is not such a call.
    pub(super) fn swap(&mut self, call: &ExprCall, function: &Expr) -> Option<Pair> {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let [Expr::Reference(first), Expr::Reference(second)] = arguments[..] else { return None };
        if first.mutability.is_none() || second.mutability.is_none() {
            return None;
        }
        for place in [&first.expr, &second.expr] {
            if !is_simple(place) {
                return Some(
                    self.refuse(
                        place,
                        "`swap` here is of variables and their fields; write `(a, b) = (b, a)`",
                    ),
                );
            }
        }
        let (first, second) = (&first.expr, &second.expr);
        let assignment: Expr = parse_quote_spanned!(call.span()=> (#first, #second) = (#second, #first));
        let Pair { probe, tree } = self.expression(&assignment, false);
        let known = self.same(function, quote!(::core::mem::swap::<u8>));
        Some(Pair { probe: quote!({ let _ = #known; #probe }), tree })
    }
}

/// Whether an expression names a place that may be evaluated twice: a variable, or a field of one.
fn is_simple(place: &Expr) -> bool {
    match place {
        Expr::Path(_) => true,
        Expr::Field(field) => is_simple(&field.base),
        Expr::Paren(inner) => is_simple(&inner.expr),
        Expr::Group(inner) => is_simple(&inner.expr),
        _ => false,
    }
}

/// A statement that rustc refuses as ambiguous, unless the name means a macro of `core`: names of a
/// glob import and of an outer scope must not differ.
fn of_core(name: &Ident, arguments: TokenStream) -> TokenStream {
    let span = Span::call_site().located_at(name.span());
    quote_spanned! {span=> {
        #[allow(unused_imports)]
        use ::core::*;
        let _ = #name!(#arguments);
    }}
}

/// The error for a macro in a body.
pub(super) fn macro_refused(name: &str) -> String {
    let instead = match name {
        "panic" | "unreachable" | "todo" | "unimplemented" => "a kernel cannot panic: return a value",
        "assert" | "assert_eq" | "assert_ne" => {
            "a kernel cannot panic: write `debug_assert`, which kernels leave out"
        }
        "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => {
            "an assertion is a statement of a block, by its name without a path"
        }
        "matches" => "write `matches!`, without a path",
        "println" | "print" | "eprintln" | "eprint" | "dbg" => "a kernel cannot print",
        "vec" => "a kernel cannot allocate: use an array",
        _ => "write out what it expands to",
    };
    format!("a macro has no counterpart in CUDA C++; {instead}")
}
