//! Tests that need more than this machine has are shown as ignored, with the reason in one line; never as passed.
//!
//! A trial's name starts with its tier, so that `-- gpu::` runs one tier alone. `WARPFOLD_REQUIRE`, a list such as
//! `nvrtc,gpu`, turns a missing tier into a failure.

use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

use libtest_mimic::{Arguments, Trial};
use warpfold::{Device, jit};

use super::cpp::compiler;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    Cpu,
    Host,
    Simt,
    Nvrtc,
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

    /// Why it cannot run here.
    pub fn absent(self) -> Option<String> {
        match self {
            Tier::Cpu => None,
            Tier::Host | Tier::Simt => {
                compiler().is_none().then(|| "no C++ compiler: neither `c++` nor what CXX names".to_owned())
            }
            Tier::Nvrtc => jit::available().err().map(|reason| reason.to_string()),
            Tier::Gpu => Device::cuda(0).err().map(|reason| reason.to_string()),
        }
    }

    fn required(self) -> bool {
        std::env::var("WARPFOLD_REQUIRE").is_ok_and(|tiers| tiers.split(',').any(|tier| tier == self.name()))
    }
}

/// Held by a test that makes streams of its own, or records a graph: the first stream of a context waits for the whole GPU, and ends
/// what any stream records.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device of a tier that runs things.
pub fn device(tier: Tier) -> Device {
    match tier {
        Tier::Cpu => Device::cpu(),
        Tier::Gpu => Device::cuda(0).expect("asked for only where it is"),
        Tier::Host | Tier::Simt | Tier::Nvrtc => unreachable!("compiles, and runs nothing"),
    }
}

/// Runs this test binary again as `scenario`, with some variables set; what it printed, to both outputs.
pub fn in_child(scenario: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = std::process::Command::new(std::env::current_exe().expect("a test binary"));
    command.env(SCENARIO, scenario).env_remove("WARPFOLD_REQUIRE").envs(variables.iter().copied());
    let output = command.output().expect("starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text.into_owned())
}

const SCENARIO: &str = "WARPFOLD_TEST_SCENARIO";

/// What the parent wants of this process, if it is a child.
pub fn scenario() -> Option<String> {
    std::env::var(SCENARIO).ok()
}

#[derive(Default)]
pub struct Suite(Vec<(Tier, Trial)>);

impl Suite {
    pub fn test(&mut self, tier: Tier, name: impl AsRef<str>, test: impl FnOnce() + Send + 'static) {
        let name = format!("{}::{}", tier.name(), name.as_ref());
        let trial = Trial::test(name, move || {
            test();
            Ok(())
        });
        self.0.push((tier, trial));
    }

    /// A test that takes minutes or most of a machine's memory: ignored unless `WARPFOLD_LONG` is set.
    pub fn long_test(&mut self, tier: Tier, name: impl AsRef<str>, test: impl FnOnce() + Send + 'static) {
        match std::env::var_os("WARPFOLD_LONG") {
            Some(_) => self.test(tier, name, test),
            None => {
                let name = format!("long::{}", name.as_ref());
                self.0.push((tier, Trial::test(name, || Ok(())).with_ignored_flag(true)))
            }
        }
    }

    pub fn run(self) -> ExitCode {
        self.run_with(Arguments::from_args())
    }

    /// For tests that change what others would see, such as how much memory is free.
    pub fn run_one_at_a_time(self) -> ExitCode {
        self.run_with(Arguments { test_threads: Some(1), ..Arguments::from_args() })
    }

    fn run_with(self, arguments: Arguments) -> ExitCode {
        let mut trials = Vec::new();
        for tier in [Tier::Cpu, Tier::Host, Tier::Simt, Tier::Nvrtc, Tier::Gpu] {
            let absent = self.0.iter().any(|(of, _)| *of == tier).then(|| tier.absent()).flatten();
            if let Some(reason) = &absent {
                eprintln!("{}: did not run: {reason}", tier.name());
                if tier.required() {
                    return ExitCode::FAILURE;
                }
            }
            trials.push((tier, absent.is_some()));
        }
        let absent = |tier| trials.iter().any(|&(of, absent)| of == tier && absent);
        let trials = self
            .0
            .into_iter()
            .map(|(tier, trial)| {
                let ignored = trial.has_ignored_flag() || absent(tier);
                trial.with_ignored_flag(ignored)
            })
            .collect();
        libtest_mimic::run(&arguments, trials).exit_code()
    }
}
