//! Mutations: mistakes in the templates, made one at a time. A suite must find each of them.

use super::checks::{Check, Passed, code_of, digest, record_finder};
use super::programs::{Checks, Kernels};
use super::simt::{Executor, Group, seed};
use super::templates::templates;
use super::tiers::{Suite, Tier};

/// A mistake in a template: the text `wrong` replaces the text `right`.
pub struct Mutation {
    pub name: &'static str,
    pub file: &'static str,
    pub right: &'static str,
    pub wrong: &'static str,
}

/// Runs a program. The error is the first wrong result.
pub type Trial = Box<dyn Fn(&mut Executor) -> Result<(), String>>;

/// The programs of a suite, and the trials of each program. Their templates may have a mistake.
pub struct Trials<'a> {
    change: &'a dyn Fn(&str, &str) -> String,
    programs: Vec<(Group, Vec<Trial>)>,
}

/// Number of the program that found a mistake, and number of its trial.
type Finder = (usize, usize);

impl<'a> Trials<'a> {
    fn of(suite: MutationSuite, change: &'a dyn Fn(&str, &str) -> String) -> Self {
        let mut trials = Self { change, programs: Vec::new() };
        (suite.add_trials)(&mut trials);
        trials
    }

    /// Adds a program and its trials.
    pub fn add(&mut self, program: impl FnOnce(&mut Kernels) -> Vec<Trial>) {
        let mut kernels = Kernels::of_templates(Checks::Accesses, self.change);
        let trials = program(&mut kernels);
        self.programs.push((Group::new(kernels), trials));
    }

    /// Everything that the compiler reads.
    fn determinants(&self) -> String {
        self.programs.iter().map(|(group, _)| group.determinants()).collect()
    }

    /// The first error, in up to `orders` orders in which threads advance. The trial that found the
    /// mistake last time comes first, in all orders.
    fn first_wrong(&self, orders: u64, last: Option<Finder>) -> Option<(Finder, String)> {
        let wrong = |(program, trial): Finder, order: u64| {
            let (group, trials) = self.programs.get(program)?;
            let wrong = trials.get(trial)?(&mut group.start(seed().wrapping_add(order))).err()?;
            Some(((program, trial), wrong))
        };
        let all = || {
            let count = |(program, (_, trials)): (usize, &(Group, Vec<Trial>))| {
                (0..trials.len()).map(move |trial| (program, trial))
            };
            self.programs.iter().enumerate().flat_map(count)
        };
        let again = last.and_then(|last| (0..orders).find_map(|order| wrong(last, order)));
        again.or_else(|| (0..orders).find_map(|order| all().find_map(|finder| wrong(finder, order))))
    }
}

/// The mistakes of a suite, and the trials that must find them.
#[derive(Clone, Copy)]
pub struct MutationSuite {
    /// Name of the mutations in the record.
    pub name: &'static str,
    pub mutations: &'static [Mutation],
    pub add_trials: fn(&mut Trials<'_>),
    /// Files that determine how the mistakes are looked for.
    pub files: &'static [&'static str],
}

impl MutationSuite {
    /// Number of orders in which each mistake is looked for. Some mistakes show only if two blocks
    /// meet at the right moment. The rarest of them shows in four of five orders.
    const ORDERS: u64 = 32;

    /// Files that make and find mistakes, besides the files of the suite.
    const FILES: [&str; 2] = ["tests/support/mutations.rs", "tests/support/operators.rs"];

    /// Adds these tests:
    ///
    /// - a test that each mistake can be made;
    /// - a check that the trials find nothing without a mistake;
    /// - a check for each mistake, which fails unless a trial finds it.
    pub fn add_to(self, suite: &mut Suite) {
        suite.test(Tier::Simt, "every_mistake_can_be_made", move || {
            for (name, text) in templates() {
                let of_file = self.mutations.iter().filter(|mutation| mutation.file == name);
                of_file.for_each(|mutation| drop(mutation.made(&text)));
            }
        });
        let base = Check::of(self.name).determined_by(digest(&Self::FILES));
        let programs = Trials::of(self, &|_, text| text.to_owned()).determinants();
        let right = base.clone().factor("template", "none").on_executor(self.files);
        let right = right.determined_by(&programs);
        suite.check(Tier::Simt, right, "without_a_mistake_nothing_is_wrong", move || {
            let trials = Trials::of(self, &|_, text| text.to_owned());
            assert_eq!(trials.first_wrong(2, None), None);
        });
        for mutation in self.mutations {
            let name = mutation.name.replace([' ', '-'], "_");
            // The text of the template with the mistake.
            let changed = templates()
                .iter()
                .find(|(file, _)| file == mutation.file)
                .map(|(_, text)| mutation.made(text));
            let check = base.clone().factor("template", mutation.file).determined_by(mutation.name);
            let check = check.determined_by(code_of(&changed.expect("a template")));
            // A changed template makes all its mutations run. If only other code has changed, some
            // of the mutations run.
            let check = check.always_when_changed().on_executor(self.files).determined_by(&programs);
            suite.check(Tier::Simt, check, format!("mutation_{name}_is_caught"), move || self.find(mutation));
        }
    }

    fn find(self, mutation: &Mutation) {
        let change = |name: &str, text: &str| match name == mutation.file {
            true => mutation.made(text),
            false => text.to_owned(),
        };
        let key = format!("{}: {}", self.name, mutation.name);
        let last = Passed::last().finders.get(&key).copied();
        let found = Trials::of(self, &change).first_wrong(Self::ORDERS, last);
        let (finder, wrong) =
            found.unwrap_or_else(|| panic!("{} is not found; WARPFOLD_SIMT_SEED={}", mutation.name, seed()));
        record_finder(&key, finder);
        println!("{}: {wrong}", mutation.name);
    }
}

impl Mutation {
    /// The text of the file with the mistake.
    fn made(&self, text: &str) -> String {
        assert_eq!(text.matches(self.right).count(), 1, "{} must stand once in {}", self.right, self.file);
        text.replace(self.right, self.wrong)
    }
}
