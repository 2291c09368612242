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

use std::io::Write;
use std::sync::Once;

use proptest::collection::vec;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

pub use proptest;

use crate::{
    Device, DeviceMonoid, DeviceType, Error, Kind, Layout, Literal, Monoid, Reduction, Scalar, jit, tree,
};

/// Most items of an input for a whole reduction: more than a tile, and more than a block of the CPU
/// backend.
const MAX_ITEMS: usize = 5000;
/// Most items of an input that compares the bracket with a fold. The difference in rounding grows
/// with the number of items.
const MAX_FOLDED: usize = 64;

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

/// Tests `(a + b) + c == a + (b + c)`, bit for bit. [`Laws::within`] tests it with a tolerance.
///
/// ```
/// use warpfold::laws::{self, proptest::prelude::*};
/// use warpfold::operators::{Max, Sum};
///
/// laws::associativity(Max::<i64>::new(), any::<i64>())?;
/// // A float sum rounds, so it is not associative bit for bit.
/// assert!(laws::associativity(Sum::<f32>::new(), -1e3_f32..1e3).is_err());
/// # Ok::<(), warpfold::laws::LawViolation>(())
/// ```
pub fn associativity<M: Monoid>(
    operator: M,
    items: impl Strategy<Value = M::Item>,
) -> Result<(), LawViolation>
where
    M::Item: std::fmt::Debug,
{
    Laws::of(operator, items).associativity()
}

/// Tests `identity + a == a` and `a + identity == a`, bit for bit.
///
/// ```
/// use warpfold::laws::{self, proptest::prelude::*};
/// use warpfold::operators::Sum;
///
/// laws::identity(Sum::<f32>::new(), any::<f32>())?;
/// # Ok::<(), warpfold::laws::LawViolation>(())
/// ```
pub fn identity<M: Monoid>(operator: M, items: impl Strategy<Value = M::Item>) -> Result<(), LawViolation>
where
    M::Item: std::fmt::Debug,
{
    Laws::of(operator, items).identity()
}

/// Tests `a + b == b + a`, bit for bit. [`Reduction`] and [`Scan`](crate::Scan) do not need this
/// law.
///
/// ```
/// use warpfold::laws::{self, proptest::prelude::*};
/// use warpfold::operators::{AffineComposition, Product};
///
/// laws::commutativity(Product::<f64>::new(), any::<f64>())?;
/// // The order of maps matters.
/// assert!(laws::commutativity(AffineComposition::<i32>::new(), any::<[i32; 2]>()).is_err());
/// # Ok::<(), warpfold::laws::LawViolation>(())
/// ```
pub fn commutativity<M: Monoid>(
    operator: M,
    items: impl Strategy<Value = M::Item>,
) -> Result<(), LawViolation>
where
    M::Item: std::fmt::Debug,
{
    Laws::of(operator, items).commutativity()
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
            let newest = newest
                .ok_or_else(|| Error::NoNvrtc { reason: "it knows no GPU".to_owned(), source: None })?;
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
        counterexample: match error {
            TestError::Abort(reason) => reason.to_string(),
            TestError::Fail(reason, value) => format!("{reason}, for {value:?}"),
        },
    })
}

fn run<M: DeviceMonoid>(reduction: &Reduction<M>, items: &[M::Item]) -> Result<M::Item, TestCaseError> {
    reduction.run(items).map_err(|error| TestCaseError::fail(error.to_string()))
}

/// Whether two values of one type are equal, where finite floats may differ by at most `most`.
fn close(layout: &Layout, a: &Literal, b: &Literal, most: f64) -> bool {
    match (a, b) {
        (Literal::Scalar(x), Literal::Scalar(y)) => match (float(layout, *x), float(layout, *y)) {
            (Some(x), Some(y)) if x.is_finite() && y.is_finite() => (x - y).abs() <= most,
            (Some(x), Some(y)) => x == y || (x.is_nan() && y.is_nan()),
            _ => x == y,
        },
        (Literal::Sequence(xs), Literal::Sequence(ys)) => xs
            .iter()
            .zip(ys)
            .enumerate()
            .all(|(i, (x, y))| part(layout, i).is_some_and(|part| close(part, x, y, most))),
        _ => false,
    }
}

fn part(layout: &Layout, index: usize) -> Option<&Layout> {
    match &layout.kind {
        Kind::Scalar(_) => None,
        Kind::Array { element, .. } => Some(element),
        Kind::Struct { fields } => fields.get(index).map(|field| &field.layout),
    }
}

fn float(layout: &Layout, bits: u64) -> Option<f64> {
    match layout.kind {
        Kind::Scalar(Scalar::F32) => Some(f32::from_bits(bits as u32).into()),
        Kind::Scalar(Scalar::F64) => Some(f64::from_bits(bits)),
        #[cfg(feature = "half")]
        Kind::Scalar(Scalar::F16) => Some(half::f16::from_bits(bits as u16).into()),
        #[cfg(feature = "half")]
        Kind::Scalar(Scalar::BF16) => Some(half::bf16::from_bits(bits as u16).into()),
        _ => None,
    }
}

/// The largest absolute value among the finite floats of an item.
fn magnitude<T: DeviceType>(item: &T) -> f64 {
    fn largest(layout: &Layout, literal: &Literal) -> f64 {
        match literal {
            Literal::Scalar(bits) => {
                float(layout, *bits).map(f64::abs).filter(|value| value.is_finite()).unwrap_or(0.0)
            }
            Literal::Sequence(parts) => parts
                .iter()
                .enumerate()
                .filter_map(|(i, literal)| part(layout, i).map(|layout| largest(layout, literal)))
                .fold(0.0, f64::max),
        }
    }
    largest(&T::layout(), &item.literal())
}

/// The sum of the items' magnitudes: a magnitude for operators that add.
///
/// ```
/// use warpfold::laws::sum_of_magnitudes;
///
/// assert_eq!(sum_of_magnitudes(&[1.5, -2.0, 0.25]), 3.75);
/// // The magnitude of an array is that of its largest element.
/// assert_eq!(sum_of_magnitudes(&[[3.0, -4.0], [0.5, 0.0]]), 4.5);
/// ```
pub fn sum_of_magnitudes<T: DeviceType>(items: &[T]) -> f64 {
    items.iter().map(magnitude).sum()
}

/// The product of `1 + 2m` over the items' magnitudes `m`: a magnitude for operators that multiply,
/// matrices included.
///
/// ```
/// use warpfold::laws::product_of_magnitudes;
///
/// // (1 + 2 * 0.5) * (1 + 2 * 1.0)
/// assert_eq!(product_of_magnitudes(&[0.5, -1.0]), 6.0);
/// ```
pub fn product_of_magnitudes<T: DeviceType>(items: &[T]) -> f64 {
    items.iter().map(|item| 1.0 + 2.0 * magnitude(item)).product()
}

/// The first GPU, for [`laws!`](crate::laws!). Without a GPU, one line per process on standard
/// error says why.
#[doc(hidden)]
pub fn gpu() -> Option<Device> {
    static SAID: Once = Once::new();
    Device::cuda(0).map_err(|reason| missing("gpu", &reason, &SAID)).ok()
}

/// Says in one line on standard error that a tier did not run.
///
/// # Panics
///
/// If the environment variable `WARPFOLD_REQUIRE`, a list such as `nvrtc,gpu`, names the tier.
fn missing(tier: &str, reason: &Error, said: &Once) {
    let required = std::env::var("WARPFOLD_REQUIRE").unwrap_or_default();
    let is_required = required.split(',').any(|required| required == tier);
    assert!(!is_required, "{tier}: required, but {reason}");
    // Not `eprintln!`: the test harness captures its output for a passing test.
    said.call_once(|| drop(writeln!(std::io::stderr(), "{tier}: did not run: {reason}")));
}

/// Writes the test suite of operators: see the module [`laws`](mod@crate::laws).
///
/// Each line has a name, `[commutative]` where that is claimed, and a [`Laws`]. It becomes a module
/// of tests.
///
/// ```
/// use warpfold::laws::{Laws, proptest::prelude::*};
/// use warpfold::operators::{Matrix2Product, Min};
///
/// warpfold::laws! {
///     min [commutative]: Laws::of(Min::<i16>::new(), any::<i16>());
///     matrices: Laws::of(Matrix2Product::<u32>::new(), any::<[[u32; 2]; 2]>());
/// }
/// ```
#[macro_export]
macro_rules! laws {
    ($($(#[$attribute:meta])* $name:ident $([$($claim:tt)*])? : $laws:expr;)*) => {$(
        $(#[$attribute])*
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            $crate::laws!(@test identity: $laws.identity());
            $crate::laws!(@test associativity: $laws.associativity());
            $crate::laws!(@claim [$($($claim)*)?] $laws);
            $crate::laws!(@test bracket_is_the_fold: $laws.bracket_is_the_fold());
            $crate::laws!(@test cpu_is_the_bracket: $laws.cpu_is_the_bracket());
            $crate::laws!(@test nvrtc_compiles: $laws.compiles());
            $crate::laws!(@test gpu_is_the_cpu: match $crate::laws::gpu() {
                Some(gpu) => $laws.gpu_is_the_cpu(&gpu),
                None => Ok(()),
            });
        }
    )*};
    (@claim [] $laws:expr) => {};
    (@claim [commutative] $laws:expr) => {
        $crate::laws!(@test commutativity: $laws.commutativity());
    };
    (@test $name:ident: $result:expr) => {
        #[test]
        fn $name() {
            $result.unwrap_or_else(|broken: $crate::laws::LawViolation| panic!("{broken}"));
        }
    };
}
