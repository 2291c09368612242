//! The derive macro of [warpfold](https://docs.rs/warpfold): `#[derive(DeviceType)]`.

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
