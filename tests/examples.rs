//! Runs the laws of the example operators, and the tests of other examples. All are in the files of
//! the examples.

// Only the example itself uses all of it.
#[allow(dead_code)]
#[path = "../examples/operators/mod.rs"]
mod operators;

#[allow(dead_code)]
#[path = "../examples/scans/mod.rs"]
mod scans;

#[allow(dead_code)]
#[path = "../examples/describe/adaptive_histogram.rs"]
mod adaptive_histogram;

#[allow(dead_code)]
#[path = "../examples/describe/chart.rs"]
mod chart;

#[allow(dead_code)]
#[path = "../examples/describe/summary.rs"]
mod summary;
