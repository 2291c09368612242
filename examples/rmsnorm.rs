//! The scales of RMS normalisation: 1 / sqrt(mean(x^2) + epsilon) of each row of a batch. A row has
//! the same bits in every batch.
//!
//! ```text
//! cargo run --release --example rmsnorm -- --columns 5120 --rows 256
//! ```

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpfold::operators::Sum;
use warpfold::{Aggregate, Device, DeviceType, Reduction, aggregate};

/// Computes the scales of RMS normalisation of random rows, alone and in batches.
#[derive(Parser)]
struct Arguments {
    /// Elements of a row.
    #[arg(long, default_value_t = 5120, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    columns: u32,
    /// Rows of the largest batch.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    rows: u32,
}

/// The factor that gives a row a mean square of 1.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct RmsScale {
    /// Added to the mean square, so that a row of zeros has a finite scale.
    epsilon: f32,
}

#[aggregate]
impl Aggregate for RmsScale {
    type Input = f32;
    type Monoid = Sum<f32>;
    type Output = f32;
    fn prepare(&self, _: u64, x: f32) -> f32 {
        x * x
    }
    fn present(&self, sum: f32, count: u64) -> f32 {
        1.0 / (sum / count as f32 + self.epsilon).sqrt()
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (columns, rows) = (arguments.columns as usize, arguments.rows as usize);
    let device = Device::auto();
    println!("on {device}: rows of {columns}");
    let mut random = SmallRng::seed_from_u64(1);
    let batch: Vec<f32> = (0..columns * rows).map(|_| random.random_range(-2.0..2.0)).collect();
    let scale = Reduction::with(device, RmsScale { epsilon: 1e-6 });
    let alone: Vec<f32> = batch.chunks(columns).map(|row| scale.run(row)).collect::<Result<_, _>>()?;
    for size in [1, 7, 64, rows] {
        let mut differing = 0;
        let start = Instant::now();
        for (part, expected) in batch.chunks(size * columns).zip(alone.chunks(size)) {
            let scales = scale.rows(part, columns)?;
            differing += scales.iter().zip(expected).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        }
        println!("batches of {size}: {differing} of {rows} rows differ, {:.1?}", start.elapsed());
        ensure!(differing == 0, "the bits of a row depend on its batch");
    }
    println!("the first row is multiplied by {}", alone[0]);
    Ok(())
}
