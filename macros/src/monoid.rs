//! `#[monoid]`: keeps an `impl Monoid`, and derives `DeviceMonoid` from its `combine`.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    Error, FnArg, GenericParam, ImplItem, ImplItemFn, ItemImpl, Path, Result, ReturnType, Type, WhereClause,
    parse_quote,
};

use crate::attributes;
use crate::translate::{Function, Receiver, Translation, translate, with_explicit_calls};

pub(crate) fn expand(item: &ItemImpl, warpfold: &Path) -> TokenStream {
    let device = match combine_of(item) {
        Ok(combine) => device(item, combine, warpfold).unwrap_or_else(|error| {
            // With this stub, rustc reports only the refusal and not a missing `DeviceMonoid` as
            // well.
            let stub = implementation(item, warpfold, &quote!(false), &quote!(::core::unreachable!()));
            let error = error.into_compile_error();
            quote!(#stub #error)
        }),
        // rustc reports a function that is missing.
        Err(None) => implementation(item, warpfold, &quote!(false), &quote!(::core::unreachable!())),
        Err(Some(error)) => error.into_compile_error(),
    };
    let mut item = item.clone();
    for function in item.items.iter_mut() {
        if let ImplItem::Fn(function) = function
            && function.sig.ident == "combine"
        {
            with_explicit_calls(&mut function.block, warpfold);
        }
    }
    quote!(#item #device)
}

fn combine_of(item: &ItemImpl) -> std::result::Result<&ImplItemFn, Option<Error>> {
    let is_monoid = item.trait_.as_ref().is_some_and(|(not, path, _)| {
        not.is_none() && path.segments.last().is_some_and(|segment| segment.ident == "Monoid")
    });
    if !is_monoid {
        let message = "`#[monoid]` stands before `impl Monoid for ...`";
        return Err(Some(Error::new_spanned(&item.self_ty, message)));
    }
    let combine = item.items.iter().find_map(|item| match item {
        ImplItem::Fn(function) if function.sig.ident == "combine" => Some(function),
        _ => None,
    });
    combine.ok_or(None)
}

fn device(item: &ItemImpl, combine: &ImplItemFn, warpfold: &Path) -> Result<TokenStream> {
    attributes::check_method(&item.attrs, &item.generics, combine)?;
    let generic = item.generics.params.iter().any(|parameter| matches!(parameter, GenericParam::Type(_)));
    let Translation { value, uses_state } = translate(&function(item, combine, generic, warpfold)?)?;
    let state = uses_state
        .map(|span| quote_spanned!(span=> .state_of_layout(<Self as #warpfold::DeviceType>::layout())));
    let exact = quote!(<Self as #warpfold::language::TranslatedMonoid>::COMBINE.is_exact());
    let body = quote!(#warpfold::DeviceOperator::translated::<Self>() #state);
    let implementation = implementation(item, warpfold, &exact, &body);
    let (generics, clause) = (&item.generics, assumed(item, "Item", warpfold));
    let (generics, _, _) = generics.split_for_impl();
    let ty = &item.self_ty;
    Ok(quote! {
        #[automatically_derived]
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        impl #generics #warpfold::language::TranslatedMonoid for #ty #clause {
            const COMBINE: #warpfold::language::TranslatedCombine = #value;
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

/// A where clause by which the code of an `impl` assumes what its trait requires: that the type is
/// `Copy`, and that its item is a device type. So rustc reports once what is missing, at the `impl`
/// of the user. (Without a lifetime, rustc refuses a bound that does not hold.)
pub(crate) fn assumed(item: &ItemImpl, associated: &str, warpfold: &Path) -> Option<WhereClause> {
    let ty = &item.self_ty;
    let mut generics = item.generics.clone();
    let bounds = &mut generics.make_where_clause().predicates;
    bounds.push(parse_quote!(for<'__warpfold> #ty: ::core::marker::Copy));
    let assigned = item.items.iter().find_map(|item| match item {
        ImplItem::Type(assigned) if assigned.ident == associated => Some(&assigned.ty),
        _ => None,
    });
    // Tuples and options are values of a body without being device types.
    let is_option = |ty: &Type| match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Option"),
        ty => matches!(ty, Type::Tuple(_)),
    };
    if let Some(assigned) = assigned.filter(|ty| !is_option(ty)) {
        bounds.push(parse_quote!(for<'__warpfold> #assigned: #warpfold::DeviceType));
    }
    generics.where_clause
}

/// The name of a method of `Monoid` or `Aggregate`.
fn method_name(name: &Ident) -> &'static str {
    let known = ["combine", "prepare", "present", "accumulate"];
    known.into_iter().find(|known| name == known).unwrap_or_default()
}

fn implementation(item: &ItemImpl, warpfold: &Path, exact: &TokenStream, body: &TokenStream) -> TokenStream {
    let (generics, _, _) = item.generics.split_for_impl();
    let clause = assumed(item, "Item", warpfold);
    let ty = &item.self_ty;
    quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #generics #warpfold::DeviceMonoid for #ty #clause {
            const EXACT: bool = #exact;
            #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            fn device_operator() -> #warpfold::DeviceOperator {
                #body
            }
        }
    }
}
