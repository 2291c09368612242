//! Tasks for development: `cargo xtask test`, `programs`, `bundle` and `report`.

#[cfg(test)]
mod arrows;
mod bundle;
mod command;
mod full;
mod nvrtc;
mod programs;
mod report;
mod soak;
mod test;
mod tree;

use anyhow::Result;
use clap::Parser;

/// Tasks for the development of warpfold.
#[derive(Parser)]
enum Chore {
    /// Runs formatting, lints, documentation, and every test that this machine can run.
    Test(test::Options),
    /// Compares random programs in the subset of `#[monoid]`, as Rust and as C++.
    Programs(programs::Options),
    /// Builds `bundle/`: tests, benches and examples for a GPU machine without a Rust toolchain.
    Bundle,
    /// Writes the tables and plots of the documents from the newest record in `docs/gpu-runs/`.
    Report(report::Options),
}

fn main() -> Result<()> {
    // All paths in xtask are relative to the workspace.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))?;
    match Chore::parse() {
        Chore::Test(options) => test::run(&options),
        Chore::Programs(options) => programs::run_all(&options).map(|said| println!("{said}")),
        Chore::Bundle => bundle::run(),
        Chore::Report(options) => report::run(&options),
    }
}
