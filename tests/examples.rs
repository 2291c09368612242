//! The laws of the example operators, and the tests of the example scans, which stand beside each
//! of them.

// The example itself uses more of them.
#[allow(dead_code)]
#[path = "../examples/operators/mod.rs"]
mod operators;

#[allow(dead_code)]
#[path = "../examples/scans/mod.rs"]
mod scans;
