//! `#[monoid]`: keeps an `impl Monoid`, and derives `DeviceMonoid` from its `combine`.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Error, FnArg, GenericParam, ImplItem, ImplItemFn, ItemImpl, Path, Result, ReturnType};

use crate::attributes;
use crate::translate::{Function, Receiver, Translation, translate};

pub(crate) fn expand(item: &ItemImpl, warpfold: &Path) -> TokenStream {
    let device = match combine_of(item) {
        Ok(combine) => device(item, combine, warpfold).unwrap_or_else(|error| {
            // With this stub, rustc reports only the refusal and not a missing `DeviceMonoid` as
            // well.
            let stub = implementation(item, warpfold, &quote!(false), &quote!(::core::unreachable!()));
            let error = error.into_compile_error();
            quote!(#stub #error)
        }),
        Err(error) => error.into_compile_error(),
    };
    quote!(#item #device)
}

fn combine_of(item: &ItemImpl) -> Result<&ImplItemFn> {
    let is_monoid = item.trait_.as_ref().is_some_and(|(not, path, _)| {
        not.is_none() && path.segments.last().is_some_and(|segment| segment.ident == "Monoid")
    });
    if !is_monoid {
        return Err(Error::new_spanned(&item.self_ty, "`#[monoid]` stands before `impl Monoid for ...`"));
    }
    let combine = item.items.iter().find_map(|item| match item {
        ImplItem::Fn(function) if function.sig.ident == "combine" => Some(function),
        _ => None,
    });
    combine.ok_or_else(|| Error::new_spanned(&item.self_ty, "a `Monoid` has a function `combine`"))
}

fn device(item: &ItemImpl, combine: &ImplItemFn, warpfold: &Path) -> Result<TokenStream> {
    attributes::check_method(&item.attrs, &item.generics, combine)?;
    let generic = item.generics.params.iter().any(|parameter| matches!(parameter, GenericParam::Type(_)));
    let Translation { value, uses_state } = translate(&function(item, combine, generic, warpfold)?)?;
    let state = uses_state.map(|span| quote_spanned!(span=> .state::<Self>()));
    let exact = quote!(<Self as #warpfold::language::callee::TranslatedMonoid>::COMBINE.is_exact());
    let body = quote!(#warpfold::DeviceOperator::translated::<Self>() #state);
    let implementation = implementation(item, warpfold, &exact, &body);
    let (generics, _, clause) = item.generics.split_for_impl();
    let ty = &item.self_ty;
    Ok(quote! {
        #[automatically_derived]
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        impl #generics #warpfold::language::callee::TranslatedMonoid for #ty #clause {
            const COMBINE: #warpfold::language::Translated = #value;
        }
        #implementation
    })
}

/// A method of an `impl`, to be translated.
pub(crate) fn function<'a>(
    item: &'a ItemImpl,
    method: &'a ImplItemFn,
    generic: bool,
    warpfold: &'a Path,
) -> Result<Function<'a>> {
    let mut parameters = Vec::new();
    for input in &method.sig.inputs {
        match input {
            FnArg::Receiver(_) => {}
            FnArg::Typed(typed) => parameters.push((&*typed.pat, &*typed.ty)),
        }
    }
    let ReturnType::Type(_, result) = &method.sig.output else {
        let message = format!("`{}` returns a value", method.sig.ident);
        return Err(Error::new_spanned(&method.sig, message));
    };
    Ok(Function {
        shown: method_name(&method.sig.ident),
        name: None,
        parameters,
        result,
        body: &method.block,
        generic,
        generics: &item.generics,
        receiver: match method.sig.receiver() {
            Some(_) => Receiver::Operator,
            None => Receiver::None,
        },
        warpfold,
    })
}

/// The name of a method of `Monoid` or `Aggregate`.
fn method_name(name: &Ident) -> &'static str {
    let known = ["combine", "prepare", "present", "accumulate"];
    known.into_iter().find(|known| name == known).unwrap_or_default()
}

fn implementation(item: &ItemImpl, warpfold: &Path, exact: &TokenStream, body: &TokenStream) -> TokenStream {
    let (generics, _, clause) = item.generics.split_for_impl();
    let ty = &item.self_ty;
    quote! {
        #[automatically_derived]
        impl #generics #warpfold::DeviceMonoid for #ty #clause {
            const EXACT: bool = #exact;
            #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            fn device_operator() -> #warpfold::DeviceOperator {
                #body
            }
        }
    }
}
