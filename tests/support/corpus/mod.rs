//! Operators that together use everything in the subset of Rust that `#[monoid]` translates.
//!
//! They need not be associative: a test compares one combination of two items in both languages.
#![allow(clippy::all)]

/// Operators, each with its name, its item and its `combine`, and a function that visits them.
macro_rules! corpus {
    ($visit:ident: $($name:ident: $item:ty = |$a:ident, $b:ident| { $($body:tt)* })*) => {
        $(
            #[allow(non_camel_case_types)]
            #[derive(Clone, Copy, Default, Debug)]
            pub struct $name {}

            #[monoid]
            impl Monoid for $name {
                type Item = $item;
                fn identity(&self) -> $item {
                    Edge::example()
                }
                fn combine(&self, $a: $item, $b: $item) -> $item {
                    $($body)*
                }
            }
        )*

        pub(super) fn $visit(visitor: &mut impl Visitor) {
            $( visitor.visit(stringify!($name), $name {}); )*
        }
    };
}

mod callees;
mod foreign;
pub mod generic;
mod halves;
mod helpers;
mod inner;
mod plain;
mod tuples;
mod types;

use warpfold::DeviceMonoid;

use super::edges::Edge;

/// Visits each operator.
pub trait Visitor {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M)
    where
        M::Item: Edge;
}

/// Visits every operator of the corpus.
pub fn corpus(visitor: &mut impl Visitor) {
    plain::plain(visitor);
    types::types(visitor);
    tuples::tuples(visitor);
    tuples::combined(visitor);
    inner::inner(visitor);
    halves::halves(visitor);
    foreign::foreign(visitor);
    generic::generic(visitor);
    callees::callees(visitor);
    callees::inside_a_function(visitor);
}
