//! `#[device]`: keeps a function, and adds a type of the same name that holds its CUDA C++ form.
//! Rust has separate namespaces for functions and types, so one import brings both.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Error, FnArg, GenericParam, ItemFn, Path, Result, ReturnType, Type};

use crate::attributes;
use crate::translate::{Function, depth, translate};

/// `name` is the type that represents the function, if one is wanted.
pub(crate) fn expand(item: &ItemFn, warpfold: &Path, name: Option<&Ident>) -> TokenStream {
    let device = device(item, warpfold, name).unwrap_or_else(|error| {
        let error = error.into_compile_error();
        // A method stands in an `impl`, where no struct can be declared.
        let placeholder = item.sig.receiver().is_none().then(|| structure(item, quote!(false)));
        quote!(#placeholder #error)
    });
    quote!(#item #device)
}

fn check(item: &ItemFn) -> Result<&Type> {
    attributes::check_function(item)?;
    let signature = &item.sig;
    let refused = |at: &dyn quote::ToTokens, message: &str| Err(Error::new_spanned(at, message));
    if let Some(asyncness) = &signature.asyncness {
        return refused(asyncness, "an `async` function has no counterpart in CUDA C++");
    }
    if let Some(unsafety) = &signature.unsafety {
        return refused(
            unsafety,
            "an `unsafe` function has no counterpart in CUDA C++; write its device form by hand",
        );
    }
    if let Some(abi) = &signature.abi {
        return refused(abi, "a foreign function has no counterpart in CUDA C++");
    }
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                return refused(
                    receiver,
                    "a method has no counterpart in CUDA C++; write a free function that takes the value",
                );
            }
            FnArg::Typed(typed) => check_type(&typed.ty)?,
        }
    }
    for parameter in &signature.generics.params {
        if let GenericParam::Lifetime(lifetime) = parameter {
            return refused(lifetime, "a lifetime has no counterpart in CUDA C++: pass and return values");
        }
    }
    match &signature.output {
        ReturnType::Type(_, result) => {
            check_type(result)?;
            Ok(result)
        }
        ReturnType::Default => {
            refused(&signature.ident, "a `#[device]` function returns a value: it has no other effect")
        }
    }
}

fn check_type(ty: &Type) -> Result<()> {
    let message = match ty {
        Type::Reference(_) => {
            "a reference has no counterpart in CUDA C++; pass and return values: items are `Copy`"
        }
        Type::Ptr(_) => "a pointer has no counterpart in CUDA C++; pass and return values",
        Type::ImplTrait(_) => "name the type: `fn f<T: Bound>(x: T)`",
        Type::Slice(_) => "a slice has no size known at compile time; pass an array `[T; N]`",
        Type::BareFn(_) => "a function pointer has no counterpart in CUDA C++",
        Type::TraitObject(_) => {
            "a trait object has no counterpart in CUDA C++; name the type: `fn f<T: Bound>(x: T)`"
        }
        Type::Never(_) => "a function of a kernel returns a value",
        // rustc itself reports errors in these types.
        Type::Array(_)
        | Type::Group(_)
        | Type::Infer(_)
        | Type::Macro(_)
        | Type::Paren(_)
        | Type::Path(_)
        | Type::Tuple(_)
        | Type::Verbatim(_) => return Ok(()),
        // Syntax that is newer than this list.
        _ => "this type has no counterpart in CUDA C++",
    };
    Err(Error::new_spanned(ty, message))
}

fn device(item: &ItemFn, warpfold: &Path, as_type: Option<&Ident>) -> Result<TokenStream> {
    let result = check(item)?;
    let signature = &item.sig;
    let mut inputs = Vec::new();
    for input in &signature.inputs {
        if let FnArg::Typed(typed) = input {
            inputs.push(typed);
        }
    }
    let translation = translate(&Function {
        name: &signature.ident,
        parameters: inputs.iter().map(|typed| (&*typed.pat, &*typed.ty)).collect(),
        result,
        body: &item.block,
        generic: signature.generics.type_params().next().is_some(),
        generics: &signature.generics,
        has_self: false,
        warpfold,
    })?;
    let (tokens, exact) = (translation.tokens, translation.exact);
    let (name, text) = (&signature.ident, signature.ident.to_string());
    let text = text.strip_prefix("r#").unwrap_or(&text);
    let types: Vec<&Type> = inputs.iter().map(|typed| &*typed.ty).collect();
    let structure = structure(item, exact);
    let (generics, arguments, clause) = signature.generics.split_for_impl();
    // A call on a GPU passes device types only, so each type parameter must be one.
    let mut known = signature.generics.clone();
    for parameter in signature.generics.type_params() {
        let name = &parameter.ident;
        known.make_where_clause().predicates.push(syn::parse_quote!(#name: #warpfold::DeviceType));
    }
    let known = &known.where_clause;
    let as_type = as_type.map(|ty| function_type(item, ty, &types, result, warpfold)).transpose()?;
    Ok(quote! {
        #as_type
        #structure

        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        impl #generics #name #arguments #clause {
            #[doc(hidden)]
            pub fn probe(_: &#warpfold::language::Slot<Self>, _: (#(#types,)*)) -> #result {
                ::core::unreachable!("probes are never run")
            }
        }

        #[automatically_derived]
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        impl #generics #warpfold::language::Helper for #name #arguments #known {
            fn function() -> #warpfold::DeviceFunction {
                #tokens
                #warpfold::DeviceFunction::translated(#text, __warpfold_result, __warpfold_translation)
            }
        }
    })
}

/// The type that represents the function.
fn function_type(
    item: &ItemFn,
    ty: &Ident,
    parameters: &[&Type],
    result: &Type,
    warpfold: &Path,
) -> Result<TokenStream> {
    if let Some(generic) = item.sig.generics.params.first() {
        let message = "a function that is a type is not generic; write a function that calls the generic one";
        return Err(Error::new_spanned(generic, message));
    }
    let (visibility, function) = (&item.vis, &item.sig.ident);
    let doc = format!("The function `{function}` as a type.");
    let names: Vec<Ident> =
        (0..parameters.len()).map(|k| format_ident!("__warpfold_{k}", span = Span::mixed_site())).collect();
    let (input, pattern) = match parameters {
        [one] => (quote!(#one), quote!(#(#names)*)),
        _ => (quote!((#(#parameters,)*)), quote!((#(#names,)*))),
    };
    let count = parameters.len();
    Ok(quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug, Default)]
        #visibility struct #ty;

        #[automatically_derived]
        impl #warpfold::Function for #ty {
            type Input = #input;
            type Output = #result;
            #[inline]
            fn call(#pattern: #input) -> #result {
                #function(#(#names),*)
            }
        }

        #[automatically_derived]
        impl #warpfold::DeviceCall for #ty {
            const EXACT: bool = #function::exact(0);
            const PARAMETERS: usize = #count;
            type Function = #function;
        }
    })
}

/// The type beside the function. Its generic parameters have defaults, which hold wherever the path
/// is used as a type. `exact` is called that way: its result does not depend on the parameters.
fn structure(item: &ItemFn, exact: TokenStream) -> TokenStream {
    let (visibility, name) = (&item.vis, &item.sig.ident);
    let (mut declared, mut used, mut marked) = (Vec::new(), Vec::new(), Vec::new());
    for parameter in &item.sig.generics.params {
        match parameter {
            GenericParam::Type(parameter) => {
                let ident = &parameter.ident;
                declared.push(quote!(#ident = ()));
                used.push(quote!(#ident));
                marked.push(quote!(#ident));
            }
            GenericParam::Const(parameter) => {
                let (ident, ty) = (&parameter.ident, &parameter.ty);
                let default = match ty {
                    Type::Path(path) if path.path.is_ident("bool") => quote!(false),
                    Type::Path(path) if path.path.is_ident("char") => quote!('0'),
                    _ => quote!(0),
                };
                declared.push(quote!(const #ident: #ty = #default));
                used.push(quote!(const #ident: #ty));
            }
            GenericParam::Lifetime(_) => {}
        }
    }
    let arguments = item.sig.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(&parameter.ident),
        GenericParam::Const(parameter) => Some(&parameter.ident),
        GenericParam::Lifetime(_) => None,
    });
    let depth = depth();
    let asked = quote_spanned!(name.span()=> const _: bool = <#name>::exact(0););
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, missing_docs, missing_debug_implementations)]
        #visibility struct #name<#(#declared),*> {
            generics: ::core::marker::PhantomData<fn() -> (#(#marked,)*)>,
        }

        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        impl<#(#used),*> #name<#(#arguments),*> {
            #[doc(hidden)]
            pub const fn exact(#depth: u32) -> bool {
                #exact
            }
        }

        // Evaluated here as well, so that rustc reports recursion at the function itself.
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        #asked
    }
}
