//! The operators with which rungs are tested, and how their results are compared.

use std::fmt::Debug;

use rand::Rng;
use rand::rngs::SmallRng;
use support::items::{Point, Sample, Sampler, Unit};
use support::operators::{MaxByNorm, ModularAffine};
use warpfold::ladder::{Finish, Ladder, Role, Rung};
use warpfold::laws::{Laws, proptest::strategy::Just, sum_of_magnitudes};
use warpfold::operators::{AffineComposition, BitXor, Max, Product, Sum};
use warpfold::{Commutative, Device, DeviceMonoid, DeviceType, Monoid, monoid};

pub const FINISHES: [Finish; 3] = [Finish::Launches, Finish::Host, Finish::HostBelowBlock];

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Hull {
    low: [f32; 3],
    high: [f32; 3],
}

impl Sample for Hull {
    fn sample(random: &mut SmallRng) -> Self {
        let Point { x, y, z } = Point::sample(random);
        Self { low: [x, y, z], high: [x, y, z] }
    }
}

/// The smallest box that contains both.
#[derive(Clone, Copy, Default, Debug)]
pub struct Union;

#[monoid]
impl Monoid for Union {
    type Item = Hull;
    fn identity(&self) -> Hull {
        Hull { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] }
    }
    fn combine(&self, a: Hull, b: Hull) -> Hull {
        Hull {
            low: [
                if b.low[0] < a.low[0] { b.low[0] } else { a.low[0] },
                if b.low[1] < a.low[1] { b.low[1] } else { a.low[1] },
                if b.low[2] < a.low[2] { b.low[2] } else { a.low[2] },
            ],
            high: [
                if b.high[0] > a.high[0] { b.high[0] } else { a.high[0] },
                if b.high[1] > a.high[1] { b.high[1] } else { a.high[1] },
                if b.high[2] > a.high[2] { b.high[2] } else { a.high[2] },
            ],
        }
    }
}

impl Commutative for Union {}

/// An operator, the sampler of its items, and the relative error that its sums may have.
#[derive(Clone, Copy)]
pub struct Subject<M: Monoid> {
    pub operator: M,
    pub sampler: Sampler<M::Item>,
    pub rounding: Option<f64>,
    pub commutes: bool,
    pub adds: bool,
    pub ladder: fn(Device, M) -> Ladder<M>,
}

impl<M: DeviceMonoid> Subject<M>
where
    M::Item: Debug,
{
    pub fn rungs(&self, role: Role) -> impl Iterator<Item = Rung> {
        let (commutes, is_small) = (self.commutes, self.adds || size_of::<M::Item>() <= 4);
        let can = move |rung: &Rung| (commutes || rung.keeps_order()) && (is_small || *rung != Rung::Atomics);
        Rung::ALL.into_iter().filter(move |rung| rung.role() == role).filter(can)
    }

    /// Compares a value with the expected one. The error names both.
    fn compare(&self, items: &[M::Item], got: M::Item, expected: M::Item) -> Result<(), String> {
        let laws = Laws::of(self.operator, Just(self.operator.identity()));
        let equal = match self.rounding {
            Some(relative) => laws.within(relative, sum_of_magnitudes).are_equal(items, got, expected),
            None => laws.are_equal(items, got, expected),
        };
        if equal { Ok(()) } else { Err(format!("{got:?} is not {expected:?}")) }
    }

    /// Compares the value of a reduction. `Rung::BottomUp` with `Finish::Launches` is the bracket
    /// itself, so its bits must be equal.
    pub fn compare_reduced(
        &self,
        by: (Rung, Finish),
        items: &[M::Item],
        got: M::Item,
        expected: M::Item,
    ) -> Result<(), String> {
        let exact = Self { rounding: None, ..*self };
        let subject = if by == (Rung::BottomUp, Finish::Launches) { &exact } else { self };
        subject.compare(items, got, expected)
    }

    pub fn compare_all(
        &self,
        items: &[M::Item],
        got: &[M::Item],
        expected: &[M::Item],
    ) -> Result<(), String> {
        assert_eq!(got.len(), expected.len());
        // The tolerance is slow to compute. So the first 1000 items give it, and about 1000 places
        // are compared.
        let (items, step) = match self.rounding {
            Some(_) => (&items[..items.len().min(1000)], expected.len().div_ceil(1000)),
            None => (items, 1),
        };
        let mut pairs = got.iter().zip(expected).enumerate().step_by(step);
        pairs.try_for_each(|(place, (&got, &expected))| {
            self.compare(items, got, expected).map_err(|wrong| format!("place {place}: {wrong}"))
        })
    }
}

/// Visits each operator under test.
pub trait Visitor {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, subject: Subject<M>)
    where
        M::Item: Sample;
}

pub fn subjects(visitor: &mut impl Visitor) {
    fn commutes<M: Commutative + DeviceMonoid>(operator: M, sampler: Sampler<M::Item>) -> Subject<M> {
        Subject {
            operator,
            sampler,
            rounding: None,
            commutes: true,
            adds: M::IS_ADDITION,
            ladder: Ladder::with,
        }
    }
    fn in_order<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>) -> Subject<M> {
        Subject { operator, sampler, rounding: None, commutes: false, adds: false, ladder: Ladder::in_order }
    }
    visitor.visit("sum_of_u32", commutes(Sum::<u32>::new(), u32::sample));
    visitor.visit("sum_of_f32", Subject { rounding: Some(1e-5), ..commutes(Sum::<f32>::new(), f32::unit) });
    visitor.visit("sum_of_f64", Subject { rounding: Some(1e-13), ..commutes(Sum::<f64>::new(), f64::unit) });
    visitor.visit("product_of_u8", commutes(Product::<u8>::new(), u8::unit));
    visitor.visit("xor_of_u16", commutes(BitXor::<u16>::new(), u16::sample));
    visitor.visit("max_of_f64", commutes(Max::<f64>::new(), f64::sample));
    visitor.visit("union", commutes(Union, Hull::sample));
    visitor.visit("max_by_norm", in_order(MaxByNorm, Point::sample));
    visitor.visit("maps_of_i64", in_order(AffineComposition::<i64>::new(), i64::map));
    let maps = ModularAffine { modulus: 1_000_003, padding: 0 };
    let map = |random: &mut SmallRng| [random.random_range(1..1_000_003), random.random_range(0..1_000_003)];
    visitor.visit("modular_maps", in_order(maps, map));
}

/// Lengths for blocks of `threads` threads: all small ones, and both sides of every edge.
pub fn lengths(threads: usize) -> Vec<usize> {
    let mut lengths: Vec<usize> = (1..=9).collect();
    for edge in [32, threads, 2 * threads, 4 * threads, threads * threads / 2] {
        lengths.extend([edge - 1, edge, edge + 1]);
    }
    lengths.extend([7 * threads + 3, 1500]);
    lengths.sort();
    lengths.dedup();
    lengths.retain(|&length| length <= 40 * threads);
    lengths
}
