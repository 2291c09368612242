//! Runs the laws of the example operators and the tests of the example scans. Both are in the files
//! of the examples.

// Only the example itself uses all of it.
#[allow(dead_code)]
#[path = "../examples/operators/mod.rs"]
mod operators;

#[allow(dead_code)]
#[path = "../examples/scans/mod.rs"]
mod scans;
