//! `cargo xtask programs`: random programs in the subset of `#[monoid]`, compiled by both compilers
//! and compared.
//!
//! Each program is an operator with a typed body, and maybe a helper function. What would panic in
//! Rust is not written: divisors are odd and not -1, indices are taken modulo a length. Nor is what
//! would make a promise of a NaN's sign. The crate that they become is built anew each time, and
//! run; it says which program disagrees, on which items.

mod expression;
mod generator;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rand::SeedableRng;
use rand::rngs::SmallRng;

use self::generator::Generator;
use crate::command::{command, run};
use crate::test::SHARED_TARGET;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many programs.
    #[arg(long, default_value_t = 2000)]
    count: u32,
    /// The same seed gives the same programs.
    #[arg(long)]
    seed: Option<u64>,
    /// Pairs of items that each program is run on.
    #[arg(long, default_value_t = 1000)]
    pairs: u32,
}

impl Options {
    /// A batch for every day.
    pub(crate) fn few(seed: u64) -> Self {
        Self { count: 150, seed: Some(seed), pairs: 300 }
    }

    /// A batch of hours of them.
    pub(crate) fn many(seed: u64) -> Self {
        Self { count: 2000, seed: Some(seed), pairs: 1000 }
    }
}

const FOLDER: &str = "target/programs";

/// Runs some programs; says how many.
pub(crate) fn run_all(options: &Options) -> Result<String> {
    let seed = options.seed.unwrap_or_else(rand::random);
    println!("{} random programs of seed {seed}, on {} pairs of items each", options.count, options.pairs);
    write(Path::new(FOLDER), seed, options.count, options.pairs)?;
    run(command(&format!("cargo run --quiet --manifest-path {FOLDER}/Cargo.toml")).envs(SHARED_TARGET))?;
    Ok(format!("host: ran {} random programs of seed {seed}", options.count))
}

/// The crate of the programs.
fn write(folder: &Path, seed: u64, count: u32, pairs: u32) -> Result<()> {
    let root = std::env::current_dir()?.display().to_string();
    let mut random = SmallRng::seed_from_u64(seed);
    let mut programs = String::new();
    let mut visits = String::new();
    for number in 0..count {
        programs.push_str(&Generator::new(&mut random, number).program());
        writeln!(visits, "    visit(\"p{number}\", P{number});")?;
    }
    let main = format!(
        "#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]
#[path = \"{root}/tests/support/cpp.rs\"]
mod cpp;
#[path = \"{root}/tests/support/edges.rs\"]
mod edges;
#[path = \"{root}/tests/support/templates.rs\"]
mod templates;

use edges::Edge;
use proptest::prelude::*;
use warpfold::{{DeviceMonoid, DeviceType, Monoid, device, math, monoid}};

{TYPES}
{programs}
fn main() {{
    let mut library = cpp::Library::default();
    let mut checks: Vec<(&'static str, Box<dyn Fn(&cpp::Library)>)> = Vec::new();
    fn add<M: DeviceMonoid>(library: &mut cpp::Library, checks: &mut Vec<(&'static str, Box<dyn Fn(&cpp::Library)>)>, name: &'static str, operator: M) where M::Item: Edge {{
        let number = checks.len();
        library.add(number, operator);
        checks.push((name, Box::new(move |library| cpp::check(operator, library.combine(number), {pairs}))));
    }}
    macro_rules! visit {{ ($name:expr, $operator:expr) => {{ add(&mut library, &mut checks, $name, $operator) }} }}
{}
    let mut failed = 0;
    for (name, check) in &checks {{
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&library))).is_err() {{
            eprintln!(\"{{name}} of seed {seed} disagrees\");
            failed += 1;
        }}
    }}
    println!(\"{{}} programs, {{failed}} disagreements\", checks.len());
    std::process::exit((failed > 0) as i32);
}}
",
        visits.replace("visit(", "visit!(")
    );
    let manifest = format!(
        "[package]
name = \"programs\"
version = \"0.0.0\"
edition = \"2024\"

[dependencies]
cc = \"1\"
libloading = \"0.9\"
proptest = {{ version = \"1\", default-features = false, features = [\"std\"] }}
tempfile = \"3\"
warpfold = {{ path = \"{root}\" }}

[workspace]
"
    );
    fs::create_dir_all(folder.join("src")).context("the folder of the programs")?;
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("src/main.rs"), main)?;
    // The versions that this workspace has tried.
    fs::copy("Cargo.lock", folder.join("Cargo.lock"))?;
    Ok(())
}

/// What the programs have in common.
const TYPES: &str = "
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Record { a: i32, b: u8, c: f64, d: [i16; 3], e: bool }
impl Edge for Record {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy(), Edge::strategy(), Edge::strategy(), Edge::strategy())
            .prop_map(|(a, b, c, d, e)| Self { a, b, c, d, e })
            .boxed()
    }
}
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Pair(u64, f32);
impl Edge for Pair {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy()).prop_map(|(long, float)| Self(long, float)).boxed()
    }
}
const SEVEN: i32 = 7;
const MASK: u64 = 0xff00_ff00_0000_1234;
const TENTH: f64 = 0.1;
#[device]
fn select<T: Copy>(condition: bool, yes: T, no: T) -> T {
    if condition { yes } else { no }
}
#[device]
fn halves(x: u64) -> (u32, u32) {
    ((x >> 32) as u32, x as u32)
}
";
