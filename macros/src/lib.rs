//! The macros of [warpfold](https://docs.rs/warpfold): `#[derive(DeviceType)]` and `device_code!`.

mod device_type;

use proc_macro::TokenStream;

/// Implements `warpfold::DeviceType` (and `cudarc`'s `DeviceRepr`) for a struct whose layout Rust fixes.
///
/// The struct is `#[repr(C)]`, with or without `align(N)`, or `#[repr(transparent)]`; named, tuple and generic structs
/// work, and a type parameter needs the bound `DeviceType`. Size, alignment and offsets are read from the Rust compiler
/// (`size_of`, `align_of`, `offset_of!`). References, enums, unions, `packed`, zero-sized structs and fields, and
/// fields that are no device types are refused.
///
/// Where warpfold is reached by another name: `#[device_type(crate = path::to::warpfold)]`.
#[proc_macro_derive(DeviceType, attributes(device_type))]
pub fn derive_device_type(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    device_type::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// A piece of CUDA C++, written as a string literal, with the file and line that the literal stands in: a
/// `warpfold::DeviceCode`. It is unsafe to use, as `DeviceCode::at` is.
///
/// ```
/// use warpfold::device_code;
///
/// // SAFETY: the body only reads its operands.
/// let body = unsafe { device_code!("if (b < a) return b;\n return a;") };
/// assert!(body.file().ends_with(".rs"));
/// ```
#[proc_macro]
pub fn device_code(input: TokenStream) -> TokenStream {
    let text = syn::parse_macro_input!(input as syn::LitStr);
    let line = text.span().unwrap().line() as u32;
    quote::quote!(::warpfold::DeviceCode::at(#text, ::core::file!(), #line)).into()
}
