//! `cargo xtask test`: the checks, the tiers, and one line a tier at the end.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::command::{command, run_and_listen};
use crate::{nvrtc, programs, report};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// One tier alone, without the checks.
    #[arg(long)]
    tier: Option<Tier>,
    /// Tiers that must run: the command fails where one cannot.
    #[arg(long, value_delimiter = ',')]
    require: Vec<Tier>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tier {
    /// What any machine can run.
    Cpu,
    /// What needs a C++ compiler.
    Host,
    /// What needs a C++ compiler, and runs kernels without a GPU.
    Simt,
    /// What needs NVRTC, and no GPU.
    Nvrtc,
    /// What needs a GPU.
    Gpu,
}

impl Tier {
    fn name(self) -> &'static str {
        match self {
            Tier::Cpu => "cpu",
            Tier::Host => "host",
            Tier::Simt => "simt",
            Tier::Nvrtc => "nvrtc",
            Tier::Gpu => "gpu",
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let tiers = match options.tier {
        Some(tier) => vec![tier],
        None => {
            checks()?;
            vec![Tier::Cpu, Tier::Host, Tier::Simt, Tier::Nvrtc, Tier::Gpu]
        }
    };
    if let Some(tier) = options.require.iter().find(|tier| !tiers.contains(tier)) {
        bail!("{} is required, and --tier leaves it out", tier.name());
    }
    let mut summary = Vec::new();
    for &tier in &tiers {
        let start = Instant::now();
        let absent = run_tier(tier)?;
        println!("{}: {} s", tier.name(), start.elapsed().as_secs());
        if let (Some(reason), true) = (&absent, options.require.contains(&tier)) {
            bail!("{}: required, but did not run: {reason}", tier.name());
        }
        let outcome = absent.map_or("ran".to_owned(), |reason| format!("did not run: {reason}"));
        summary.push(format!("{}: {outcome}", tier.name()));
    }
    println!("\n{}", summary.join("\n"));
    Ok(())
}

/// What needs no tier: formatting, the figures in the documents, lints and documentation, with warnings denied.
fn checks() -> Result<()> {
    crate::command::run(&mut command("cargo fmt --all --check"))?;
    report::check()?;
    for features in ["--all-features", "--no-default-features"] {
        let lint = format!("cargo clippy --quiet --workspace --all-targets {features} -- --deny warnings");
        crate::command::run(&mut command(&lint))?;
    }
    let mut document =
        command("cargo doc --quiet --workspace --no-deps --all-features --document-private-items");
    crate::command::run(document.env("RUSTDOCFLAGS", "--deny warnings"))
}

/// Runs a tier's tests; the reason if this machine cannot. The first command of a tier finds that out; the later ones
/// then require it.
fn run_tier(tier: Tier) -> Result<Option<String>> {
    match tier {
        Tier::Cpu => {
            let skip = "--skip host:: --skip simt:: --skip nvrtc:: --skip nvrtc_compiles --skip gpu:: --skip gpu_is_the_cpu";
            // Without a choice of targets: only so are the examples built as programs, which a test runs.
            crate::command::run(&mut tests(nvrtc::NEWEST, &format!("-- {skip}")))?;
            // The long step: beyond 2^32 items.
            crate::command::run(
                tests(nvrtc::NEWEST, "--test bracket -- cpu::more_than").env("WARPFOLD_LONG", "1"),
            )?;
            crate::command::run(downstream(&format!("-- {skip}")).env("WARPFOLD_DEVICE", "cpu"))?;
            Ok(None)
        }
        Tier::Host => {
            let heard = run_and_listen(&mut tests(nvrtc::NEWEST, "--test translation -- host::"))?;
            if let Some(absent) = reason(tier, &heard) {
                return Ok(Some(absent));
            }
            programs::run_all(&programs::Options::few())?;
            Ok(None)
        }
        Tier::Simt => {
            // The long step: every operator, and every mistake.
            let mut every = tests(nvrtc::NEWEST, "--test simt --test scan --test ladder -- simt::");
            let heard = run_and_listen(every.env("WARPFOLD_LONG", "1"))?;
            Ok(reason(tier, &heard))
        }
        Tier::Nvrtc => {
            let heard = run_and_listen(&mut tests(nvrtc::NEWEST, "--test jit -- nvrtc::"))?;
            if let Some(absent) = reason(tier, &heard) {
                return Ok(Some(absent));
            }
            crate::command::run(required(
                &mut tests(nvrtc::NEWEST, "--test errors --test laws --test examples --test ladder -- nvrtc"),
                tier,
            ))?;
            crate::command::run(required(&mut downstream("-- nvrtc"), tier))?;
            crate::command::run(required(&mut tests(nvrtc::OLDEST, "--test compile -- nvrtc::"), tier))?;
            // The long step: every kernel and operator for every architecture.
            let mut every = tests(nvrtc::NEWEST, "--test compile -- nvrtc::");
            crate::command::run(required(every.env("WARPFOLD_ARCHITECTURES", "all"), tier))?;
            Ok(None)
        }
        Tier::Gpu => {
            let heard = run_and_listen(&mut tests(
                nvrtc::NEWEST,
                "--test bracket --test scan --test ladder -- gpu::",
            ))?;
            if let Some(absent) = reason(tier, &heard) {
                return Ok(Some(absent));
            }
            let others =
                "--lib --test errors --test jit --test laws --test examples --test translation -- gpu";
            crate::command::run(required(&mut tests(nvrtc::NEWEST, others), tier))?;
            crate::command::run(required(&mut downstream("-- gpu"), tier))?;
            Ok(None)
        }
    }
}

/// The tests of the crate that depends on this one from outside.
fn downstream(arguments: &str) -> Command {
    let line = format!("cargo test --quiet --manifest-path examples/downstream/Cargo.toml {arguments}");
    let mut downstream = with_nvrtc(command(&line), nvrtc::NEWEST);
    downstream.env("CARGO_TARGET_DIR", "target/downstream");
    downstream
}

fn tests(version: &str, arguments: &str) -> Command {
    with_nvrtc(command(&format!("cargo test --quiet --workspace --all-features {arguments}")), version)
}

fn with_nvrtc(mut command: Command, version: &str) -> Command {
    if let Some(library) = nvrtc::library(version) {
        command.env(nvrtc::VARIABLE, library);
    }
    command
}

/// Makes the tests fail where their tier cannot run.
fn required(command: &mut Command, tier: Tier) -> &mut Command {
    command.env("WARPFOLD_REQUIRE", tier.name())
}

/// What the tests said if a tier could not run.
fn reason(tier: Tier, heard: &[String]) -> Option<String> {
    let prefix = format!("{}: did not run: ", tier.name());
    heard.iter().find_map(|line| line.strip_prefix(&prefix)).map(str::to_owned)
}
