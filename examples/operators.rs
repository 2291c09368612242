//! Runs thirteen operators over one random walk, on a GPU if there is one.
//!
//! ```text
//! cargo run --release --example operators
//! ```

#[path = "operators/mod.rs"]
mod operators;

use std::fmt::Debug;

use anyhow::Result;
use operators::argmax::{ArgMax, Keyed};
use operators::bounding_box::{Aabb, BoundingBox};
use operators::bracket_matching::{BracketMatching, Unmatched};
use operators::log_sum_exp::{LogSumExp, Scaled};
use operators::longest_run::{LongestRun, Run};
use operators::max_by_norm::{MaxByNorm, Point};
use operators::maximum_subarray::{MaximumSubarray, Sums};
use operators::modular_matrix::ModularMatrix;
use operators::polynomial_hash::PolynomialHash;
use operators::quaternion::{Quaternion, QuaternionProduct};
use operators::top_four::TopFour;
use operators::two_sum::{Compensated, TwoSum};
use operators::welford::{Moments, Welford};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpfold::{Device, DeviceMonoid, Reduction};

const STEPS: usize = 100_000;

fn main() -> Result<()> {
    let device = Device::auto();
    println!("{STEPS} steps of a random walk, on {device}");

    let mut random = SmallRng::seed_from_u64(1);
    let steps: Vec<[f32; 3]> =
        (0..STEPS).map(|_| std::array::from_fn(|_| random.random_range(-1.0..1.0))).collect();
    let mut place = [0.0_f32; 3];
    let mut walk = Vec::with_capacity(STEPS);
    for step in &steps {
        place = std::array::from_fn(|k| place[k] + step[k]);
        walk.push(place);
    }
    let height = |point: &[f32; 3]| point[2];
    let whole = |step: &[f32; 3]| (step[0] * 100.0) as i32;
    let letter = |step: &[f32; 3]| if step[0] < 0.0 { b'(' } else { b')' };

    let show = Show { device };
    let points = walk.iter().map(|&[x, y, z]| Point { x, y, z });
    show.of("farthest point", MaxByNorm, points)?;
    show.of("box", BoundingBox, walk.iter().map(|&point| Aabb::of(point)))?;
    let heights =
        walk.iter().enumerate().map(|(index, point)| Keyed { key: height(point), index: index as u64 });
    show.of("highest point", ArgMax::<f32>::default(), heights)?;
    let moments = show.of(
        "moments of the heights",
        Welford,
        walk.iter().map(|point| Moments::of(height(point).into())),
    )?;
    println!("{:>24}  {}", "variance", moments.variance());
    show.of("sum of the heights", TwoSum, walk.iter().map(|point| Compensated::of(height(point))))?;
    show.of("longest climb", LongestRun, steps.iter().map(|step| Run::of(step[2] > 0.0)))?;
    show.of("best stretch", MaximumSubarray, steps.iter().map(|step| Sums::of(whole(step))))?;
    let hash = PolynomialHash { base: 263, modulus: 4_294_967_291 };
    show.of("hash", hash, steps.iter().map(|step| hash.of(letter(step))))?;
    show.of("unmatched brackets", BracketMatching, steps.iter().map(|step| Unmatched::of(letter(step))))?;
    show.of(
        "Fibonacci number",
        ModularMatrix { modulus: 998_244_353 },
        steps.iter().map(|_| [[1, 1], [1, 0]]),
    )?;
    let turns = steps.iter().map(|&[x, y, z]| {
        let norm = (1.0 + x * x + y * y + z * z).sqrt();
        Quaternion { w: 1.0 / norm, x: x / norm, y: y / norm, z: z / norm }
    });
    show.of("rotation", QuaternionProduct, turns)?;
    let scaled =
        show.of("sum of exponentials", LogSumExp, walk.iter().map(|point| Scaled::of(height(point).into())))?;
    println!("{:>24}  {}", "its logarithm", scaled.logarithm());
    show.of("four largest steps", TopFour, steps.iter().map(|step| TopFour::of(whole(step))))?;
    Ok(())
}

struct Show {
    device: Device,
}

impl Show {
    fn of<M: DeviceMonoid>(
        &self,
        name: &str,
        operator: M,
        items: impl Iterator<Item = M::Item>,
    ) -> Result<M::Item>
    where
        M::Item: Debug,
    {
        let items: Vec<M::Item> = items.collect();
        let result = Reduction::with(self.device.clone(), operator).run(&items)?;
        println!("{name:>24}  {result:?}");
        Ok(result)
    }
}
