//! `#[device]`: keeps a function, and adds its CUDA C++ form.
//!
//! The form is a type with a name of its own. A call finds it by what stands beside the function:
//! see [`device_key`](crate::device_key).

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Error, FnArg, GenericParam, Generics, ItemFn, PatType, Path, Result, ReturnType, Signature, Type,
    WhereClause,
};

use crate::attributes;
use crate::device_key::{declared, found};
use crate::translate::{Function, Receiver, form_name, plain, translate};

/// `name` is the type that represents the function, if one is wanted.
pub(crate) fn expand(item: &ItemFn, warpfold: &Path, name: Option<&Ident>) -> TokenStream {
    let device = device(item, warpfold, name).unwrap_or_else(|error| {
        let error = error.into_compile_error();
        // A method stands in an `impl`, where no form can be declared. A form has no lifetimes.
        if item.sig.receiver().is_some() || item.sig.generics.lifetimes().next().is_some() {
            return error;
        }
        // With this form, rustc reports only the refusal and not each call of the function as well.
        let form = form(item, warpfold, &quote!(::core::option::Option::None));
        quote!(#form #error)
    });
    quote!(#item #device)
}

fn check(item: &ItemFn) -> Result<&Type> {
    attributes::check_function(item)?;
    if let Some(receiver) = item.sig.receiver() {
        return Err(Error::new_spanned(
            receiver,
            "`#[device]` stands before the `impl` of a method: `#[device] impl Point { fn norm(self) .. }`",
        ));
    }
    for typed in parameters(&item.sig) {
        check_type(&typed.ty)?;
    }
    check_signature(&item.sig)
}

/// The parameters after `self`.
pub(crate) fn parameters(signature: &Signature) -> impl Iterator<Item = &PatType> {
    signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    })
}

/// Refuses what no function can have, and returns the type of the result.
pub(crate) fn check_signature(signature: &Signature) -> Result<&Type> {
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

pub(crate) fn check_type(ty: &Type) -> Result<()> {
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
    let inputs: Vec<&PatType> = parameters(signature).collect();
    let translation = translate(&Function {
        shown: &plain(&signature.ident),
        name: Some(&signature.ident),
        parameters: inputs.iter().map(|typed| (&*typed.pat, &*typed.ty)).collect(),
        result,
        body: &item.block,
        generic: signature.generics.type_params().next().is_some(),
        generics: &signature.generics,
        receiver: Receiver::None,
        warpfold,
    })?;
    let form = form(item, warpfold, &some(&translation.value));
    let types: Vec<&Type> = inputs.iter().map(|typed| &*typed.ty).collect();
    let as_type = as_type.map(|ty| function_type(item, ty, &types, result, warpfold)).transpose()?;
    Ok(quote!(#as_type #form))
}

/// `Some(value)`, in which references to temporaries last for ever in a constant.
pub(crate) fn some(value: &TokenStream) -> TokenStream {
    quote!(::core::option::Option::Some { 0: #value })
}

/// The where clause of a form. A call on a GPU passes device types only, so each type parameter
/// must be one.
pub(crate) fn known(generics: &Generics, warpfold: &Path) -> Option<WhereClause> {
    let mut known = generics.clone();
    for parameter in generics.type_params() {
        let name = &parameter.ident;
        known.make_where_clause().predicates.push(syn::parse_quote!(#name: #warpfold::DeviceType));
    }
    known.where_clause
}

/// The form of a function, and the items by which a call finds it.
fn form(item: &ItemFn, warpfold: &Path, function: &TokenStream) -> TokenStream {
    let signature = &item.sig;
    let name = &signature.ident;
    let form = form_type(name);
    let (structure, found) = (structure(item, &form), found(item, &form, warpfold));
    let types: Vec<_> = parameters(signature).map(|typed| &typed.ty).collect();
    let result = match &signature.output {
        ReturnType::Type(_, result) => quote!(#result),
        ReturnType::Default => quote!(()),
    };
    let (generics, arguments, clause) = signature.generics.split_for_impl();
    let turbofish = arguments.as_turbofish();
    let known = known(&signature.generics, warpfold);
    // Evaluated here as well, so that rustc reports recursion at the function itself.
    let asked = signature.generics.params.is_empty().then(|| {
        quote_spanned! {name.span()=>
            const _: bool = <#form as #warpfold::language::Helper>::FUNCTION.is_some();
        }
    });
    quote! {
        #structure

        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        impl #generics #form #arguments #clause {
            #[doc(hidden)]
            pub fn probe<__F: ::core::ops::Fn(#(#types),*) -> #result>(
                self,
                _: &#warpfold::language::Slot<(Self, __F)>,
                _: __F,
                _: (#(#types,)*),
            ) -> #result {
                ::core::unreachable!("probes are never run")
            }
        }

        #[automatically_derived]
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        #[diagnostic::do_not_recommend]
        impl #generics #warpfold::language::Helper for #form #arguments #known {
            const FUNCTION: ::core::option::Option<#warpfold::language::Translated> = #function;
            fn item() -> ::core::any::TypeId {
                #warpfold::language::callee::type_of(#name #turbofish)
            }
        }

        #found

        #asked
    }
}

/// The name of the form of a function.
fn form_type(function: &Ident) -> Ident {
    form_name("function_", function)
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
    let (visibility, function, form) = (&item.vis, &item.sig.ident, form_type(&item.sig.ident));
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
            const EXACT: bool = #warpfold::language::callee::is_exact::<#form>();
            const PARAMETERS: usize = #count;
            type Function = #form;
        }
    })
}

/// The declaration of the form. It is public: a call in another module has a value of this type.
fn structure(item: &ItemFn, form: &Ident) -> TokenStream {
    let (declared, types) = (declared(&item.sig.generics), item.sig.generics.type_params());
    let types = types.map(|parameter| &parameter.ident);
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, missing_docs, missing_debug_implementations)]
        #[allow(unnameable_types, unreachable_pub)]
        pub struct #form<#(#declared),*> {
            generics: ::core::marker::PhantomData<fn() -> (#(#types,)*)>,
        }
    }
}
