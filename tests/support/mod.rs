//! What the test binaries share: tiers, operators and items to test with, and inputs.
#![allow(dead_code)]

pub mod items;
pub mod operators;
pub mod tiers;
