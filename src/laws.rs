//! The laws of an operator, as tests on values of your choice.
//!
//! [`laws!`](crate::laws!) turns an operator and a [proptest](https://docs.rs/proptest) strategy
//! for its items into a test suite. It tests:
//!
//! - identity, associativity, and commutativity where it is claimed;
//! - the bracket against a plain fold;
//! - the CPU backend against the bracket;
//! - that the CUDA C++ compiles, if NVRTC is available;
//! - a GPU against the CPU, if one is available.
//!
//! Laws are exact by default. Float arithmetic rounds: a sum is associative only up to rounding,
//! and only on values where neither order overflows. Such an operator is tested
//! [`within`](Laws::within) a tolerance, relative to the magnitude of the combined items. Its
//! strategy is the domain on which the law is claimed.
//!
//! ```
//! use warpfold::laws::{self, Laws, proptest::prelude::*};
//! use warpfold::operators::{Max, Sum};
//!
//! warpfold::laws! {
//!     max_of_anything [commutative]: Laws::of(Max::<i64>::new(), any::<i64>());
//!     sum [commutative]: Laws::of(Sum::<f32>::new(), -1e3_f32..1e3).within(1e-5, laws::sum_of_magnitudes);
//! }
//! # fn main() { Laws::of(Max::<i64>::new(), any::<i64>()).associativity().unwrap(); }
//! ```

mod single;
mod suite;
mod tolerance;

use std::sync::Once;

use proptest::collection::vec;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

pub use proptest;

pub use self::single::{accumulation, associativity, commutativity, identity};
#[doc(hidden)]
pub use self::suite::gpu;
use self::suite::missing;
use self::tolerance::close;
pub use self::tolerance::{product_of_magnitudes, sum_of_magnitudes};
use crate::{Device, DeviceMonoid, DeviceType, Error, Monoid, Reduction, jit, tree};

/// Most items of an input for a whole reduction: more than a tile, and more than a block of the CPU
/// backend.
const MAX_ITEMS: usize = 5000;
/// Most items of an input that compares the bracket with a fold. The difference in rounding grows
/// with the number of items.
const MAX_FOLDED: usize = 64;
/// Most characters of a counterexample. An input of [`MAX_ITEMS`] structs would have a megabyte.
const MAX_CHARACTERS: usize = 2000;

/// An operator, the values on which its laws are claimed, and the tolerance.
///
/// ```
/// use warpfold::laws::{Laws, proptest::prelude::*};
/// use warpfold::operators::BitXor;
///
/// let laws = Laws::of(BitXor::<u32>::new(), any::<u32>());
/// laws.identity()?;
/// laws.associativity()?;
/// laws.cpu_is_the_bracket()?;
/// # Ok::<(), warpfold::laws::LawViolation>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "laws are not tested until a method is called"]
pub struct Laws<M: Monoid, S> {
    operator: M,
    items: S,
    tolerance: Option<Tolerance<M::Item>>,
}

#[derive(Clone, Debug)]
struct Tolerance<T> {
    relative: f64,
    magnitude: fn(&[T]) -> f64,
}

/// A law that does not hold, with the smallest counterexample found.
///
/// ```
/// use warpfold::Monoid;
/// use warpfold::laws::{self, proptest::prelude::*};
///
/// /// Not associative: `(100 + 100) + -100` is 27, and `100 + (100 + -100)` is 100.
/// #[derive(Clone, Copy)]
/// struct SaturatingSum;
///
/// impl Monoid for SaturatingSum {
///     type Item = i8;
///     fn identity(&self) -> i8 { 0 }
///     fn combine(&self, left: i8, right: i8) -> i8 { left.saturating_add(right) }
/// }
///
/// let violation = laws::associativity(SaturatingSum, any::<i8>()).unwrap_err();
/// assert!(violation.to_string().starts_with("associativity does not hold: "));
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[error("{law} does not hold: {counterexample}")]
pub struct LawViolation {
    law: &'static str,
    counterexample: String,
}

impl<M: Monoid, S: Strategy<Value = M::Item>> Laws<M, S>
where
    M::Item: std::fmt::Debug,
{
    /// The laws of `operator` on the values of `items`, bit for bit.
    ///
    /// ```
    /// use warpfold::laws::{Laws, proptest::prelude::*};
    /// use warpfold::operators::Min;
    ///
    /// let laws = Laws::of(Min::<f64>::new(), any::<f64>());
    /// laws.associativity()?;
    /// # Ok::<(), warpfold::laws::LawViolation>(())
    /// ```
    pub fn of(operator: M, items: S) -> Self {
        Self { operator, items, tolerance: None }
    }

    /// The laws up to rounding.
    ///
    /// Two finite floats may differ by at most `relative * magnitude(combined)`, where `combined`
    /// are the items of the test case. All other values must be equal.
    ///
    /// ```
    /// use warpfold::laws::{self, Laws};
    /// use warpfold::operators::Sum;
    ///
    /// let laws = Laws::of(Sum::<f32>::new(), -1e3_f32..1e3);
    /// assert!(laws.associativity().is_err());
    /// laws.within(1e-5, laws::sum_of_magnitudes).associativity()?;
    /// # Ok::<(), warpfold::laws::LawViolation>(())
    /// ```
    pub fn within(mut self, relative: f64, magnitude: fn(&[M::Item]) -> f64) -> Self {
        self.tolerance = Some(Tolerance { relative, magnitude });
        self
    }

    /// Tests `identity + a == a` and `a + identity == a`.
    ///
    /// ```
    /// use warpfold::laws::{Laws, proptest::prelude::*};
    /// use warpfold::operators::MaxNumber;
    ///
    /// Laws::of(MaxNumber::<f32>::new(), any::<f32>()).identity()?;
    /// # Ok::<(), warpfold::laws::LawViolation>(())
    /// ```
    pub fn identity(&self) -> Result<(), LawViolation> {
        let combine = |a, b| self.operator.combine(a, b);
        check("identity", 256, &self.items, &|a| {
            let identity = self.operator.identity();
            self.compare(&[a], combine(identity, a), a)?;
            self.compare(&[a], combine(a, identity), a)
        })
    }

    /// Tests `(a + b) + c == a + (b + c)`.
    ///
    /// ```
    /// use warpfold::laws::{Laws, proptest::prelude::*};
    /// use warpfold::operators::Matrix2Product;
    ///
    /// Laws::of(Matrix2Product::<u32>::new(), any::<[[u32; 2]; 2]>()).associativity()?;
    /// # Ok::<(), warpfold::laws::LawViolation>(())
    /// ```
    pub fn associativity(&self) -> Result<(), LawViolation> {
        let combine = |a, b| self.operator.combine(a, b);
        check("associativity", 1024, &(&self.items, &self.items, &self.items), &|(a, b, c)| {
            self.compare(&[a, b, c], combine(combine(a, b), c), combine(a, combine(b, c)))
        })
    }

    /// Tests `a + b == b + a`. [`Reduction`] and [`Scan`](crate::Scan) do not need this law.
    ///
    /// ```
    /// use warpfold::laws::{Laws, proptest::prelude::*};
    /// use warpfold::operators::Any;
    ///
    /// Laws::of(Any, any::<bool>()).commutativity()?;
    /// # Ok::<(), warpfold::laws::LawViolation>(())
    /// ```
    pub fn commutativity(&self) -> Result<(), LawViolation> {
        check("commutativity", 256, &(&self.items, &self.items), &|(a, b)| {
            self.compare(&[a, b], self.operator.combine(a, b), self.operator.combine(b, a))
        })
    }

    /// Tests that the bracket equals the fold from the left.
    ///
    /// ```
    /// use warpfold::laws::{Laws, proptest::prelude::*};
    /// use warpfold::operators::AffineComposition;
    ///
    /// Laws::of(AffineComposition::<u32>::new(), any::<[u32; 2]>()).bracket_is_the_fold()?;
    /// # Ok::<(), warpfold::laws::LawViolation>(())
    /// ```
    pub fn bracket_is_the_fold(&self) -> Result<(), LawViolation> {
        check("the bracket as a fold", 128, &vec(&self.items, 0..MAX_FOLDED), &|items| {
            let mut rest = items.iter().copied();
            let first = rest.next().unwrap_or_else(|| self.operator.identity());
            let fold = rest.fold(first, |left, right| self.operator.combine(left, right));
            self.compare(&items, tree::bracket(&self.operator, &items), fold)
        })
    }

    /// Whether two values of the same items are equal, bit for bit or within the tolerance.
    ///
    /// ```
    /// use warpfold::laws::{self, Laws};
    /// use warpfold::operators::Sum;
    ///
    /// let laws = Laws::of(Sum::<f64>::new(), 0.0_f64..1.0).within(1e-12, laws::sum_of_magnitudes);
    /// let items = [0.1, 0.2, 0.3];
    /// assert!(laws.are_equal(&items, (0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)));
    /// assert!(!laws.are_equal(&items, 0.6, 0.61));
    /// ```
    pub fn are_equal(&self, combined: &[M::Item], got: M::Item, expected: M::Item) -> bool {
        M::Item::same_bits(&got, &expected)
            || self.tolerance.as_ref().is_some_and(|tolerance| {
                let most = tolerance.relative * (tolerance.magnitude)(combined);
                close(&M::Item::layout(), &got.literal(), &expected.literal(), most)
            })
    }

    fn compare(&self, combined: &[M::Item], got: M::Item, expected: M::Item) -> Result<(), TestCaseError> {
        match self.are_equal(combined, got, expected) {
            true => Ok(()),
            false => Err(TestCaseError::fail(format!("{got:?} is not {expected:?}"))),
        }
    }
}

impl<M: DeviceMonoid, S: Strategy<Value = M::Item>> Laws<M, S>
where
    M::Item: std::fmt::Debug,
{
    /// Tests that the CPU backend returns the bits of the bracket.
    ///
    /// ```
    /// use warpfold::laws::Laws;
    /// use warpfold::operators::Sum;
    ///
    /// // Exact: the CPU adds in the order of the bracket.
    /// Laws::of(Sum::<f32>::new(), -1e3_f32..1e3).cpu_is_the_bracket()?;
    /// # Ok::<(), warpfold::laws::LawViolation>(())
    /// ```
    pub fn cpu_is_the_bracket(&self) -> Result<(), LawViolation> {
        let cpu = Reduction::with(Device::cpu(), self.operator);
        check("the CPU as the bracket", 16, &vec(&self.items, 0..MAX_ITEMS), &|items| {
            let expected = tree::bracket(&self.operator, &items);
            Laws::of(self.operator, &self.items).compare(&items, run(&cpu, &items)?, expected)
        })
    }

    /// Tests that the operator's CUDA C++ compiles for the newest architecture that NVRTC supports.
    ///
    /// Without NVRTC the test passes, and one line on standard error says so.
    ///
    /// # Panics
    ///
    /// If NVRTC is missing and the environment variable `WARPFOLD_REQUIRE` lists `nvrtc`.
    ///
    /// ```
    /// use warpfold::laws::{Laws, proptest::prelude::*};
    /// use warpfold::operators::Product;
    ///
    /// Laws::of(Product::<u64>::new(), any::<u64>()).compiles()?;
    /// # Ok::<(), warpfold::laws::LawViolation>(())
    /// ```
    pub fn compiles(&self) -> Result<(), LawViolation> {
        static SAID: Once = Once::new();
        if let Err(reason) = jit::available() {
            missing("nvrtc", &reason, &SAID);
            return Ok(());
        }
        let compile = || {
            let newest = jit::architectures()?.pop();
            let newest = newest.ok_or_else(|| Error::NoNvrtc {
                reason: "it knows no GPU".to_owned(),
                gpu: None,
                source: None,
            })?;
            let source = Reduction::with(Device::cpu(), self.operator).source()?;
            jit::compile(&source, jit::target(newest)?)
        };
        compile().map(|_| ()).map_err(not_compiled)
    }

    /// Tests that the GPU returns the bits of the CPU.
    ///
    /// If the operator is not [exact](DeviceMonoid::EXACT), the results may differ by the
    /// tolerance.
    ///
    /// ```no_run
    /// use warpfold::laws::{Laws, proptest::prelude::*};
    /// use warpfold::{Device, operators::Max};
    ///
    /// let laws = Laws::of(Max::<f32>::new(), any::<f32>());
    /// laws.gpu_is_the_cpu(&Device::cuda(0)?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gpu_is_the_cpu(&self, gpu: &Device) -> Result<(), LawViolation> {
        let (cpu, gpu) =
            (Reduction::with(Device::cpu(), self.operator), Reduction::with(gpu.clone(), self.operator));
        // Otherwise the baseline kernel would run until the tuned kernels are compiled.
        gpu.compile().map_err(not_compiled)?;
        let exact = Laws::of(self.operator, &self.items);
        check("the GPU as the CPU", 16, &vec(&self.items, 0..MAX_ITEMS), &|items| {
            let (got, expected) = (run(&gpu, &items)?, run(&cpu, &items)?);
            match M::EXACT {
                true => exact.compare(&items, got, expected),
                false => self.compare(&items, got, expected),
            }
        })
    }
}

fn not_compiled(error: Error) -> LawViolation {
    LawViolation { law: "compilation", counterexample: error.to_string() }
}

/// Not generic over the operator, so that it is not compiled once for each operator.
fn check<T: Strategy>(
    law: &'static str,
    cases: u32,
    strategy: &T,
    test: &dyn Fn(T::Value) -> Result<(), TestCaseError>,
) -> Result<(), LawViolation> {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(strategy, test).map_err(|error| LawViolation {
        law,
        counterexample: shortened(match error {
            TestError::Abort(reason) => reason.to_string(),
            TestError::Fail(reason, value) => format!("{reason}, for {value:?}"),
        }),
    })
}

fn run<M: DeviceMonoid>(reduction: &Reduction<M>, items: &[M::Item]) -> Result<M::Item, TestCaseError> {
    reduction.run(items).map_err(|error| TestCaseError::fail(error.to_string()))
}

/// A text of at most [`MAX_CHARACTERS`] characters, and the number of characters left out.
fn shortened(text: String) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}... ({} more characters)", &text[..end], text[end..].chars().count()),
        None => text,
    }
}
