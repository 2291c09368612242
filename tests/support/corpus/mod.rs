//! Operators that together use everything in the subset of Rust that `#[monoid]` translates.
//!
//! They need not be associative: a test compares one combination of two items in both languages.
#![allow(clippy::all)]

pub mod generic;
mod helpers;
mod plain;

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
    generic::generic(visitor);
}
