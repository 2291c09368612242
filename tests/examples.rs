//! The laws of the example operators, which stand beside each of them.

// The example itself uses more of them.
#[allow(dead_code)]
#[path = "../examples/operators/mod.rs"]
mod operators;
