//! Tests that operators that `#[monoid]` translates return the bits of their Rust. They run as C++
//! on the CPU, and on a GPU.

#[cfg(feature = "every-operator")]
#[path = "translation/on_gpu.rs"]
mod on_gpu;

use std::process::ExitCode;
use std::sync::Arc;

use support::corpus::generic::Inexact;
use support::corpus::{Visitor, corpus};
use support::cpp::{self, Library};
use support::edges::{Edge, PAIRS, pairs};
use support::tiers::{Suite, Tier, device};
use warpfold::{DeviceMonoid, Reduction};

type Later = Box<dyn FnOnce(&mut Suite, Arc<Library>)>;

#[derive(Default)]
struct Translations {
    compiled: Library,
    /// Functions that add the tests, called when all operators are in the library.
    later: Vec<Later>,
}

impl Visitor for Translations {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M)
    where
        M::Item: Edge,
    {
        let number = self.later.len();
        self.compiled.add(number, operator);
        let name = name.to_owned();
        self.later.push(Box::new(move |suite, library| {
            #[cfg(feature = "every-operator")]
            suite.test(Tier::Gpu, format!("{name}_is_the_same_on_a_gpu"), move || {
                on_gpu::combines_as_rust(operator);
            });
            suite.test(Tier::Host, format!("{name}_is_the_same_in_cpp"), move || {
                cpp::check(operator, library.combine(number), PAIRS);
            });
        }));
    }
}

/// Compares inexact functions with Rust's within a tolerance, for the C++ libraries of the CPU and
/// of CUDA.
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
    if cfg!(not(feature = "every-operator")) {
        eprintln!("gpu: left out the corpus, whose launches are compiled with the feature `every-operator`");
    }
    let mut translations = Translations::default();
    corpus(&mut translations);
    let Translations { compiled, later } = translations;
    let library = Arc::new(compiled);
    later.into_iter().for_each(|add| add(&mut suite, library.clone()));
    inexact(&mut suite);
    suite.run()
}
