//! Literals of structs.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprStruct};

use super::pattern::member_name;
use super::{Pair, Translator, of, optional, own, reference, through};

impl Translator<'_> {
    /// The literal of a struct with named fields: `Pair { first: a, second: b }`.
    pub(super) fn structure(&mut self, structure: &ExprStruct) -> Pair {
        let (mut probes, mut fields) = (Vec::new(), Vec::new());
        for field in &structure.fields {
            let (member, name) = (&field.member, member_name(&field.member));
            if let Some(marker) = marker(&field.expr) {
                probes.push(quote!(#member: #marker));
                continue;
            }
            let Pair { probe, tree } = self.expression(&field.expr, true);
            probes.push(quote!(#member: #probe));
            fields.push(quote!((#name, #tree)));
        }
        let base = structure.rest.as_ref().map(|base| self.expression(base, true));
        let rest = base.as_ref().map(|Pair { probe, .. }| quote!(..#probe));
        let base = optional(base.map(|Pair { tree, .. }| reference(tree)));
        let slot = self.slot(structure.span());
        let path = &structure.path;
        Pair {
            probe: of(slot, structure.span(), quote!(#path { #(#probes,)* #rest })),
            tree: quote!(__warpfold::language::syntax::Expression::Struct {
                ty: #slot, fields: &[#(#fields),*], base: #base
            }),
        }
    }

    /// The literal of a tuple struct: `Pair(a, b)`.
    pub(super) fn tuple_structure(&mut self, call: &ExprCall) -> Pair {
        let (probes, trees) = self.all(&call.args);
        let slot = self.slot(call.span());
        let func = &call.func;
        // A function may begin with a capital letter, too. It is no pattern.
        let made = own("made");
        let checked = quote!({ let #made = #func(#(#probes),*); let #func(..) = #made; #made });
        let fields = trees.iter().enumerate().map(|(position, tree)| {
            let position = position.to_string();
            quote!((#position, #tree))
        });
        Pair {
            probe: of(slot, call.span(), checked),
            tree: quote!(__warpfold::language::syntax::Expression::Struct {
                ty: #slot, fields: &[#(#fields),*], base: ::core::option::Option::None
            }),
        }
    }
}

/// The probe of a field's value that is `PhantomData`, which is no part of the type's layout.
fn marker(value: &Expr) -> Option<TokenStream> {
    let Expr::Path(path) = value else { return None };
    let is_marker = path.path.segments.last().is_some_and(|last| last.ident == "PhantomData");
    is_marker.then(|| through("marker", value.span(), quote!(#value)))
}
