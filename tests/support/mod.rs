//! The library that the test binaries share: tiers, checks, operators, items and inputs.

pub mod aggregates;
pub mod checks;
pub mod corpus;
pub mod cpp;
pub mod drawn;
pub mod edges;
pub mod input_bytes;
pub mod inputs;
pub mod items;
pub mod mutations;
pub mod operators;
pub mod policies;
pub mod programs;
pub mod rungs;
pub mod segments;
pub mod selection;
pub mod simt;
pub mod templates;
pub mod tiers;
pub mod tuples;
