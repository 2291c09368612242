//! Mistakes that are made in the templates, each of which a suite must find.

use super::programs::{Checks, Kernels};
use super::simt::{Executor, Group, seed};
use super::templates::templates;
use super::tiers::{Suite, Tier};

/// A mistake in a template: what stands there, and what stands there instead.
pub struct Mutation {
    pub name: &'static str,
    pub file: &'static str,
    pub right: &'static str,
    pub wrong: &'static str,
}

/// What a suite does with a program: what is wrong with it, if anything is.
pub type Trial = Box<dyn Fn(&mut Executor) -> Result<(), String>>;

/// The programs of a suite, of templates that may have a mistake in them, and what each is tried with.
pub struct Trials<'a> {
    change: &'a dyn Fn(&str, &str) -> String,
    programs: Vec<(Group, Vec<Trial>)>,
}

impl Trials<'_> {
    /// Adds a program and its trials.
    pub fn add(&mut self, program: impl FnOnce(&mut Kernels) -> Vec<Trial>) {
        let mut kernels = Kernels::of_templates(Checks::Accesses, self.change);
        let trials = program(&mut kernels);
        self.programs.push((Group::new(kernels), trials));
    }

    /// The first thing that is wrong, in up to `orders` orders in which threads advance.
    fn first_wrong(&self, orders: u64) -> Option<String> {
        let in_order = |order: u64| {
            self.programs.iter().find_map(|(program, trials)| {
                trials.iter().find_map(|trial| trial(&mut program.start(seed().wrapping_add(order))).err())
            })
        };
        (0..orders).find_map(in_order)
    }
}

impl Mutation {
    /// Some mistakes show only where two blocks meet at the right moment. The rarest is seen in four of five orders.
    const ORDERS: u64 = 32;

    /// For each mistake a test that fails unless the suite's trials find something under the templates with it; one that each can
    /// be made; and one that nothing is found without any.
    pub fn test_all(mutations: &'static [Self], suite: &mut Suite, add_trials: fn(&mut Trials<'_>)) {
        let first_wrong = move |change: &dyn Fn(&str, &str) -> String, orders| {
            let mut trials = Trials { change, programs: Vec::new() };
            add_trials(&mut trials);
            trials.first_wrong(orders)
        };
        suite.test(Tier::Simt, "every_mistake_can_be_made", || {
            for (name, text) in templates() {
                let of_file = mutations.iter().filter(|mutation| mutation.file == name);
                of_file.for_each(|mutation| drop(mutation.made(&text)));
            }
        });
        suite.test(Tier::Simt, "without_a_mistake_nothing_is_wrong", move || {
            assert_eq!(first_wrong(&|_, text| text.to_owned(), 2), None);
        });
        for mutation in mutations {
            let name = mutation.name.replace([' ', '-'], "_");
            suite.long_test(Tier::Simt, format!("mutation_{name}_is_caught"), move || {
                let change = |name: &str, text: &str| match name == mutation.file {
                    true => mutation.made(text),
                    false => text.to_owned(),
                };
                let wrong = first_wrong(&change, Self::ORDERS).unwrap_or_else(|| {
                    panic!("{} is not found; WARPFOLD_SIMT_SEED={}", mutation.name, seed())
                });
                println!("{}: {wrong}", mutation.name);
            });
        }
    }

    /// The file with the mistake in it.
    fn made(&self, text: &str) -> String {
        assert_eq!(text.matches(self.right).count(), 1, "{} must stand once in {}", self.right, self.file);
        text.replace(self.right, self.wrong)
    }
}
