//! `cargo xtask test`: lints and documentation, the tiers, and a summary.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;

use crate::command::{SHARED_TARGET, command, run_and_listen};
use crate::full::{self, Shard};
use crate::tree::Tree;
use crate::{nvrtc, programs, report, soak};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Runs only the tests that a change most likely breaks, without lints and documentation.
    #[arg(long, conflicts_with_all = ["full", "tier"])]
    quick: bool,
    /// Runs everything, and records the passed checks in `tests/passed.txt` and
    /// `docs/test-runs.csv`.
    #[arg(long, conflicts_with = "tier")]
    full: bool,
    /// Runs random cases for hours. A later run resumes where this one ended.
    #[arg(long, conflicts_with_all = ["full", "quick", "tier"])]
    soak: bool,
    /// Hours of random cases.
    #[arg(long, requires = "soak", default_value_t = 4)]
    hours: u64,
    /// Part of a full run or of the random cases, such as 2/3.
    #[arg(long, conflicts_with_all = ["quick", "tier"])]
    shard: Option<Shard>,
    /// Runs one tier only, without lints and documentation.
    #[arg(long)]
    tier: Option<Tier>,
    /// Tiers that must run. The command fails if one of them cannot.
    #[arg(long, value_delimiter = ',')]
    require: Vec<Tier>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tier {
    /// Tests for any machine.
    Cpu,
    /// Tests that need a C++ compiler.
    Host,
    /// Tests that need a C++ compiler and run kernels without a GPU.
    Simt,
    /// Tests that need NVRTC and no GPU.
    Nvrtc,
    /// Tests that need a GPU.
    Gpu,
}

impl Tier {
    const ALL: [Self; 5] = [Self::Cpu, Self::Host, Self::Simt, Self::Nvrtc, Self::Gpu];

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

/// The extent of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Quick,
    Everyday,
    Full,
}

/// The properties that all commands of a run share.
pub(crate) struct Run {
    extent: Extent,
    tree: Tree,
    shard: Shard,
    /// The folder for the lines of a full run.
    record: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.soak {
        let time = Duration::from_secs(3600 * options.hours);
        return soak::run_for(time, options.shard.unwrap_or(Shard::WHOLE));
    }
    ensure!(options.full || options.shard.is_none(), "--shard goes with --full or --soak");
    let start = Instant::now();
    let extent = match (options.quick, options.full) {
        (true, _) => Extent::Quick,
        (_, true) => Extent::Full,
        _ => Extent::Everyday,
    };
    let (tree, shard) = (Tree::of_working_copy()?, options.shard.unwrap_or(Shard::WHOLE));
    println!("tree {} ({}), seed {}", tree.hash, tree.commit, tree.seed());
    let record = match extent {
        Extent::Full => Some(full::begin(&tree, shard)?),
        _ => None,
    };
    let run = Run { extent, tree, shard, record };
    let tiers = match (options.tier, extent) {
        (Some(tier), _) => vec![tier],
        (None, Extent::Quick) => vec![Tier::Cpu, Tier::Simt, Tier::Nvrtc],
        (None, _) => Tier::ALL.to_vec(),
    };
    if let Some(tier) = options.require.iter().find(|tier| !tiers.contains(tier)) {
        bail!("{} is required, and this run leaves it out", tier.name());
    }
    if options.tier.is_none() && extent != Extent::Quick && shard.number == 1 {
        checks()?;
        println!("checks: {} s", start.elapsed().as_secs());
    }
    let mut summary = Vec::new();
    for &tier in &tiers {
        let start = Instant::now();
        let said = run.tier(tier)?;
        println!("{}: {} s", tier.name(), start.elapsed().as_secs());
        let absent = said.iter().find(|line| line.contains(": did not run: "));
        if let (Some(reason), true) = (absent, options.require.contains(&tier)) {
            bail!("required, but {reason}");
        }
        summary.push(if said.is_empty() { format!("{}: ran", tier.name()) } else { said.join("\n") });
    }
    println!("\n{}", summary.join("\n"));
    if extent == Extent::Full {
        ensure!(
            !summary.iter().any(|said| said.contains(": did not run: ") && !said.starts_with("gpu")),
            "a full run has every tier but the GPU's"
        );
        full::end(&run.tree, run.shard, start.elapsed())?;
    }
    println!("{} s in all", start.elapsed().as_secs());
    Ok(())
}

/// Checks that need no tier: formatting, the figures in the documents, lints, and documentation.
/// Warnings are errors.
fn checks() -> Result<()> {
    crate::command::run(&mut command("cargo fmt --all --check"))?;
    report::check()?;
    let every = "--workspace --all-targets --features warpfold-tests/every-operator";
    // The public names of a user, and dead code that the other features would hide.
    let (user, internals) = ("--package warpfold --lib", "--package warpfold --lib --features internals");
    for targets in [every, user, internals] {
        crate::command::run(&mut command(&format!("cargo clippy --quiet {targets} -- --deny warnings")))?;
    }
    for documented in
        ["--workspace --document-private-items", "--package warpfold", "--package warpfold --all-features"]
    {
        let mut document = command(&format!("cargo doc --quiet --no-deps {documented}"));
        crate::command::run(document.env("RUSTDOCFLAGS", "--deny warnings"))?;
    }
    Ok(())
}

/// Names, or parts of names, of tests that belong to other tiers than the CPU's.
const NOT_CPU: &str =
    "--skip host:: --skip simt:: --skip nvrtc:: --skip nvrtc_compiles --skip gpu:: --skip gpu_is_the_cpu";
/// Tests of a quick run. The other tests have many operators, which take minutes to compile.
const QUICK: &str = "--lib --test device_types --test rendering --test errors";

impl Run {
    /// Runs the tests of a tier. Returns their lines about the tier: that it did not run, or which
    /// checks were left out.
    ///
    /// The first command of a tier finds out whether it can run. The later commands require it.
    fn tier(&self, tier: Tier) -> Result<Vec<String>> {
        let commands: Vec<Command> = match (tier, self.extent) {
            (Tier::Cpu, Extent::Quick) => vec![self.tests(nvrtc::NEWEST, &format!("{QUICK} -- {NOT_CPU}"))],
            // No choice of targets: otherwise cargo would not build the example programs, which a
            // test runs.
            (Tier::Cpu, _) => {
                let mut downstream = self.downstream(&format!("-- {NOT_CPU}"));
                downstream.env("WARPFOLD_DEVICE", "cpu");
                vec![self.tests(nvrtc::NEWEST, &format!("-- {NOT_CPU}")), downstream]
            }
            (Tier::Host, _) => vec![self.tests(nvrtc::NEWEST, "--test translation -- host::")],
            (Tier::Simt, Extent::Quick) => vec![self.tests(nvrtc::NEWEST, "--test simt -- simt::")],
            (Tier::Simt, _) => {
                vec![self.tests(
                    nvrtc::NEWEST,
                    "--test simt --test aggregates --test rows --test scan --test ladder -- simt::",
                )]
            }
            (Tier::Nvrtc, Extent::Quick) => vec![self.tests(nvrtc::NEWEST, "--test compile -- nvrtc::")],
            (Tier::Nvrtc, _) => {
                let others = "--test errors --test laws --test examples --test ladder --test aggregates --test rows -- nvrtc";
                let mut oldest = self.tests(nvrtc::OLDEST, "--test compile -- nvrtc::");
                // The newest version compiles the pairs.
                oldest.env("WARPFOLD_ARCHITECTURES", "90").env("WARPFOLD_STRENGTH", "1");
                vec![
                    self.tests(nvrtc::NEWEST, "--test jit -- nvrtc::"),
                    self.tests(nvrtc::NEWEST, others),
                    self.tests(nvrtc::NEWEST, "--test references -- devices"),
                    self.downstream("-- nvrtc"),
                    oldest,
                    self.tests(nvrtc::NEWEST, "--test compile -- nvrtc::"),
                ]
            }
            (Tier::Gpu, _) => {
                let others =
                    "--lib --test errors --test jit --test laws --test examples --test translation -- gpu";
                vec![
                    self.tests(
                        nvrtc::NEWEST,
                        "--test bracket --test aggregates --test rows --test scan --test ladder -- gpu::",
                    ),
                    self.tests(nvrtc::NEWEST, "--test references -- devices"),
                    self.tests(nvrtc::NEWEST, others),
                    self.downstream("-- gpu"),
                ]
            }
        };
        let mut said = Vec::new();
        for (number, mut command) in commands.into_iter().enumerate() {
            if number > 0 && tier != Tier::Cpu {
                // Makes the tests fail if their tier cannot run.
                command.env("WARPFOLD_REQUIRE", tier.name());
            }
            let prefix = format!("{}: ", tier.name());
            said.extend(run_and_listen(&mut command)?.into_iter().filter(|line| line.starts_with(&prefix)));
            if said.iter().any(|line| line.contains(": did not run: ")) {
                return Ok(said);
            }
        }
        if tier == Tier::Host && self.shard.number == 1 {
            said.push(programs::run_all(&programs::Options::few(self.tree.seed()))?);
        }
        Ok(said)
    }

    /// A command for tests of the workspace.
    fn tests(&self, version: &str, arguments: &str) -> Command {
        let every =
            if self.extent == Extent::Full { "--features warpfold-tests/every-operator " } else { "" };
        self.with_environment(command(&format!("cargo test --quiet --workspace {every}{arguments}")), version)
    }

    /// A command for the tests of the crate `downstream`, which uses warpfold from outside.
    fn downstream(&self, arguments: &str) -> Command {
        let line = format!("cargo test --quiet --manifest-path examples/downstream/Cargo.toml {arguments}");
        let mut downstream = self.with_environment(command(&line), nvrtc::NEWEST);
        downstream.envs(SHARED_TARGET);
        downstream
    }

    fn with_environment(&self, mut command: Command, version: &str) -> Command {
        if let Some(library) = nvrtc::library(version) {
            command.env(nvrtc::VARIABLE, library);
        }
        let extent = match self.extent {
            Extent::Quick => "quick",
            Extent::Everyday => "everyday",
            Extent::Full => "full",
        };
        command.env("WARPFOLD_RUN", extent).env("WARPFOLD_SEED", self.tree.seed().to_string());
        command.env("WARPFOLD_SHARD", self.shard.to_string());
        if let Some(record) = &self.record {
            command.env("WARPFOLD_RECORD", record);
        }
        command
    }
}
