//! `cargo xtask test`: the checks, the tiers, and one line a tier at the end.

use std::process::Command;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::command::{command, run_and_listen};
use crate::nvrtc;

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
    /// What needs NVRTC, and no GPU.
    Nvrtc,
    /// What needs a GPU.
    Gpu,
}

impl Tier {
    fn name(self) -> &'static str {
        match self {
            Tier::Cpu => "cpu",
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
            vec![Tier::Cpu, Tier::Nvrtc, Tier::Gpu]
        }
    };
    let mut summary = Vec::new();
    for &tier in &tiers {
        let absent = run_tier(tier)?;
        if let (Some(reason), true) = (&absent, options.require.contains(&tier)) {
            bail!("{}: required, but did not run: {reason}", tier.name());
        }
        let outcome = absent.map_or("ran".to_owned(), |reason| format!("did not run: {reason}"));
        summary.push(format!("{}: {outcome}", tier.name()));
    }
    println!("\n{}", summary.join("\n"));
    Ok(())
}

/// What needs no tier: formatting, lints and documentation, with warnings denied.
fn checks() -> Result<()> {
    crate::command::run(&mut command("cargo fmt --all --check"))?;
    for features in ["--all-features", "--no-default-features"] {
        let lint = format!("cargo clippy --quiet --workspace --all-targets {features} -- --deny warnings");
        crate::command::run(&mut command(&lint))?;
    }
    let mut document =
        command("cargo doc --quiet --workspace --no-deps --all-features --document-private-items");
    crate::command::run(document.env("RUSTDOCFLAGS", "--deny warnings"))
}

/// Runs a tier's tests; the reason if this machine cannot.
fn run_tier(tier: Tier) -> Result<Option<String>> {
    match tier {
        Tier::Cpu => {
            let skip = "--skip nvrtc:: --skip nvrtc_compiles --skip gpu:: --skip gpu_is_the_cpu";
            crate::command::run(&mut tests(&format!("--workspace --all-targets -- {skip}")))?;
            crate::command::run(&mut tests("--doc"))?;
            let mut downstream = command("cargo test --quiet --manifest-path examples/downstream/Cargo.toml");
            crate::command::run(
                downstream
                    .env("CARGO_TARGET_DIR", "target/downstream")
                    .env("WARPFOLD_DEVICE", "cpu"),
            )?;
            Ok(None)
        }
        Tier::Nvrtc => {
            let absent = reason(tier, &run_and_listen(&mut tests("--test jit -- nvrtc::"))?);
            if absent.is_none() {
                crate::command::run(&mut tests("--test errors --test laws -- nvrtc"))?;
                crate::command::run(&mut tests_with(nvrtc::OLDEST, "--test compile -- nvrtc::"))?;
                // The long step: every kernel and operator for every architecture.
                crate::command::run(tests("--test compile -- nvrtc::").env("WARPFOLD_ARCHITECTURES", "all"))?;
            }
            Ok(absent)
        }
        Tier::Gpu => {
            let absent = reason(tier, &run_and_listen(&mut tests("--test bracket -- gpu::"))?);
            if absent.is_none() {
                crate::command::run(&mut tests("--lib --test errors --test jit --test laws -- gpu"))?;
            }
            Ok(absent)
        }
    }
}

fn tests(arguments: &str) -> Command {
    tests_with(nvrtc::NEWEST, arguments)
}

fn tests_with(version: &str, arguments: &str) -> Command {
    let mut tests = command(&format!("cargo test --quiet --all-features {arguments}"));
    if let Some(library) = nvrtc::library(version) {
        tests.env(nvrtc::VARIABLE, library);
    }
    tests
}

/// What the tests said if a tier could not run.
fn reason(tier: Tier, heard: &[String]) -> Option<String> {
    let prefix = format!("{}: did not run: ", tier.name());
    heard
        .iter()
        .find_map(|line| line.strip_prefix(&prefix))
        .map(str::to_owned)
}
