//! Times reductions and scans with criterion, on the CPU and on the GPU if there is one.
//!
//! GPU inputs are in device memory, and the time is from the call to the result. Every bench checks
//! the result that it times; for a scan, the last element. GPU calls alternate between two
//! copies of the input, so that a large input is not found in the L2 cache.

#[path = "figures/ceiling.rs"]
mod ceiling;

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use rayon::prelude::*;
use warpfold::operators::{Matrix2Product, Max, Min, Number, Sum};
use warpfold::{Device, DeviceMonoid, DeviceType, Monoid, Reduction, Scan, Value, monoid, tree};

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Clone, Copy, Default)]
struct MaxByNorm;

#[monoid]
impl Monoid for MaxByNorm {
    type Item = Point;
    fn identity(&self) -> Point {
        Point { x: 0.0, y: 0.0, z: 0.0 }
    }
    fn combine(&self, a: Point, b: Point) -> Point {
        let na = a.x * a.x + a.y * a.y + a.z * a.z;
        let nb = b.x * b.x + b.y * b.y + b.z * b.z;
        if nb > na { b } else { a }
    }
}

/// Makes an item from its index, cheaply and without a pattern.
trait FromIndex: DeviceType + Value<Stored = Self> {
    fn from_index(index: usize) -> Self;
}
fn noise(index: usize) -> u64 {
    let bits = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}
impl FromIndex for f32 {
    fn from_index(index: usize) -> f32 {
        (noise(index) >> 40) as f32 / (1 << 24) as f32 - 0.5
    }
}
impl FromIndex for f64 {
    fn from_index(index: usize) -> f64 {
        f64::from(f32::from_index(index))
    }
}
impl FromIndex for i32 {
    fn from_index(index: usize) -> i32 {
        (noise(index) >> 32) as i32
    }
}
impl FromIndex for u8 {
    fn from_index(index: usize) -> u8 {
        (noise(index) >> 56) as u8
    }
}
impl FromIndex for Point {
    fn from_index(index: usize) -> Point {
        let [x, y, z] = [0, 1, 2].map(|k| f32::from_index(3 * index + k));
        Point { x, y, z }
    }
}
impl FromIndex for [[f32; 2]; 2] {
    fn from_index(index: usize) -> Self {
        // Products of rotations neither grow nor vanish.
        let (sin, cos) = f32::from_index(index).sin_cos();
        [[cos, -sin], [sin, cos]]
    }
}

impl FromIndex for [[u32; 2]; 2] {
    fn from_index(index: usize) -> Self {
        [[1, noise(index) as u32 & !1], [(noise(index) >> 32) as u32 & !1, 1]]
    }
}

fn bench<M: DeviceMonoid + Default>(criterion: &mut Criterion, name: &str, sizes: &[u32])
where
    M::Item: FromIndex + std::fmt::Debug,
{
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1000));
    let gpu = Device::cuda(0).ok();
    for &log2 in sizes {
        let length = (1_usize << log2) / size_of::<M::Item>();
        let items: Vec<M::Item> = (0..length).into_par_iter().map(M::Item::from_index).collect();
        let cpu = Reduction::<M>::new(Device::cpu());
        let expected = cpu.run(&items).expect("runs");
        group.throughput(Throughput::Bytes(size_of_val(&items[..]) as u64));
        group.bench_function(BenchmarkId::new("cpu", format!("2^{log2} bytes")), |bencher| {
            bencher.iter(|| check::<M>(cpu.run(&items), expected));
        });
        let Some(gpu) = &gpu else {
            continue;
        };
        let stream = gpu.stream().expect("a GPU has a stream");
        let reduction = Reduction::<M>::new(stream.clone());
        reduction.compile().expect("compiles");
        let copies: Vec<_> = (0..2).map(|_| gpu.upload(&items).expect("room for the items")).collect();
        group.bench_function(BenchmarkId::new("gpu", format!("2^{log2} bytes")), |bencher| {
            bencher.iter_custom(|rounds| {
                let start = Instant::now();
                for round in 0..rounds {
                    check::<M>(reduction.run(&copies[round as usize % copies.len()]), expected);
                }
                start.elapsed()
            });
        });
    }
    group.finish();
}

/// Inclusive scans into an existing output, beside copies of the input.
fn scans<M: DeviceMonoid + Default>(criterion: &mut Criterion, name: &str, sizes: &[u32])
where
    M::Item: FromIndex + std::fmt::Debug,
{
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1000));
    let gpu = Device::cuda(0).ok();
    for &log2 in sizes {
        let length = (1_usize << log2) / size_of::<M::Item>();
        let items: Vec<M::Item> = (0..length).into_par_iter().map(M::Item::from_index).collect();
        let expected = *tree::inclusive_scan(&M::default(), &items).last().expect("there are items");
        let mut places = items.clone();
        let bytes = format!("2^{log2} bytes");
        group.throughput(Throughput::Bytes(2 * size_of_val(&items[..]) as u64));
        group.bench_function(BenchmarkId::new("copying", &bytes), |bencher| {
            bencher.iter(|| ceiling::copy(&items, &mut places, 64 << 10));
        });
        group.bench_function(BenchmarkId::new("copying, asked for ahead", &bytes), |bencher| {
            bencher.iter(|| ceiling::copy_ahead(&items, &mut places));
        });
        let cpu = Scan::<M>::new(Device::cpu());
        group.bench_function(BenchmarkId::new("cpu", &bytes), |bencher| {
            bencher.iter(|| {
                check::<M>(cpu.inclusive_into(&items, &mut places).map(|()| places[length - 1]), expected);
            });
        });
        let Some(gpu) = &gpu else {
            continue;
        };
        let stream = gpu.stream().expect("a GPU has a stream");
        let scan = Scan::<M>::new(stream.clone());
        let copies: Vec<_> = (0..2).map(|_| gpu.upload(&items).expect("room for the items")).collect();
        let mut scanned = gpu.upload(&items).expect("room for the places");
        group.bench_function(BenchmarkId::new("gpu", &bytes), |bencher| {
            bencher.iter_custom(|rounds| {
                let start = Instant::now();
                for round in 0..rounds {
                    let items = &copies[round as usize % copies.len()];
                    scan.inclusive_into(items, &mut scanned).expect("runs");
                    stream.synchronize().expect("runs");
                }
                let elapsed = start.elapsed();
                let last = gpu.download::<M::Item>(&scanned.slice(length - 1..)).expect("copies")[0];
                check::<M>(Ok(last), expected);
                elapsed
            });
        });
    }
    group.finish();
}

fn check<M: Monoid>(got: Result<M::Item, warpfold::Error>, expected: M::Item)
where
    M::Item: std::fmt::Debug,
{
    let got = got.expect("runs");
    assert!(M::Item::same_bits(&got, &expected), "{got:?} is not {expected:?}");
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let sizes: &[u32] =
        if Device::cuda(0).is_ok() { &[10, 16, 20, 24, 28, 30, 32] } else { &[10, 20, 28, 30] };
    numbers::<f32>(&mut criterion, "f32", sizes);
    numbers::<f64>(&mut criterion, "f64", sizes);
    numbers::<i32>(&mut criterion, "i32", sizes);
    numbers::<u8>(&mut criterion, "u8", sizes);
    bench::<MaxByNorm>(&mut criterion, "12-byte max by norm", sizes);
    bench::<Matrix2Product<f32>>(&mut criterion, "2x2 matrix product of f32", sizes);
    bench::<Matrix2Product<u32>>(&mut criterion, "2x2 matrix product of u32", sizes);
    let sizes = if Device::cuda(0).is_ok() { &[10, 20, 24, 28, 30][..] } else { &[10, 20, 28] };
    scans::<Sum<f32>>(&mut criterion, "scan by sum of f32", sizes);
    scans::<Sum<i32>>(&mut criterion, "scan by sum of i32", sizes);
    scans::<MaxByNorm>(&mut criterion, "scan by 12-byte max by norm", sizes);
    criterion.final_summary();
}

fn numbers<T: Number + FromIndex + std::iter::Sum + std::fmt::Debug>(
    criterion: &mut Criterion,
    item: &str,
    sizes: &[u32],
) where
    Sum<T>: DeviceMonoid<Item = T>,
    Min<T>: DeviceMonoid<Item = T>,
    Max<T>: DeviceMonoid<Item = T>,
{
    bench::<Sum<T>>(criterion, &format!("sum of {item}"), sizes);
    bench::<Min<T>>(criterion, &format!("min of {item}"), sizes);
    bench::<Max<T>>(criterion, &format!("max of {item}"), sizes);
    beside::<T>(criterion, &format!("sum of {item}"));
}

/// Compares with sums by rayon and by the standard library, and with loops that only read.
fn beside<T: Number + FromIndex + std::iter::Sum>(criterion: &mut Criterion, name: &str) {
    let items: Vec<T> = (0..(1 << 30) / size_of::<T>()).into_par_iter().map(T::from_index).collect();
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).throughput(Throughput::Bytes(size_of_val(&items[..]) as u64));
    // rayon adds floats in a different order at every run, and integers wrap, so any number is
    // accepted.
    let is_a_number = |sum: T| assert!(sum.partial_cmp(&sum).is_some());
    group.bench_function("rayon par_iter().sum()/2^30 bytes", |bencher| {
        bencher.iter(|| is_a_number(items.par_iter().copied().sum()));
    });
    group.bench_function("iter().sum()/2^30 bytes", |bencher| {
        bencher.iter(|| is_a_number(items.iter().copied().sum()));
    });
    let expected = ceiling::read(&items);
    group.bench_function("only reading/2^30 bytes", |bencher| {
        bencher.iter(|| assert_eq!(ceiling::read(&items), expected));
    });
    group.bench_function("only reading, asked for ahead/2^30 bytes", |bencher| {
        bencher.iter(|| assert_eq!(ceiling::read_ahead(&items), expected));
    });
    group.finish();
}
