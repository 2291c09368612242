//! The project's chores: `cargo xtask test`, `programs`, `bundle` and `report`.

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

/// The project's chores.
#[derive(Parser)]
enum Chore {
    /// Formatting, lints, documentation, then every test that this machine can run.
    Test(test::Options),
    /// Random programs in the subset of `#[monoid]`, in Rust and as C++, compared.
    Programs(programs::Options),
    /// Tests, benches and examples for a GPU machine without a Rust toolchain, in `bundle/`.
    Bundle,
    /// The tables and plots of the documents, from the newest record in `docs/gpu-runs/`.
    Report(report::Options),
}

fn main() -> Result<()> {
    // Every path below is relative to the workspace.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))?;
    match Chore::parse() {
        Chore::Test(options) => test::run(&options),
        Chore::Programs(options) => programs::run_all(&options).map(|said| println!("{said}")),
        Chore::Bundle => bundle::run(),
        Chore::Report(options) => report::run(&options),
    }
}
