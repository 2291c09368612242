//! `#[aggregate]`: keeps an `impl Aggregate`, and derives `DeviceAggregate` from its `prepare`,
//! `present` and `accumulate`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Error, ImplItem, ImplItemFn, ItemImpl, Path, Result, parse_quote};

use crate::attributes;
use crate::monoid::function;
use crate::translate::translate;

pub(crate) fn expand(item: &ItemImpl, warpfold: &Path) -> TokenStream {
    let mut item = item.clone();
    let device = match methods_of(&item) {
        Ok(methods) => device(&item, methods, warpfold).unwrap_or_else(|error| {
            // With this stub, rustc reports only the refusal and not a missing `DeviceAggregate` as
            // well.
            let stub =
                implementation(&item, warpfold, &quote!(false), false, &quote!(::core::unreachable!()));
            let error = error.into_compile_error();
            quote!(#stub #error)
        }),
        Err(error) => error.into_compile_error(),
    };
    if method(&item, "monoid").is_none() {
        item.items.push(parse_quote! {
            fn monoid(&self) -> Self::Monoid {
                ::core::default::Default::default()
            }
        });
    }
    quote!(#item #device)
}

fn method<'a>(item: &'a ItemImpl, name: &str) -> Option<&'a ImplItemFn> {
    item.items.iter().find_map(|item| match item {
        ImplItem::Fn(function) if function.sig.ident == name => Some(function),
        _ => None,
    })
}

/// `prepare`, `present`, and `accumulate` if it is there.
fn methods_of(item: &ItemImpl) -> Result<Vec<&ImplItemFn>> {
    let is_aggregate = item.trait_.as_ref().is_some_and(|(not, path, _)| {
        not.is_none() && path.segments.last().is_some_and(|segment| segment.ident == "Aggregate")
    });
    if !is_aggregate {
        let message = "`#[aggregate]` stands before `impl Aggregate for ...`";
        return Err(Error::new_spanned(&item.self_ty, message));
    }
    let found = |name| {
        let missing = || Error::new_spanned(&item.self_ty, format!("an `Aggregate` has a function `{name}`"));
        method(item, name).ok_or_else(missing)
    };
    let required = [found("prepare")?, found("present")?];
    Ok(required.into_iter().chain(method(item, "accumulate")).collect())
}

fn device(item: &ItemImpl, methods: Vec<&ImplItemFn>, warpfold: &Path) -> Result<TokenStream> {
    let generic = item.generics.type_params().next().is_some();
    let (mut translations, mut refused) = (Vec::new(), None);
    for method in methods {
        let translated = attributes::check_method(&item.attrs, &item.generics, method)
            .and_then(|()| translate(&function(item, method, generic, warpfold)?));
        match (translated, &mut refused) {
            (Ok(translation), _) => translations.push((method.sig.ident.to_string(), translation)),
            (Err(error), None) => refused = Some(error),
            (Err(error), Some(first)) => first.combine(error),
        }
    }
    if let Some(error) = refused {
        return Err(error);
    }
    let state = translations.iter().find_map(|(_, translation)| translation.uses_state);
    let state = state.map(|span| quote_spanned!(span=> .state(<Self as #warpfold::DeviceType>::layout())));
    let exact = quote!(#warpfold::language::steps_are_exact::<Self>());
    let accumulates = translations.iter().any(|(name, _)| name == "accumulate");
    let values = translations.iter().map(|(_, translation)| &translation.value);
    let body = quote!(#warpfold::language::DeviceSteps::translated::<Self>() #state);
    let implementation = implementation(item, warpfold, &exact, accumulates, &body);
    let (generics, _, clause) = item.generics.split_for_impl();
    let ty = &item.self_ty;
    Ok(quote! {
        #[automatically_derived]
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        impl #generics #warpfold::language::TranslatedAggregate for #ty #clause {
            const STEPS: &'static [#warpfold::language::Translated] = &[#(#values),*];
        }
        #implementation
    })
}

fn implementation(
    item: &ItemImpl,
    warpfold: &Path,
    exact: &TokenStream,
    accumulates: bool,
    body: &TokenStream,
) -> TokenStream {
    let (generics, _, clause) = item.generics.split_for_impl();
    let ty = &item.self_ty;
    quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #generics #warpfold::DeviceAggregate for #ty #clause {
            const EXACT: bool = #exact;
            const ACCUMULATES: bool = #accumulates;
            type Operator = #warpfold::language::Preparing<Self>;
            type Arrangement = <Self::Input as #warpfold::Element>::Arrangement;
            type Preparation<R: #warpfold::language::Arrangement<Element = Self::Input>> =
                #warpfold::language::PreparedBy<Self, R>;
            fn operator(&self) -> Self::Operator {
                #warpfold::language::Preparing::new(self)
            }
            #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            fn device_steps() -> #warpfold::language::DeviceSteps {
                #body
            }
        }
    }
}
