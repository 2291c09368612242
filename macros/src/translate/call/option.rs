//! Calls that make or read an option. An option is a `warpfold::Maybe` on a GPU.

use proc_macro2::Span;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, parse_quote_spanned};

use crate::translate::{Pair, Translator, of, through};

impl Translator<'_> {
    /// `option.is_some()` and `option.is_none()`.
    pub(super) fn is_some(&mut self, call: &ExprMethodCall, name: &str) -> Pair {
        let Pair { probe, tree } = self.receiver(&call.receiver);
        let probe = through("option", call.receiver.span(), probe);
        let syntax = quote!(__warpfold::language::syntax::Expression);
        let (method, is_some) = (&call.method, quote!(#syntax::Field(&#tree, "is_some")));
        let none = quote!(::core::option::Option::None);
        let tree = match name == "is_some" {
            true => is_some,
            false => quote!(#syntax::Not(&#is_some, #none)),
        };
        Pair { probe: quote!(#probe.#method()), tree }
    }

    /// `option.unwrap_or(other)`
    pub(super) fn unwrap_or(&mut self, option: &Expr, other: &Expr) -> Pair {
        let [value, default] = ["value_of_option", "default_of_option"]
            .map(|name| format_ident!("{name}_{}", self.slots.len(), span = Span::mixed_site()));
        let choice: Expr = parse_quote_spanned! {option.span()=> {
            let #value = #option;
            let #default = #other;
            match #value { Some(#value) => #value, None => #default }
        }};
        self.expression(&choice, true)
    }

    /// `Some(value)`. An option is a `warpfold::Maybe` on a GPU, and `None` is a constant.
    pub(super) fn some(&mut self, call: &ExprCall, function: &Expr, value: &Expr) -> Pair {
        let Pair { probe, tree } = self.expression(value, true);
        let (slot, function) =
            (self.slot(call.span()), self.same(function, quote!(::core::option::Option::Some)));
        let syntax = quote!(__warpfold::language::syntax::Expression);
        Pair {
            probe: of(slot, call.span(), quote!(#function(#probe))),
            tree: quote! {
                #syntax::Struct {
                    ty: #slot,
                    fields: &[("value", #tree), ("is_some", #syntax::Bool(true))],
                    base: ::core::option::Option::None,
                }
            },
        }
    }
}
