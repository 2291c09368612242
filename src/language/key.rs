//! How a call finds the form of a `#[device]` function.
//!
//! Beside the function stands a hidden macro or type alias of the same name, which leads to the key of
//! the form. A key depends on no path: so rustc finds the form wherever the function is declared.

use std::marker::PhantomData;

/// The key of a form. `HASH` differs for all functions of a program. `G` are the generic arguments, as
/// a tuple of types.
#[derive(Debug)]
pub struct Key<const HASH: u64, G>(PhantomData<fn() -> G>);

/// Implemented for each key, with its form. So `F` is inferred.
///
/// The form is a parameter of the trait, and not an associated type: another crate may implement the
/// trait only for types of its own.
pub trait Find<F> {}

impl<const HASH: u64, G> Key<HASH, G> {
    /// Stands for a value of the form.
    pub fn form<F>() -> F
    where
        Self: Find<F>,
    {
        unreachable!("probes are never run")
    }
}

/// Const arguments of functions, as types.
#[allow(non_camel_case_types)]
pub mod argument {
    macro_rules! arguments {
        ($($name:ident)*) => {$(
            #[doc = concat!("An argument of type `", stringify!($name), "`.")]
            #[derive(Debug)]
            pub struct $name<const VALUE: core::primitive::$name>;
        )*};
    }
    arguments! { bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }
}
