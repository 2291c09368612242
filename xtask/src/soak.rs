//! `cargo xtask test --soak`: random cases for hours. Units of work that passed are noted in
//! `target/soak/`, so that a later run resumes there.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::command::{command, run};
use crate::full::Shard;
use crate::{nvrtc, programs};

const DONE: &str = "target/soak/done.txt";

/// A kind of work. Each unit of work has a number, which is its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Random programs in the subset of `#[monoid]`, in both languages.
    Programs,
    /// Reductions, scans and rungs on the executor, with random orders of the threads.
    Orders,
    /// Random rows, columns and segments of every aggregate, on the CPU and on the executor.
    Segments,
    /// The laws of every operator, on many more values than in a test.
    Laws,
    /// Files of the disk cache with random changes, for a minute.
    Cache,
    /// The prefixes of a scan's blocks in every order of two and three threads.
    Threads,
    /// The unit tests of the library under AddressSanitizer, which finds accesses outside of memory
    /// that is alive.
    Addresses,
    /// The CPU backend and the parser of the disk cache under Miri, which finds undefined
    /// behaviour.
    Miri,
}

impl Work {
    const ALL: [Self; 8] = [
        Self::Programs,
        Self::Orders,
        Self::Segments,
        Self::Laws,
        Self::Cache,
        Self::Threads,
        Self::Addresses,
        Self::Miri,
    ];

    /// The reason why this machine cannot do the work, or `None`.
    fn absent(self) -> Option<&'static str> {
        let has = |tool: &str| {
            let version = command(&format!("cargo +nightly {tool} --version")).output();
            version.is_ok_and(|output| output.status.success())
        };
        match self {
            Self::Addresses if !has("") => Some("no nightly toolchain"),
            Self::Miri if !has("miri") => Some("no nightly toolchain with Miri"),
            _ => None,
        }
    }

    /// Whether the number selects other cases.
    fn is_random(self) -> bool {
        !matches!(self, Self::Threads | Self::Addresses | Self::Miri)
    }

    fn run(self, number: u64) -> Result<()> {
        let tests = |arguments: &str| -> Command {
            let every = "--workspace --features warpfold-tests/every-operator";
            let mut command = command(&format!("cargo test --quiet {every} {arguments}"));
            if let Some(library) = nvrtc::library(nvrtc::NEWEST) {
                command.env(nvrtc::VARIABLE, library);
            }
            command.env("WARPFOLD_RUN", "full").env("WARPFOLD_SEED", number.to_string());
            command
        };
        match self {
            Self::Programs => programs::run_all(&programs::Options::many(number)).map(drop),
            Self::Orders => run(&mut tests("--test simt --test scan --test ladder -- simt::")),
            Self::Segments => run(tests("--test rows -- segments_of_").env("WARPFOLD_RANDOM_CASES", "25000")),
            Self::Laws => run(tests("--test laws").env("PROPTEST_CASES", "20000")),
            Self::Cache => run(tests("--lib -- --nocapture fuzzed_files").env("WARPFOLD_FUZZ_SECONDS", "60")),
            Self::Threads => {
                // A target folder of its own, because the flags would build all else anew.
                run(command("cargo test --package warpfold --lib --target-dir target/loom -- model::")
                    .env("RUSTFLAGS", "--cfg warpfold_loom"))
            }
            Self::Addresses => {
                // With a target of its own, the flags are not those of build scripts and macros.
                let output = command("rustc --print host-tuple").output()?;
                let host = String::from_utf8(output.stdout)?;
                let line = format!("cargo +nightly test --package warpfold --lib --target {host}");
                run(command(&line)
                    .env("RUSTFLAGS", "-Zsanitizer=address")
                    .env("CARGO_TARGET_DIR", "target/addresses"))
            }
            Self::Miri => {
                run(command("cargo +nightly miri test --package warpfold --lib -- tree cpu no_changed")
                    .env("MIRIFLAGS", "-Zmiri-disable-isolation"))
            }
        }
    }
}

/// Runs units of work until the time is over: number by number, and each kind for each number.
pub(crate) fn run_for(time: Duration, shard: Shard) -> Result<()> {
    let start = Instant::now();
    let mut kinds = Vec::new();
    for work in Work::ALL {
        match work.absent() {
            Some(reason) => println!("{work:?}: did not run: {reason}"),
            None => kinds.push(work),
        }
    }
    let mut done = done(Path::new(DONE))?;
    let mut count = 0;
    for number in (shard.number..).step_by(shard.of as usize) {
        for &work in kinds.iter().filter(|work| work.is_random() || number == shard.number) {
            if start.elapsed() >= time {
                println!("{count} units of work passed, {} with those before", done.len());
                return Ok(());
            }
            let unit = format!("{work:?} {number}");
            if done.contains(&unit) {
                continue;
            }
            work.run(number).with_context(|| unit.clone())?;
            writeln!(fs::OpenOptions::new().append(true).create(true).open(DONE)?, "{unit}")?;
            done.insert(unit);
            count += 1;
        }
    }
    Ok(())
}

/// The units that passed, in this run and in earlier ones.
fn done(file: &Path) -> Result<BTreeSet<String>> {
    if let Some(folder) = file.parent().map(PathBuf::from) {
        fs::create_dir_all(folder)?;
    }
    let text = if file.exists() { fs::read_to_string(file)? } else { String::new() };
    Ok(text.lines().map(str::to_owned).collect())
}
