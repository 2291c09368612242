//! The tiers of tests. Tests that this machine cannot run are shown as ignored, and never as
//! passed. One line says the reason. Another line says how many checks of a kind run.
//!
//! A trial's name starts with its tier, so that `-- gpu::` runs one tier alone. `WARPFOLD_REQUIRE`,
//! a list such as `nvrtc,gpu`, turns a missing tier into a failure.

use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

use libtest_mimic::{Arguments, Trial};
use warpfold::{Device, jit};

use super::checks::{Check, Passed, record_pass};
use super::cpp::compiler;
use super::selection::{Request, Selection, select};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    Cpu,
    Host,
    Simt,
    Nvrtc,
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

    /// The reason why the tier cannot run here, if it cannot.
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

/// Held by a test that creates streams or records a graph. The first stream of a context waits for
/// the whole GPU, which ends the captures of all streams.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device of a tier that runs reductions.
pub fn device(tier: Tier) -> Device {
    match tier {
        Tier::Cpu => Device::cpu(),
        Tier::Gpu => Device::cuda(0).expect("asked for only where it is"),
        Tier::Host | Tier::Simt | Tier::Nvrtc => unreachable!("compiles, and runs nothing"),
    }
}

/// Runs this test binary in a child process as `scenario`, with some variables set. Returns whether
/// it succeeded, and its output and errors.
pub fn in_child(scenario: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = std::process::Command::new(std::env::current_exe().expect("a test binary"));
    command.env(SCENARIO, scenario).env_remove("WARPFOLD_REQUIRE").envs(variables.iter().copied());
    let output = command.output().expect("starts");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), format!("{said}{}", output.status))
}

const SCENARIO: &str = "WARPFOLD_TEST_SCENARIO";

/// The scenario that the parent requests, if this process is a child.
pub fn scenario() -> Option<String> {
    std::env::var(SCENARIO).ok()
}

/// A test, with its tier and its check.
struct Entry {
    tier: Tier,
    trial: Trial,
    /// Without one, the test always runs.
    check: Option<Check>,
}

/// The tests of a binary.
#[derive(Default)]
pub struct Suite(Vec<Entry>);

impl Suite {
    /// Adds a test that every run takes.
    pub fn test(&mut self, tier: Tier, name: impl AsRef<str>, test: impl FnOnce() + Send + 'static) {
        self.0.push(Entry { tier, trial: trial(tier, name.as_ref(), test), check: None });
    }

    /// Adds a test that a run takes only if `selection.rs` chooses its check.
    pub fn check(
        &mut self,
        tier: Tier,
        check: Check,
        name: impl AsRef<str>,
        test: impl FnOnce() + Send + 'static,
    ) {
        let of_test = check.clone();
        let test = move || {
            test();
            record_pass(&of_test);
        };
        self.0.push(Entry { tier, trial: trial(tier, name.as_ref(), test), check: Some(check) });
    }

    pub fn run(self) -> ExitCode {
        self.run_with(Arguments::from_args())
    }

    /// Runs one test at a time, for tests that change the state of the machine, such as its free
    /// memory.
    pub fn run_one_at_a_time(self) -> ExitCode {
        self.run_with(Arguments { test_threads: Some(1), ..Arguments::from_args() })
    }

    fn run_with(self, arguments: Arguments) -> ExitCode {
        let mut absent = Vec::new();
        for tier in Tier::ALL {
            let reason = self.0.iter().any(|entry| entry.tier == tier).then(|| tier.absent()).flatten();
            if let Some(reason) = reason {
                eprintln!("{}: did not run: {reason}", tier.name());
                if tier.required() {
                    return ExitCode::FAILURE;
                }
                absent.push(tier);
            }
        }
        let left_out = self.left_out(&arguments, &absent);
        let mut entries: Vec<Entry> = Vec::new();
        for (place, entry) in self.0.into_iter().enumerate() {
            match (left_out.contains(&place), &entry.check) {
                // `left_out` has printed a line with their number.
                (true, Some(_)) => {}
                (true, None) => entries.push(Entry { trial: entry.trial.with_ignored_flag(true), ..entry }),
                (false, _) => entries.push(entry),
            }
        }
        // This order keeps checks of one program apart. Otherwise threads would wait for the same
        // compilation.
        entries.sort_by_key(|entry| entry.check.as_ref().map(Check::hash));
        let trials = entries.into_iter().map(|entry| {
            let ignored = entry.trial.has_ignored_flag() || absent.contains(&entry.tier);
            entry.trial.with_ignored_flag(ignored)
        });
        libtest_mimic::run(&arguments, trials.collect()).exit_code()
    }

    /// The places of the tests that this run leaves out. Prints a line for each kind of check.
    ///
    /// A test that the command line names is not left out. If ignored tests are requested, no test
    /// is left out.
    fn left_out(&self, arguments: &Arguments, absent: &[Tier]) -> HashSet<usize> {
        let names_a_tier =
            |filter: &String| Tier::ALL.iter().any(|tier| format!("{}::", tier.name()).starts_with(filter));
        if !arguments.filter.as_ref().is_none_or(names_a_tier)
            || arguments.ignored
            || arguments.include_ignored
        {
            return HashSet::new();
        }
        let request = Request::of_environment();
        let passed = Passed::last();
        let mut left_out = HashSet::new();
        let mut kinds: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for (place, entry) in self.0.iter().enumerate() {
            match &entry.check {
                Some(check) => kinds.entry((entry.tier.name(), check.kind)).or_default().push(place),
                None if request.takes_tests() => {}
                None => drop(left_out.insert(place)),
            }
        }
        for ((tier, kind), places) in kinds {
            let checks: Vec<&Check> =
                places.iter().filter_map(|&place| self.0[place].check.as_ref()).collect();
            let selection = select(&checks, &passed.hashes, &request);
            let is_left_out = |(k, _): &(usize, &usize)| !selection.chosen.contains(k);
            left_out.extend(places.iter().enumerate().filter(is_left_out).map(|(_, &place)| place));
            let prefix = format!("{tier}::");
            let is_skipped = arguments.skip.iter().any(|skip| prefix.starts_with(skip.as_str()));
            let is_filtered =
                arguments.filter.as_ref().is_some_and(|filter| !prefix.starts_with(filter.as_str()));
            let asked_for = !is_skipped && !is_filtered;
            if asked_for && !arguments.list && !absent.iter().any(|absent| absent.name() == tier) {
                eprintln!("{tier}: {}", said(kind, checks.len(), &selection, passed));
            }
        }
        left_out
    }
}

/// The line that says how many checks of a kind run.
fn said(kind: &str, all: usize, selection: &Selection, passed: &Passed) -> String {
    let mut reasons = Vec::new();
    if selection.unchanged > 0 {
        reasons.push(format!("{} unchanged since the full run of {}", selection.unchanged, passed.commit));
    }
    if selection.repeated > 0 {
        reasons.push(format!("{} have the code of another", selection.repeated));
    }
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    format!("ran {} of {all} {kind}{reasons}", selection.chosen.len())
}

fn trial(tier: Tier, name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(format!("{}::{name}", tier.name()), move || {
        test();
        Ok(())
    })
}
