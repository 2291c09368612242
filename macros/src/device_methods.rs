//! `#[device]` before the `impl` of a type: keeps it, and adds the CUDA C++ forms of its functions.
//!
//! Beside each function stands a hidden one, its form. A probe finds the form as it would find the
//! function, and gets from it the type that stands for the function.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Error, GenericParam, Generics, ImplItem, ImplItemFn, ItemImpl, Path, Result, Type, parse_quote};

use crate::attributes;
use crate::device_function::{check_signature, check_type, known, parameters};
use crate::device_impl::{check_lifetimes, check_parameters, translation};
use crate::translate::{Translation, form_name, hash, plain};

pub(crate) fn expand(item: &ItemImpl, warpfold: &Path) -> TokenStream {
    let (mut kept, mut forms) = (item.clone(), TokenStream::new());
    for method in item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    }) {
        let generics = merged(&item.generics, &method.sig.generics);
        let translated = check_method(item, method)
            .and_then(|result| translation(item, method, &generics, result, warpfold));
        let (function, refused) = match translated {
            // A form is a type, and this parameter has no place in it.
            Err(error) if odd_parameter(&method.sig.generics).is_some() => {
                forms.extend(error.into_compile_error());
                continue;
            }
            Ok(Translation { value, .. }) => (value, TokenStream::new()),
            // With this form, rustc reports only the refusal and not each call as well.
            Err(error) => (quote!(#warpfold::language::Translated::REFUSED), error.into_compile_error()),
        };
        let (name, arguments) = (hash(&plain(&method.sig.ident)), arguments(&method.sig.generics));
        kept.items.extend(hidden(method, name, &arguments, warpfold));
        let (impl_generics, _, _) = generics.split_for_impl();
        let (ty, known) = (&item.self_ty, known(&generics, warpfold));
        // Evaluated here, so that rustc reports recursion at the function itself.
        let asked = generics.params.is_empty().then(|| {
            quote_spanned! {method.sig.ident.span()=>
                const _: bool =
                    <#ty as #warpfold::language::callee::Method<#name, #arguments>>::FUNCTION.exact;
            }
        });
        forms.extend(quote! {
            #[automatically_derived]
            #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            impl #impl_generics #warpfold::language::callee::Method<#name, #arguments> for #ty #known {
                const FUNCTION: #warpfold::language::Translated = #function;
            }
            #asked
            #refused
        });
    }
    quote!(#kept #forms)
}

/// Refuses a method that has no counterpart, and returns the type of its result.
fn check_method<'m>(item: &ItemImpl, method: &'m ImplItemFn) -> Result<&'m Type> {
    attributes::check_method(&item.attrs, &item.generics, method)?;
    check_lifetimes(&item.generics)?;
    let signature = &method.sig;
    let result = check_signature(signature)?;
    if let Some(parameter) = odd_parameter(&signature.generics) {
        return Err(Error::new_spanned(
            parameter,
            "a const parameter of a method is a `usize` here; write a free `#[device]` function",
        ));
    }
    if let Some(receiver) = signature.receiver() {
        if receiver.mutability.is_some() && receiver.reference.is_some() {
            return Err(Error::new_spanned(
                receiver,
                "a method here changes nothing: take `self`, and return the changed value",
            ));
        }
        if receiver.colon_token.is_some() {
            return Err(Error::new_spanned(receiver, "the receiver of a method here is `self` or `&self`"));
        }
        let is_order = ["min", "max", "clamp"].contains(&plain(&signature.ident).as_str());
        if is_order && receiver.reference.is_some() {
            return Err(Error::new_spanned(
                receiver,
                "take `self` by value here: a method of this name of the trait `Ord` comes before one that takes `&self`",
            ));
        }
    }
    check_parameters(signature)?;
    check_type(result)?;
    Ok(result)
}

/// A parameter that the form of a method cannot have.
fn odd_parameter(generics: &Generics) -> Option<&GenericParam> {
    generics.params.iter().find(|parameter| match parameter {
        GenericParam::Type(_) => false,
        GenericParam::Const(parameter) => {
            !matches!(&parameter.ty, Type::Path(path) if path.path.is_ident("usize"))
        }
        GenericParam::Lifetime(_) => true,
    })
}

/// The generics of an `impl` and of a function in it.
fn merged(outer: &Generics, inner: &Generics) -> Generics {
    let mut merged = outer.clone();
    // Type parameters stand before const parameters here, so the order does not matter.
    merged.params.extend(inner.params.iter().cloned());
    if let Some(clause) = &inner.where_clause {
        merged.make_where_clause().predicates.extend(clause.predicates.iter().cloned());
    }
    merged
}

/// The generic arguments of a function, as a tuple. A number `N` is the array type `[(); N]`.
fn arguments(generics: &Generics) -> TokenStream {
    let arguments = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_token_stream()),
        GenericParam::Const(parameter) => {
            let name = &parameter.ident;
            Some(quote!([(); #name]))
        }
        GenericParam::Lifetime(_) => None,
    });
    quote!((#(#arguments,)*))
}

/// The forms of a function, for the same `impl`: one that is called as a method, and one by path.
fn hidden(method: &ImplItemFn, name: u64, arguments: &TokenStream, warpfold: &Path) -> Vec<ImplItem> {
    let (visibility, signature) = (&method.vis, &method.sig);
    let (generics, _, clause) = signature.generics.split_for_impl();
    let types: Vec<&Type> = parameters(signature).map(|typed| &*typed.ty).collect();
    let slot =
        quote!(_: &#warpfold::language::Slot<#warpfold::language::callee::MethodOf<Self, #name, #arguments>>);
    let written = |name: Ident, receiver: TokenStream, types: TokenStream| {
        parse_quote! {
            #[doc(hidden)]
            #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            #visibility fn #name #generics (#receiver #slot, _: (#types)) #clause {}
        }
    };
    let mut forms = Vec::new();
    let own = match signature.receiver() {
        Some(receiver) => {
            let form = form_name("", &signature.ident);
            forms.push(written(form, quote!(self,), quote!(#(#types,)*)));
            let reference = receiver.reference.as_ref().map(|_| quote!(&));
            quote!(#reference Self,)
        }
        None => TokenStream::new(),
    };
    forms.push(written(
        form_name("function_", &signature.ident),
        TokenStream::new(),
        quote!(#own #(#types,)*),
    ));
    forms
}
