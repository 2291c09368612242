//! Operators that together say everything that the subset of `#[monoid]` can say. They need not be associative: what is
//! asked is whether both languages do the same with two items.
#![allow(clippy::all)]

pub mod generic;
mod helpers;
mod plain;

use warpfold::DeviceMonoid;

use super::edges::Edge;

/// Something to do with each operator.
pub trait Visitor {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M)
    where
        M::Item: Edge;
}

/// Every operator of the corpus.
pub fn corpus(visitor: &mut impl Visitor) {
    plain::plain(visitor);
    generic::generic(visitor);
}
