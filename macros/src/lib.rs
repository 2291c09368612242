//! The macros of [warpfold](https://docs.rs/warpfold): `#[monoid]`, `#[device]`, `#[derive(DeviceType)]` and
//! `device_code!`.

mod attributes;
mod device_function;
mod device_type;
mod monoid;
mod translate;

use proc_macro::TokenStream;
use syn::parse::ParseStream;
use syn::{Path, Token, parse_quote};

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

/// Keeps an `impl Monoid`, for the CPU, and derives `warpfold::DeviceMonoid`, its CUDA C++ form, from its `combine`.
///
/// `combine` is written in a subset of Rust, which docs/OPERATORS.md describes; what is outside of it is refused where it
/// stands. What is inside means the same on a GPU, bit for bit, as in a release build on the CPU.
///
/// ```
/// use warpfold::{DeviceMonoid, Monoid, monoid};
///
/// /// The greatest common divisor.
/// #[derive(Clone, Copy, Default)]
/// struct Gcd;
///
/// #[monoid]
/// impl Monoid for Gcd {
///     type Item = u64;
///     fn identity(&self) -> u64 { 0 }
///     fn combine(&self, mut a: u64, mut b: u64) -> u64 {
///         while b != 0 {
///             (a, b) = (b, a % b);
///         }
///         a
///     }
/// }
///
/// assert!(Gcd::EXACT);
/// ```
#[proc_macro_attribute]
pub fn monoid(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let warpfold = syn::parse_macro_input!(arguments with crate_path);
    monoid::expand(&syn::parse_macro_input!(item as syn::ItemImpl), &warpfold).into()
}

/// Lets the operators of `#[monoid]`, and other `#[device]` functions, call a free function.
///
/// It is written in the same subset of Rust. Its name stands for two things from then on: the function, and a hidden type
/// that knows its CUDA C++ form; an import brings both.
///
/// ```
/// use warpfold::{DeviceType, Monoid, device, monoid};
///
/// #[device]
/// fn norm([x, y]: [f32; 2]) -> f32 {
///     (x * x + y * y).sqrt()
/// }
///
/// /// The longer of two vectors; the left one on a tie.
/// #[derive(Clone, Copy, Default)]
/// struct Longest;
///
/// #[monoid]
/// impl Monoid for Longest {
///     type Item = [f32; 2];
///     fn identity(&self) -> [f32; 2] { [0.0; 2] }
///     fn combine(&self, a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
///         if norm(b) > norm(a) { b } else { a }
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn device(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let warpfold = syn::parse_macro_input!(arguments with crate_path);
    device_function::expand(&syn::parse_macro_input!(item as syn::ItemFn), &warpfold).into()
}

/// Where warpfold is reached: `crate = path`, or nothing.
fn crate_path(input: ParseStream) -> syn::Result<Path> {
    if input.is_empty() {
        return Ok(parse_quote!(::warpfold));
    }
    let option: Path = input.call(Path::parse_mod_style)?;
    if !option.is_ident("crate") {
        return Err(syn::Error::new_spanned(option, "expected `crate = path::to::warpfold`"));
    }
    input.parse::<Token![=]>()?;
    input.call(Path::parse_mod_style)
}
