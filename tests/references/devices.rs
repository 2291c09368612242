//! Every aggregate on every device: its CUDA C++ compiles, the CPU returns the defined result, and a
//! GPU the bits of the CPU.

use std::sync::Once;

use warpfold::aggregates::*;
use warpfold::operators::Max;
use warpfold::{Aggregate, Device, DeviceAggregate, DeviceType, Error, Reduction, aggregate, jit};

/// Says once that a tier is missing. It is a failure if `WARPFOLD_REQUIRE` names the tier.
fn absent(tier: &str, reason: &dyn std::fmt::Display) {
    static SAID: Once = Once::new();
    let required = std::env::var("WARPFOLD_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|required| required == tier), "{tier}: required, but {reason}");
    SAID.call_once(|| eprintln!("{tier}: did not run: {reason}"));
}

fn check<A: DeviceAggregate<Input: DeviceType>>(aggregate: A, elements: &[A::Input])
where
    A::Output: std::fmt::Debug,
{
    check_by(aggregate, elements, |on, elements| on.run(elements));
}

/// An aggregate of two arrays in step.
fn check_pairs<T: DeviceType, A: DeviceAggregate<Input = (T, T)> + Default>(pairs: &[(T, T)])
where
    A::Output: std::fmt::Debug,
{
    check_by(A::default(), pairs, |on, pairs| {
        let (x, y): (Vec<T>, Vec<T>) = pairs.iter().copied().unzip();
        on.run((&x, &y))
    });
}

/// Runs an aggregate on the CPU, renders it, compiles it if there is NVRTC, and runs it if there is a
/// GPU.
fn check_by<A: DeviceAggregate>(
    aggregate: A,
    elements: &[A::Input],
    run: impl Fn(&Reduction<A>, &[A::Input]) -> Result<A::Output, Error>,
) where
    A::Output: std::fmt::Debug,
{
    let name = std::any::type_name::<A>();
    let cpu = Reduction::with(Device::cpu(), aggregate);
    // Two floats have the same text if they have the same bits, or if both are NaN.
    let run =
        |on: &Reduction<A>, count: usize| format!("{:?}", run(on, &elements[..count]).expect("reduces"));
    let counts = [0, 1, 2, 1000, elements.len()];
    for count in counts {
        let defined = format!("{:?}", super::with(aggregate, &elements[..count]));
        assert_eq!(run(&cpu, count), defined, "{name} of {count}");
    }
    let source = cpu.source().unwrap_or_else(|error| panic!("{name}: {error}"));
    match jit::available() {
        Ok(()) => {
            let newest = jit::architectures().ok().and_then(|mut all| all.pop()).expect("an architecture");
            let target = jit::target(newest).expect("known to this NVRTC");
            jit::compile(&source, target).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        Err(reason) => absent("nvrtc", &reason),
    }
    match Device::cuda(0) {
        Ok(gpu) => {
            let gpu = Reduction::with(gpu, aggregate);
            for count in counts {
                let results = (run(&gpu, count), run(&cpu, count));
                match A::EXACT {
                    true => assert_eq!(results.0, results.1, "{name} of {count}"),
                    // The exponential function of a GPU differs in the last bits.
                    false => {
                        let number = |text: &str| text.parse::<f64>().expect("a number");
                        let (got, expected) = (number(&results.0), number(&results.1));
                        let is_near = results.0 == results.1
                            || got == expected
                            || (got - expected).abs() <= 1e-5 * expected.abs();
                        assert!(is_near, "{name} of {count}: {results:?}");
                    }
                }
            }
        }
        Err(reason) => absent("gpu", &reason),
    }
}

fn check_default<A: DeviceAggregate<Input: DeviceType> + Default>(elements: &[A::Input])
where
    A::Output: std::fmt::Debug,
{
    check(A::default(), elements);
}

fn bits() -> impl Iterator<Item = u64> {
    (0..20_000).map(|k| u64::from(super::mixed(k)) << 32 | u64::from(super::mixed(!k)))
}

macro_rules! of_numbers {
    ($($(#[$attribute:meta])* $test:ident: $type:ty, $convert:expr, $range:expr;)*) => {$(
        $(#[$attribute])*
        #[test]
        fn $test() {
            let elements: Vec<$type> = bits().map($convert).collect();
            let pairs: Vec<($type, $type)> = elements.windows(2).map(|w| (w[0], w[1])).collect();
            let points: Vec<[$type; 3]> = elements.windows(3).map(|w| [w[0], w[1], w[2]]).collect();
            check_default::<Count<$type>>(&elements);
            check_default::<SumWide<$type>>(&elements);
            check_default::<Mean<$type>>(&elements);
            check_default::<Variance<$type>>(&elements);
            check_default::<Moments<$type>>(&elements);
            check_default::<MinMax<$type>>(&elements);
            check_default::<ArgMin<$type>>(&elements);
            check_default::<ArgMax<$type>>(&elements);
            check_default::<First<$type>>(&elements);
            check_default::<Last<$type>>(&elements);
            check_default::<TopK<$type, 5>>(&elements);
            check_default::<BoundingBox<$type, 3>>(&points);
            check_default::<Centroid<$type, 3>>(&points);
            check(Histogram::<$type, 7>::new($range.0, $range.1), &elements);
            check_pairs::<$type, Dot<$type>>(&pairs);
            check_pairs::<$type, WeightedMean<$type>>(&pairs);
            check_pairs::<$type, Covariance<$type>>(&pairs);
            check_pairs::<$type, LinearFit<$type>>(&pairs);
        }
    )*};
}
// An aggregate of one more type compiles for seconds. A full run tests more types.
of_numbers! {
    aggregates_of_f32_run_everywhere: f32, |bits| (bits >> 32) as f32 / 1e9 - 2.0, (-1.5, 1.25);
    #[cfg(feature = "every-operator")]
    aggregates_of_i16_run_everywhere: i16, |bits| (bits >> 48) as i16, (-1000, 20_000);
    #[cfg(feature = "every-operator")]
    aggregates_of_u64_run_everywhere: u64, |bits| bits, (7, u64::MAX);
    #[cfg(feature = "every-operator")]
    aggregates_of_f64_run_everywhere: f64, |bits| bits as f64 / 1e19 - 0.7, (-0.5, 0.75);
}

#[test]
fn aggregates_of_floats_alone_run_everywhere() {
    let f64s: Vec<f64> = bits().map(|bits| bits as f64 / 1e19 - 0.7).collect();
    let f32s: Vec<f32> = f64s.iter().map(|&x| x as f32).collect();
    let wild: Vec<f64> = bits().map(f64::from_bits).filter(|x| x.is_finite()).collect();
    check_default::<SumCompensated<f32>>(&f32s);
    check_default::<SumCompensated<f64>>(&f64s);
    check_default::<Norm<f32>>(&f32s);
    check_default::<Norm<f64>>(&f64s);
    check_default::<Norm<f64>>(&wild);
    check_default::<LogSumExp<f32>>(&f32s);
    check_default::<LogSumExp<f64>>(&f64s);
    const { assert!(!<LogSumExp<f64> as DeviceAggregate>::EXACT) };
}

#[test]
fn hashes_and_truth_values_run_everywhere() {
    let words: Vec<u64> = bits().collect();
    let bytes: Vec<u8> = bits().map(|bits| (bits >> 56) as u8).collect();
    let truths: Vec<bool> = bits().map(|bits| bits >> 60 != 0).collect();
    check(PolynomialHash::new(0x1234_5678_9abc_def0), &bytes);
    check(PolynomialHashOfWords::new(0x1234_5678_9abc_def0), &words);
    check_default::<All>(&truths);
    check_default::<Any>(&truths);
}

#[test]
fn a_tuple_of_aggregates_runs_everywhere() {
    let elements: Vec<f32> = bits().map(|bits| (bits >> 32) as f32 / 1e9 - 2.0).collect();
    let all =
        (MinMax::<f32>::new(), ArgMax::<f32>::new(), Histogram::<f32, 4>::new(-1.0, 1.0), Mean::<f32>::new());
    check(all, &elements);
}

/// A tuple is a struct in device memory, also inside another one and in an option.
#[derive(Clone, Copy, Debug, Default)]
struct Nested;

#[aggregate]
impl Aggregate for Nested {
    type Input = f32;
    type Monoid = Max<f32>;
    type Output = ((u64, f32), Option<(f32, (bool, u8))>);
    fn prepare(&self, _: u64, x: f32) -> f32 {
        x
    }
    fn present(&self, largest: f32, count: u64) -> Self::Output {
        let of_largest = (largest > 1.0, 7);
        ((count, largest), if count == 0 { None } else { Some((largest * 0.5, of_largest)) })
    }
}

#[test]
fn an_aggregate_of_nested_results_runs_everywhere() {
    check_default::<Nested>(&bits().map(|bits| (bits >> 32) as f32).collect::<Vec<_>>());
}

/// Everything but the logarithm of a sum of exponentials is exact.
#[test]
fn aggregates_are_exact() {
    fn exact<A: DeviceAggregate>() -> bool {
        A::EXACT
    }
    assert!(exact::<Variance<f32>>() && exact::<Moments<i8>>() && exact::<SumCompensated<f32>>());
    assert!(exact::<Norm<f32>>() && exact::<Norm<f64>>() && exact::<MinMax<f64>>());
    assert!(exact::<TopK<f32, 3>>() && exact::<Histogram<f32, 3>>() && exact::<PolynomialHash>());
    assert!(exact::<Centroid<f32, 2>>() && exact::<First<bool>>() && exact::<Mean<u16>>());
    assert!(exact::<Dot<f32>>() && exact::<WeightedMean<f64>>());
    assert!(exact::<Covariance<f32>>() && exact::<LinearFit<f64>>());
    assert!(!exact::<LogSumExp<f32>>());
}
