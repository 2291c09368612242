//! The probe of a method call that means one known method, and no other of the same name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ExprMethodCall;
use syn::spanned::Spanned;

use crate::translate::methods::{self, is_order};
use crate::translate::{Translator, names_in_bounds, ours_at, own};

impl Translator<'_> {
    /// Writes the probe of a method call, so that it compiles only if the call means the known
    /// method.
    ///
    /// For a value of a known type:
    ///
    /// - Inherent methods come before trait methods, and methods by value before methods by
    ///   reference.
    /// - The call is written once more beside a rival: a trait for all types with this method by
    ///   value. If another trait supplies the method, this call is ambiguous.
    /// - A known trait that takes its receiver by reference is brought into scope. If a second
    ///   trait supplies the method by reference, the call is ambiguous.
    ///
    /// For a value of a type parameter, the bounds alone decide:
    ///
    /// - A known trait must be among the bounds or their supertraits.
    /// - If a second bound supplies the method in the same way, the call is ambiguous.
    /// - A method by value would come before a known method by reference.
    ///   [`only_by_reference`](Self::only_by_reference) refuses it.
    pub(super) fn of_one_meaning(
        &self,
        call: &ExprMethodCall,
        name: &str,
        receiver: &TokenStream,
        arguments: &[TokenStream],
        form: Option<TokenStream>,
    ) -> TokenStream {
        let word = &call.method;
        let (span, value) = ours_at(call.span(), own("value"));
        let names: Vec<Ident> =
            (0..arguments.len()).map(|number| own(&format!("argument_{number}"))).collect();
        let called = quote!(#value.#word(#(#names),*));
        let known = match (self.known_trait(name), name) {
            (Some(known), _) => {
                let known = format_ident!("{known}", span = Span::mixed_site());
                let argument = match known == "Pow" {
                    true => quote!(, #(#names),*),
                    false => TokenStream::new(),
                };
                let asked = ours_at(word.span(), known.clone()).1;
                let word_span = Span::call_site().located_at(word.span());
                let is = self.function.generic.then(|| match known == "Pow" {
                    true => {
                        quote_spanned!(word_span=> __warpfold::language::is::#asked(&#value #argument);)
                    }
                    false => quote_spanned! {word_span=> {
                        use __warpfold::language::is::{OfNumber as _, #asked::OfTrait as _};
                        (&&__warpfold::language::is::Of(&#value)).is_known();
                    }},
                });
                let alone = methods::is_by_reference(&known.to_string(), name)
                    .then(|| self.only_by_reference(word, span));
                let by_reference = matches!(name, "is_zero" | "is_one")
                    .then(|| quote!(use __warpfold::language::known::#known as _;));
                quote!(#alone #is #by_reference)
            }
            (None, "len") => TokenStream::new(),
            (None, _) if self.function.generic && form.is_none() => {
                quote_spanned!(span=> let _ = __warpfold::language::number(#value);)
            }
            (None, _) => TokenStream::new(),
        };
        // `Ord` is always in scope and has `min`, `max` and `clamp` by value, so a rival would
        // always be ambiguous.
        let rival = |receiver: TokenStream, called: &TokenStream| {
            let types: Vec<Ident> = (0..arguments.len())
                .map(|number| format_ident!("__WarpfoldArgument{number}", span = Span::call_site()))
                .collect();
            let other = Ident::new("__WarpfoldOther", Span::call_site());
            quote_spanned! {span=> {
                trait #other: Sized {
                    fn #word<#(#types),*>(#receiver, #(_: #types),*) {}
                }
                impl<T> #other for T {}
                let _ = #called;
            }}
        };
        let by_value = (!is_order(name)).then(|| rival(quote!(self), &called));
        // `len` of an array is a method of slices, which comes after all methods of the array. Of a
        // variable that is a reference, methods by reference come first.
        let of_reference = self.reference(&call.receiver).is_some() && !is_comparison(name);
        let by_reference = match of_reference {
            true => Some(rival(quote!(&self), &quote!((&#value).#word(#(#names),*)))),
            false => (name == "len").then(|| rival(quote!(&self), &called)),
        };
        quote_spanned! {span=> ({
            let #value = #receiver;
            #(let #names = #arguments;)*
            #by_value
            #by_reference
            #known
            #form
            #called
        })}
    }

    /// A probe that does not compile if a bound of a type parameter supplies the method by value.
    /// Bounds come before all other traits, so the rival trait is a bound as well.
    fn only_by_reference(&self, method: &Ident, span: Span) -> TokenStream {
        let mut generics = self.function.generics.clone();
        let types: Vec<Ident> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
        for ty in &types {
            generics.make_where_clause().predicates.push(syn::parse_quote!(#ty: __WarpfoldOther));
        }
        let (parameters, _, clause) = generics.split_for_impl();
        let values: Vec<Ident> = (0..types.len()).map(|number| own(&format!("value_{number}"))).collect();
        quote_spanned! {span=> {
            trait __WarpfoldOther: Sized {
                fn #method(self) {}
            }
            fn __warpfold_only #parameters(#(#values: #types),*) #clause {
                #(#values.#method();)*
            }
        }}
    }

    /// The known trait that supplies a method in generic code: the first one that a bound names, or
    /// else the first in the table.
    pub(super) fn known_trait(&self, method: &str) -> Option<&'static str> {
        let traits = methods::traits_of(method);
        let bounds = names_in_bounds(self.function.generics);
        let is_named = |known: &&&str| bounds.iter().any(|name| name == **known);
        traits.iter().find(is_named).or(traits.first()).copied()
    }
}

/// Whether a trait that is always in scope supplies the method by reference.
fn is_comparison(method: &str) -> bool {
    matches!(method, "cmp" | "partial_cmp" | "eq" | "ne" | "lt" | "le" | "gt" | "ge")
}
