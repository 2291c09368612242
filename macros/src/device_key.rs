//! How a call finds the form of a `#[device]` function.
//!
//! A call sees only the path of the function. Beside the function stands a hidden macro of the same
//! name. It expands to the form's key, for which `warpfold::language::Find` has the form. Rust has
//! separate namespaces for functions, types and macros:
//!
//! - an import of the function also brings the macro;
//! - a module or a type may have the same name.
//!
//! For some names an import of such a macro is ambiguous: those of the standard macros and attributes
//! ([`is_standard`]). A function with such a name has an alias of the key beside it, among the types.

use std::sync::atomic::{AtomicU32, Ordering};

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{GenericParam, Generics, ItemFn, Path, Type, Visibility};

use crate::standard_names::is_standard;
use crate::translate::{file, hash, plain};

/// The key of a function's form, and the macro or the alias that leads to it.
pub(crate) fn found(item: &ItemFn, form: &Ident, warpfold: &Path) -> TokenStream {
    let (visibility, name) = (&item.vis, &item.sig.ident);
    let (_, arguments, _) = item.sig.generics.split_for_impl();
    let (hash, declared) = (unique(item), declared(&item.sig.generics));
    let key = key(hash, &item.sig.generics, &quote!(#warpfold));
    // A function need not be called. The crate may deny lints one by one.
    let quiet = quote! {
        #[doc(hidden)]
        #[allow(unused, nonstandard_style, missing_docs, non_local_definitions, unreachable_pub)]
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
    };
    let leads = if is_standard(&plain(name)) {
        quote! {
            #quiet
            #visibility type #name<#(#declared),*> = #key;
        }
    } else {
        let leads = format_ident!("__warpfold_{}_{hash:016x}", plain(name), span = name.span());
        let exported = matches!(visibility, Visibility::Public(_)).then(|| quote!(#[macro_export]));
        let expansion = expansion(hash, &item.sig.generics);
        quote! {
            #quiet
            #exported
            macro_rules! #leads {
                (@warpfold $warpfold:ident $($turbofish:tt)*) => { #expansion };
            }
            #quiet
            #visibility use #leads as #name;
        }
    };
    quote! {
        #[automatically_derived]
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        #[diagnostic::do_not_recommend]
        impl<#(#declared),*> #warpfold::language::Find<#form #arguments> for #key {}

        #leads
    }
}

/// The generic parameters of a form: those of the function, without their bounds.
pub(crate) fn declared(generics: &Generics) -> Vec<TokenStream> {
    let declared = |parameter: &GenericParam| match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_token_stream()),
        GenericParam::Const(parameter) => {
            let (name, ty) = (&parameter.ident, &parameter.ty);
            Some(quote!(const #name: #ty))
        }
        GenericParam::Lifetime(_) => None,
    };
    generics.params.iter().filter_map(declared).collect()
}

/// What the macro expands to: a call that returns a form. The turbofish is that of the user's call.
fn expansion(hash: u64, generics: &Generics) -> TokenStream {
    let key = key(hash, generics, &quote!($warpfold));
    let known: Option<Vec<TokenStream>> = generics.params.iter().map(declared_anywhere).collect();
    match known {
        Some(declared) if declared.is_empty() => quote!(<#key>::form()),
        Some(declared) => quote! {{
            type __WarpfoldKey<#(#declared),*> = #key;
            __WarpfoldKey $($turbofish)* ::form()
        }},
        // The types of the values say which form it is.
        None => quote!($warpfold::language::Key::<#hash, _>::form()),
    }
}

/// The declaration of a generic parameter in any module. None if its type has another name than a
/// primitive type: an alias may be out of scope.
fn declared_anywhere(parameter: &GenericParam) -> Option<TokenStream> {
    match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_token_stream()),
        GenericParam::Const(parameter) => {
            let (name, ty) = (&parameter.ident, primitive(&parameter.ty)?);
            Some(quote!(const #name: ::core::primitive::#ty))
        }
        GenericParam::Lifetime(_) => None,
    }
}

/// The type of a key: its hash, and the generic arguments as a tuple of types.
fn key(hash: u64, generics: &Generics, warpfold: &TokenStream) -> TokenStream {
    let arguments = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_token_stream()),
        GenericParam::Const(parameter) => {
            let (name, ty) = (&parameter.ident, primitive(&parameter.ty)?);
            Some(quote!(#warpfold::language::argument::#ty<#name>))
        }
        GenericParam::Lifetime(_) => None,
    });
    quote!(#warpfold::language::Key<#hash, (#(#arguments,)*)>)
}

/// The primitive type that a const parameter has.
fn primitive(ty: &Type) -> Option<&Ident> {
    const TYPES: [&str; 14] = [
        "bool", "char", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
        "usize",
    ];
    let mut ty = ty;
    // A macro of the user puts a type in a group without delimiters.
    while let Type::Group(group) = ty {
        ty = &group.elem;
    }
    let Type::Path(path) = ty else { return None };
    path.path.get_ident().filter(|name| TYPES.iter().any(|ty| name == ty))
}

/// A number that no other function has in all crates of a program.
///
/// The count tells apart the functions of a crate, and the rest tells apart the crates. A library and a
/// binary of a package may have the same crate name and the same file.
fn unique(item: &ItemFn) -> u64 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let target = ["CARGO_PKG_NAME", "CARGO_PKG_VERSION", "CARGO_CRATE_NAME", "CARGO_BIN_NAME"]
        .map(|variable| std::env::var(variable).unwrap_or_default());
    let file = file(item.sig.ident.span());
    hash(&format!("{target:?} {file} {count} {}", item.to_token_stream()))
}
