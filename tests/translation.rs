//! What `#[monoid]` makes of Rust does what Rust does, bit for bit: as C++ on the CPU, and on a GPU.

use std::process::ExitCode;
use std::sync::Arc;

use support::corpus::generic::Inexact;
use support::corpus::{Visitor, corpus};
use support::cpp::{self, Library};
use support::edges::{Edge, PAIRS, assert_same, pairs};
use support::tiers::{Suite, Tier, device};
use warpfold::{DeviceMonoid, DeviceType, Policy, Reduction};

type Later = Box<dyn FnOnce(&mut Suite, Arc<Library>)>;

struct Translations<'a> {
    suite: &'a mut Suite,
    compiled: Library,
    /// What adds the tests, once all operators are in the library.
    later: Vec<Later>,
}

impl Visitor for Translations<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M)
    where
        M::Item: Edge,
    {
        let number = self.later.len();
        self.compiled.add(number, operator);
        let title = format!("{name}_is_the_same_in_cpp");
        self.later.push(Box::new(move |suite, library| {
            suite.test(Tier::Host, title, move || cpp::check(operator, library.combine(number), PAIRS));
        }));
        self.suite.test(Tier::Gpu, format!("{name}_is_the_same_on_a_gpu"), move || on_gpu(operator));
    }
}

/// A reduction of two items is one combination.
fn on_gpu<M: DeviceMonoid>(operator: M)
where
    M::Item: Edge,
{
    let device = device(Tier::Gpu);
    let pairs = pairs::<M::Item>(PAIRS);
    let both: Vec<M::Item> = pairs.iter().flat_map(|&(left, right)| [left, right]).collect();
    let stream = device.stream().expect("a GPU");
    let items = stream.clone_htod(&both).expect("room for the items");
    let default = Policy::for_item(&M::Item::layout());
    for policy in [default, default.untuned()] {
        let reduction = Reduction::with(device.clone(), operator).with_policy(policy);
        reduction.compile().unwrap_or_else(|error| panic!("{error}"));
        let mut results = stream.clone_htod(&both[..pairs.len()]).expect("room for the results");
        for pair in 0..pairs.len() {
            // Not `run`: that would compile the CPU's loops for each operator, too.
            let (input, mut output) = (items.slice(2 * pair..2 * pair + 2), results.slice_mut(pair..=pair));
            reduction.run_into(&input, &mut output).unwrap_or_else(|error| panic!("{error}"));
        }
        let results = stream.clone_dtoh(&results).expect("copies");
        for (got, &(left, right)) in results.into_iter().zip(&pairs) {
            assert_same(got, operator.combine(left, right), left, right);
        }
    }
}

/// What is not exact is still what its name says, on the CPU's C++ library and on CUDA's.
fn nearly_the_same<M: DeviceMonoid<Item = [T; 24]>, T: Edge + Into<f64>>(
    operator: M,
    precision: f64,
    combine: impl Fn([T; 24], [T; 24]) -> [T; 24],
) {
    assert!(!M::EXACT);
    for (left, right) in pairs::<M::Item>(200) {
        for (k, (got, expected)) in
            combine(left, right).into_iter().zip(operator.combine(left, right)).enumerate()
        {
            let (got, expected): (f64, f64) = (got.into(), expected.into());
            let same = (got - expected).abs() <= precision * expected.abs().max(1.0);
            assert!(
                same || (got.is_nan() && expected.is_nan()),
                "function {k}: got {got}, Rust says {expected}"
            );
        }
    }
}

fn inexact(suite: &mut Suite) {
    fn add<T: Edge + Into<f64>>(suite: &mut Suite, name: &str, precision: f64)
    where
        Inexact<T>: DeviceMonoid<Item = [T; 24]> + Default,
    {
        let operator = Inexact::<T>::default();
        suite.test(
            Tier::Host,
            format!("inexact_functions_of_{name}_are_nearly_the_same_in_cpp"),
            move || {
                let mut library = Library::default();
                library.add(0, operator);
                let function = library.combine(0);
                nearly_the_same(operator, precision, |left, right| {
                    cpp::call(operator, function, left, right)
                });
            },
        );
        suite.test(
            Tier::Gpu,
            format!("inexact_functions_of_{name}_are_nearly_the_same_on_a_gpu"),
            move || {
                let reduction = Reduction::with(device(Tier::Gpu), operator);
                reduction.compile().expect("compiles");
                nearly_the_same(operator, precision, |left, right| {
                    reduction.run(&[left, right]).expect("runs")
                });
            },
        );
    }
    add::<f32>(suite, "f32", 1e-5);
    add::<f64>(suite, "f64", 1e-13);
}

fn main() -> ExitCode {
    let mut suite = Suite::default();
    let mut translations =
        Translations { suite: &mut suite, compiled: Library::default(), later: Vec::new() };
    corpus(&mut translations);
    let Translations { compiled, later, .. } = translations;
    let library = Arc::new(compiled);
    later.into_iter().for_each(|add| add(&mut suite, library.clone()));
    inexact(&mut suite);
    suite.run()
}
