//! `cargo xtask programs`: compiles random programs in the subset of `#[monoid]` as Rust and as
//! C++, and compares their results.
//!
//! Each program is an operator with a typed body, and in half of the cases a helper function. It
//! declares structs of its own, which derive `DeviceType` and have methods and operators. In a third of the cases the operator
//! itself is such a struct, and runs with several values. In the other cases the
//! program has an aggregate of one or two arrays, which combines with the operator. In a third of
//! them the aggregate has fields. Disguised programs have no aggregate.
//! Programs never panic in Rust: divisors are odd and not -1, and indices are taken modulo a
//! length. Results do not depend on the sign of a NaN. All programs of a batch are one crate, which
//! is built and run each time. The crate prints which programs disagree, and on which items.

mod disguise;
mod disguises;
mod expression;
mod generator;
mod methods;
mod parts;
mod structs;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use cargo_metadata::Message;
use cargo_metadata::diagnostic::{DiagnosticLevel, DiagnosticSpan};
use rand::SeedableRng;
use rand::rngs::SmallRng;

use self::disguise::{ALIASES, Disguise};
use self::generator::Generator;
use crate::command::{SHARED_TARGET, command};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Number of programs.
    #[arg(long, default_value_t = 2000)]
    count: u32,
    /// Seed of the programs. The default is random.
    #[arg(long)]
    seed: Option<u64>,
    /// Number of pairs of items that each program is run on.
    #[arg(long, default_value_t = 1000)]
    pairs: u32,
    /// Disguises the programs (see `disguise.rs`). Each has equal results, or is refused.
    #[arg(long)]
    disguised: bool,
}

impl Options {
    /// A batch that takes a short time.
    pub(crate) fn few(seed: u64) -> Self {
        Self { count: 150, seed: Some(seed), pairs: 300, disguised: false }
    }

    /// A batch for runs of several hours.
    pub(crate) fn many(seed: u64) -> Self {
        Self { count: 2000, seed: Some(seed), pairs: 1000, disguised: false }
    }
}

const FOLDER: &str = "target/programs";
/// Most programs of one crate. rustc needs some 6 MB for each.
const BATCH: u32 = 250;

/// Runs random programs. Returns a line about their number.
pub(crate) fn run_all(options: &Options) -> Result<String> {
    let seed = options.seed.unwrap_or_else(rand::random);
    let what = if options.disguised { "disguised programs" } else { "random programs" };
    println!("{} {what} of seed {seed}, on {} pairs of items each", options.count, options.pairs);
    let mut random = SmallRng::seed_from_u64(seed);
    let mut counts = Counts::default();
    for first in (0..options.count).step_by(BATCH as usize) {
        let numbers = first..options.count.min(first + BATCH);
        let programs = numbers.map(|number| {
            let disguise = options.disguised.then(|| Disguise::random(&mut random));
            (number, Generator::new(&mut random, number, disguise).program())
        });
        let programs: Programs = programs.collect();
        counts.add(match options.disguised {
            true => run_disguised(programs, seed, options.pairs)?,
            false => {
                write(&programs, seed, options.pairs, false)?;
                run_written()?
            }
        });
    }
    ensure!(counts.disagree == 0, "{} programs of seed {seed} disagree", counts.disagree);
    ensure!(
        options.disguised || counts.refused == 0,
        "{} programs of seed {seed} are refused",
        counts.refused
    );
    Ok(match options.disguised {
        true => format!(
            "host: ran {what} of seed {seed}: {} are equal, {} are refused",
            counts.equal, counts.refused
        ),
        false => format!("host: ran {} operators and aggregates of {what} of seed {seed}", counts.equal),
    })
}

/// Programs by their numbers.
type Programs = BTreeMap<u32, String>;

/// Numbers of programs by outcome.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    equal: u32,
    refused: u32,
    disagree: u32,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.equal += other.equal;
        self.refused += other.refused;
        self.disagree += other.disagree;
    }
}

/// Removes refused programs in rounds, because rustc checks types only when all macros expand.
fn run_disguised(mut programs: Programs, seed: u64, pairs: u32) -> Result<Counts> {
    // Without the attributes, each program must be valid Rust.
    write(&programs, seed, pairs, true)?;
    let refused = refused()?;
    ensure!(refused.is_empty(), "no programs in Rust: {refused:?}");
    write(&programs, seed, pairs, false)?;
    let all = programs.len() as u32;
    loop {
        let refused = self::refused()?;
        if refused.is_empty() {
            break;
        }
        programs.retain(|number, _| !refused.contains(number));
        write(&programs, seed, pairs, false)?;
    }
    let left_out = Counts { refused: all - programs.len() as u32, ..Counts::default() };
    let mut counts = run_written()?;
    counts.add(left_out);
    Ok(counts)
}

/// The programs that do not compile.
fn refused() -> Result<BTreeSet<u32>> {
    let line = format!("cargo check --quiet --message-format=json --manifest-path {FOLDER}/Cargo.toml");
    let output = command(&line).envs(SHARED_TARGET).stderr(Stdio::inherit()).output()?;
    let mut refused = BTreeSet::new();
    for message in Message::parse_stream(&output.stdout[..]) {
        let Message::CompilerMessage(message) = message? else { continue };
        if message.message.level != DiagnosticLevel::Error {
            continue;
        }
        let number = |span: &DiagnosticSpan| {
            let name = Path::new(&span.file_name).file_stem()?.to_str()?;
            name.strip_prefix('p')?.parse::<u32>().ok()
        };
        let numbers: Vec<u32> = message.message.spans.iter().filter_map(number).collect();
        ensure!(
            !numbers.is_empty() || message.message.spans.is_empty(),
            "{}",
            message.message.rendered.unwrap_or_default()
        );
        refused.extend(numbers);
    }
    ensure!(
        output.status.success() || !refused.is_empty(),
        "the programs do not compile, and no program says why"
    );
    Ok(refused)
}

/// Runs the programs of the last call of `write`.
fn run_written() -> Result<Counts> {
    let line = format!("cargo run --quiet --manifest-path {FOLDER}/Cargo.toml");
    let mut programs = command(&line);
    programs.envs(SHARED_TARGET);
    let output = programs.stderr(Stdio::inherit()).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    let counts = said.lines().find_map(|line| line.strip_prefix("counts "));
    let mut numbers = counts.context("the programs ended before all had run")?.split(' ').map(str::parse);
    let mut next = || numbers.next().context("three counts")?.context("a count");
    Ok(Counts { equal: next()?, refused: next()?, disagree: next()? })
}

/// Writes the crate of the programs. If `is_plain`, they have no attributes and are plain Rust.
fn write(programs: &Programs, seed: u64, pairs: u32, is_plain: bool) -> Result<()> {
    let (root, folder) = (std::env::current_dir()?.display().to_string(), Path::new(FOLDER));
    let _ = fs::remove_dir_all(folder.join("src"));
    fs::create_dir_all(folder.join("src")).context("the folder of the programs")?;
    let (mut modules, mut visits) = (String::new(), String::new());
    for (number, program) in programs {
        let program = match is_plain {
            true => program.replace("#[monoid]\n", "").replace("#[device]\n", ""),
            false => program.clone(),
        };
        fs::write(folder.join(format!("src/p{number}.rs")), format!("use super::*;\n{program}"))?;
        writeln!(modules, "mod p{number};")?;
        if !is_plain {
            writeln!(visits, "    visit!(add \"p{number}\", p{number}::operators());")?;
            if program.contains(generator::AGGREGATES) {
                writeln!(visits, "    visit!(add_aggregate \"p{number}\", p{number}::aggregates());")?;
            }
        }
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
use warpfold::{{Aggregate, Device, DeviceAggregate, DeviceMonoid, DeviceType, Monoid, Reduction, aggregate, device, math, monoid}};

{DEFINITIONS}{ALIASES}
{modules}
fn main() {{
    let mut library = cpp::Library::default();
    let mut checks: Vec<(&'static str, Box<dyn Fn(&cpp::Library)>)> = Vec::new();
    let mut refused = 0;
    macro_rules! visit {{ ($add:ident $name:expr, $operators:expr) => {{
        // Some of what is refused is refused when it is rendered.
        match Reduction::with(Device::cpu(), $operators[0]).source() {{
            Ok(_) => $add(&mut library, &mut checks, $name, $operators),
            Err(error) => {{ eprintln!(\"{{}}: {{error}}\", $name); refused += 1 }}
        }}
    }} }}
    fn add<M: DeviceMonoid>(library: &mut cpp::Library, checks: &mut Vec<(&'static str, Box<dyn Fn(&cpp::Library)>)>, name: &'static str, operators: Vec<M>) where M::Item: Edge {{
        let number = checks.len();
        library.add(number, operators[0]);
        checks.push((name, Box::new(move |library| for &operator in &operators {{
            cpp::check(operator, library.combine(number), {pairs} / operators.len() as u32);
            check_bits(operator);
        }})));
    }}
    fn add_aggregate<A: DeviceAggregate<Input: Edge, Output: Edge>>(library: &mut cpp::Library, checks: &mut Vec<(&'static str, Box<dyn Fn(&cpp::Library)>)>, name: &'static str, aggregates: Vec<A>) where warpfold::Item<A>: Edge {{
        let number = checks.len();
        library.add_aggregate(number, aggregates[0]);
        checks.push((name, Box::new(move |library| for &aggregate in &aggregates {{
            cpp::check_steps(aggregate, library.steps(number), {pairs} / aggregates.len() as u32);
        }})));
    }}
    // Values have the same bits if they print alike.
    fn check_bits<M: DeviceMonoid>(operator: M) where M::Item: Edge {{
        for (left, right) in edges::pairs::<M::Item>(20) {{
            for other in [left, operator.combine(left, right)] {{
                let is_same = format!(\"{{right:?}}\") == format!(\"{{other:?}}\");
                assert_eq!(DeviceType::same_bits(&right, &other), is_same, \"of {{right:?}} and {{other:?}}\");
            }}
        }}
    }}
{visits}
    if !checks.is_empty() {{
        // If the library does not compile, ends here, and not once for each program.
        library.loaded();
    }}
    let mut failed = 0;
    for (name, check) in &checks {{
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&library))).is_err() {{
            eprintln!(\"{{name}} of seed {seed} disagrees\");
            failed += 1;
        }}
    }}
    println!(\"counts {{}} {{refused}} {{failed}}\", checks.len() - failed);
}}
"
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
warpfold = {{ path = \"{root}\", features = [\"internals\", \"ladder\"] }}

[profile.dev.package.programs]
opt-level = 0

[workspace]
"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("src/main.rs"), main)?;
    // Uses the dependency versions of the workspace.
    fs::copy("Cargo.lock", folder.join("Cargo.lock"))?;
    Ok(())
}

/// Definitions for all programs.
const DEFINITIONS: &str = "
const SEVEN: i32 = 7;
const MASK: u64 = 0xff00_ff00_0000_1234;
const TENTH: f64 = 0.1;
#[device]
pub fn select<T: Copy>(condition: bool, yes: T, no: T) -> T {
    if condition { yes } else { no }
}
#[device]
pub fn halves(x: u64) -> (u32, u32) {
    ((x >> 32) as u32, x as u32)
}
#[device]
pub fn maybe<T: DeviceType>(condition: bool, value: T) -> ::std::option::Option<T> {
    if condition { Some(value) } else { None }
}
#[device]
#[derive(Clone, Copy, PartialEq, PartialOrd, DeviceType)]
#[repr(i16)]
pub enum Phase {
    Solid = -300,
    Liquid = 0,
    Gas,
}
#[device]
impl Phase {
    pub fn of(number: i32) -> Self {
        match number & 3 {
            0 => Self::Solid,
            1 => Phase::Gas,
            _ => Phase::Liquid,
        }
    }
    pub fn next(&self) -> Phase {
        match *self {
            Self::Solid => Self::Liquid,
            Phase::Liquid => Phase::Gas,
            Phase::Gas => Phase::Solid,
        }
    }
}
";
