//! The macros of [warpfold](https://docs.rs/warpfold): `#[monoid]`, `#[device]`,
//! `#[derive(DeviceType)]` and `device_code!`.

mod aggregate;
mod attributes;
mod device_comparisons;
mod device_function;
mod device_impl;
mod device_key;
mod device_methods;
mod device_operator_trait;
mod device_type;
mod monoid;
mod standard_names;
mod translate;

use proc_macro::TokenStream;
use syn::parse::ParseStream;
use syn::{Ident, Path, Token, parse_quote};

/// Implements `warpfold::DeviceType` and `cudarc`'s `DeviceRepr` for a struct of fixed layout, or for
/// an enum without fields.
///
/// The struct has `#[repr(C)]`, with or without `align(N)`, or `#[repr(transparent)]`. Named, tuple
/// and generic structs work. The type parameter of a field needs the bound `DeviceType`. Size,
/// alignment and offsets come from the Rust compiler (`size_of`, `align_of`, `offset_of!`). A struct
/// with named fields may have a field of `PhantomData`, which is no part of the layout.
///
/// The enum has the `repr` of an integer, such as `#[repr(u8)]`, and a variant of value 0.
///
/// `#[device_type(crate = path::to::warpfold)]` sets the path of the crate `warpfold`, if it has
/// another name.
///
/// # Errors
///
/// These are compile errors:
///
/// - enums with fields or without a variant of value 0, unions, and `packed` or zero-sized structs,
/// - zero-sized fields, and fields whose type is not a device type, for example references.
///
/// # Example
///
/// ```
/// use warpfold::DeviceType;
///
/// #[derive(Clone, Copy, DeviceType)]
/// #[repr(C)]
/// struct Pair<T: DeviceType> { value: T, index: u32 }
///
/// assert_eq!(Pair::<f64>::layout().size, 16);
/// assert!(Pair::same_bits(&Pair { value: 0.5, index: 1 }, &Pair { value: 0.5, index: 1 }));
/// ```
#[proc_macro_derive(DeviceType, attributes(device_type))]
pub fn derive_device_type(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    device_type::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a `warpfold::DeviceCode` from a string literal of CUDA C++.
///
/// The value holds the text, and the file and line of the literal.
///
/// # Safety
///
/// The safety conditions are those of `DeviceCode::at`.
///
/// # Example
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

/// Derives `warpfold::DeviceMonoid`, the CUDA C++ form of an operator, from an `impl Monoid`.
///
/// The `impl` itself stays, for the CPU. `combine` is written in the subset of Rust that
/// docs/OPERATORS.md describes. On a GPU it gives the same bits as a release build on the CPU, if
/// the operator is `EXACT`.
///
/// `#[monoid(crate = path::to::warpfold)]` sets the path of the crate `warpfold`, if it has another
/// name.
///
/// # Errors
///
/// Code outside the subset is a compile error at its token.
///
/// # Example
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

/// Derives `warpfold::DeviceAggregate`, the CUDA C++ form of an aggregate, from an `impl Aggregate`.
///
/// The `impl` itself stays, for the CPU. `prepare` and `present` are written in the subset of Rust
/// that docs/OPERATORS.md describes for `combine`. `present` may return an `Option`. If `monoid` is
/// missing, it becomes `Self::Monoid::default()`. `accumulate` is translated as well if it is written.
///
/// `#[aggregate(crate = path::to::warpfold)]` sets the path of the crate `warpfold`, if it has
/// another name.
///
/// # Errors
///
/// Code outside the subset is a compile error at its token.
///
/// # Example
///
/// ```
/// use warpfold::{Aggregate, Device, Reduction, aggregate, operators::Sum};
///
/// /// How many numbers are above a threshold, as a share of all.
/// #[derive(Clone, Copy, warpfold::DeviceType)]
/// #[repr(C)]
/// struct ShareAbove { threshold: f32 }
///
/// #[aggregate]
/// impl Aggregate for ShareAbove {
///     type Input = f32;
///     type Monoid = Sum<u64>;
///     type Output = Option<f64>;
///     fn prepare(&self, _: u64, x: f32) -> u64 { (x > self.threshold) as u64 }
///     fn present(&self, above: u64, count: u64) -> Option<f64> {
///         if count == 0 { None } else { Some(above as f64 / count as f64) }
///     }
/// }
///
/// let share = Reduction::with(Device::auto(), ShareAbove { threshold: 2.0 });
/// assert_eq!(share.run(&[1.0, 3.0, 2.0, 5.0])?, Some(0.5));
/// assert_eq!(share.run(&[])?, None);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[proc_macro_attribute]
pub fn aggregate(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let warpfold = syn::parse_macro_input!(arguments with crate_path);
    aggregate::expand(&syn::parse_macro_input!(item as syn::ItemImpl), &warpfold).into()
}

/// Makes functions, methods and operators callable from operators of `#[monoid]`, from `#[aggregate]`
/// and from each other.
///
/// The attribute stands before one of these:
///
/// | item | what becomes callable |
/// | --- | --- |
/// | a free function | the function |
/// | an `impl` of a type | its methods that take `self` or `&self`, and its associated functions |
/// | an `impl` of `Add`, `Index`, `PartialEq`, `PartialOrd`, `AddAssign` or one of their likes | the operator |
/// | a struct or an enum, above its derives | the comparisons that it derives |
///
/// A function is written in the same subset of Rust as `combine`. The macro keeps the item, and adds
/// hidden items with the CUDA C++ form. An import of a free function brings both.
///
/// `#[device(crate = path::to::warpfold)]` sets the path of the crate `warpfold`, if it has another
/// name.
///
/// # Errors
///
/// Code outside the subset is a compile error at its token.
///
/// # Example
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
///
/// # Methods and operators
///
/// ```
/// use std::ops::{Add, Mul};
/// use warpfold::{Device, DeviceType, Monoid, Reduction, device, monoid};
///
/// #[device]
/// #[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
/// #[repr(C)]
/// struct Dual { value: f64, slope: f64 }
///
/// #[device]
/// impl Dual {
///     fn constant(value: f64) -> Self { Self { value, slope: 0.0 } }
/// }
///
/// #[device]
/// impl Add for Dual {
///     type Output = Self;
///     fn add(self, other: Self) -> Self {
///         Self { value: self.value + other.value, slope: self.slope + other.slope }
///     }
/// }
///
/// #[device]
/// impl Mul for Dual {
///     type Output = Self;
///     fn mul(self, other: Self) -> Self {
///         let slope = self.value * other.slope + self.slope * other.value;
///         Self { value: self.value * other.value, slope }
///     }
/// }
///
/// /// Products of dual numbers: a product of functions and its derivative.
/// #[derive(Clone, Copy, Default)]
/// struct Product;
///
/// #[monoid]
/// impl Monoid for Product {
///     type Item = Dual;
///     fn identity(&self) -> Dual { Dual::constant(1.0) }
///     fn combine(&self, a: Dual, b: Dual) -> Dual { a * b }
/// }
///
/// let x = Dual { value: 3.0, slope: 1.0 };
/// let product = Reduction::<Product>::new(Device::auto()).run(&[x, x, Dual::constant(2.0)])?;
/// assert_eq!(product, Dual { value: 18.0, slope: 12.0 });
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # A function as a type
///
/// `#[device(type = Name)]` also declares a type `Name` that implements `warpfold::Function`, so that
/// a type parameter can name the function. The function is not generic.
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::CountIf, device};
///
/// #[device(type = IsHot)]
/// fn is_hot(celsius: f32) -> bool { celsius > 30.0 }
///
/// assert_eq!(Reduction::<CountIf<IsHot>>::new(Device::auto()).run(&[21.0, 33.5])?, 1);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[proc_macro_attribute]
pub fn device(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let (warpfold, name) = syn::parse_macro_input!(arguments with device_arguments);
    match syn::parse_macro_input!(item as syn::Item) {
        syn::Item::Fn(function) => device_function::expand(&function, &warpfold, name.as_ref()).into(),
        syn::Item::Impl(block) => match &block.trait_ {
            None => device_methods::expand(&block, &warpfold).into(),
            Some((_, path, _)) => device_operator_trait::expand(&block, path, &warpfold).into(),
        },
        syn::Item::Struct(item) => device_comparisons::expand(item.into(), &warpfold).into(),
        syn::Item::Enum(item) => device_comparisons::expand(item.into(), &warpfold).into(),
        other => {
            let message = "`#[device]` stands before a function, an `impl`, a struct or an enum";
            let error = syn::Error::new_spanned(&other, message).into_compile_error();
            quote::quote!(#other #error).into()
        }
    }
}

/// Parses the arguments of `#[device]`: `crate = path` and `type = Name`, both optional.
fn device_arguments(input: ParseStream) -> syn::Result<(Path, Option<Ident>)> {
    let (mut path, mut name) = (parse_quote!(::warpfold), None);
    while !input.is_empty() {
        if input.peek(Token![type]) {
            input.parse::<Token![type]>()?;
            input.parse::<Token![=]>()?;
            name = Some(input.parse()?);
        } else if input.peek(Token![crate]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            path = input.call(Path::parse_mod_style)?;
        } else {
            return Err(input.error("expected `crate = path::to::warpfold` or `type = Name`"));
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok((path, name))
}

/// Parses the path of the crate `warpfold`: `crate = path`, or `::warpfold` if there are no
/// arguments.
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
