//! Finds the point farthest from the origin. The points come with the crate, from a file, or from a
//! random generator.
//!
//! ```text
//! cargo run --release --example farthest_point
//! cargo run --release --example farthest_point -- points.npy
//! cargo run --release --example farthest_point -- --random 100000000
//! ```

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpfold::{Device, DeviceType, Monoid, Reduction, monoid};

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    z: f32,
}

/// The point farthest from the origin; the earlier one on a tie. It is exact and associative if no
/// square of a coordinate overflows or underflows, and no coordinate is NaN. [`warn`] counts the
/// points for which this does not hold.
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

const MOST_RANDOM: u64 = 10_000_000_000;

/// Finds the point farthest from the origin.
#[derive(Parser)]
struct Arguments {
    /// A `.npy` file of shape (n, 3) and type f32, or a `.csv` file with three columns. The default
    /// is the vertices of the Stanford bunny.
    file: Option<PathBuf>,
    /// Number of random points to use instead of a file: at most 10^10, of 12 bytes each.
    #[arg(long, value_name = "N", conflicts_with = "file", value_parser = clap::value_parser!(u64).range(..=MOST_RANDOM))]
    random: Option<u64>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let points = match (&arguments.file, arguments.random) {
        (Some(path), _) => read(path).with_context(|| path.display().to_string())?,
        (None, Some(count)) => random(usize::try_from(count)?)?,
        (None, None) => read_csv(&include_bytes!("data/bunny.csv")[..])?,
    };

    let device = Device::auto();
    println!("device    {device}");
    println!("points    {}", points.len());
    if points.is_empty() {
        println!("farthest  no points");
        return Ok(());
    }
    warn(&points);
    let reduction = Reduction::<MaxByNorm>::new(device.clone());
    let (compiling, compiled) = timed(|| reduction.compile());
    compiled?;
    let (host, farthest) = timed(|| reduction.run(&points));
    let farthest = farthest?;

    let Point { x, y, z } = farthest;
    println!("farthest  ({x}, {y}, {z})");
    println!("bits      {:08x} {:08x} {:08x}", x.to_bits(), y.to_bits(), z.to_bits());
    println!("norm      {}", (x * x + y * y + z * z).sqrt());
    let bytes = size_of_val(&points[..]);
    println!("time      {}", rate(host, bytes));
    if let Some(stream) = device.stream() {
        println!("          (from host memory, on the CPU or the GPU; compiled before, in {compiling:.2?})");
        let on_device = stream.clone_htod(&points)?;
        let mut again = Duration::MAX;
        for _ in 0..5 {
            let (time, result) = timed(|| reduction.run(&on_device));
            ensure!(Point::same_bits(&result?, &farthest), "two runs disagree: a bug of warpfold");
            again = again.min(time);
        }
        println!("          {} (from GPU memory, best of 5)", rate(again, bytes));
    }
    Ok(())
}

/// Says which points the operator cannot compare.
fn warn(points: &[Point]) {
    let count = |of: fn(&Point) -> bool| points.iter().filter(|point| of(point)).count();
    let nan = count(|point| [point.x, point.y, point.z].iter().any(|value| value.is_nan()));
    let far = count(|point| (point.x * point.x + point.y * point.y + point.z * point.z).is_infinite());
    if nan > 0 {
        println!(
            "warning   {nan} points have a NaN coordinate: the first point wins if it is one, others never"
        );
    }
    if far > 0 {
        println!("warning   the squares of {far} points overflow: the first of them wins");
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn rate(time: Duration, bytes: usize) -> String {
    format!("{time:.2?}, {:.2} GB/s", bytes as f64 / 1e9 / time.as_secs_f64())
}

fn read(path: &Path) -> Result<Vec<Point>> {
    let file = BufReader::new(File::open(path)?);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("npy") => read_npy(file),
        Some("csv") => read_csv(file),
        _ => bail!("expected a .npy or a .csv file"),
    }
}

fn read_npy(file: impl Read) -> Result<Vec<Point>> {
    let array = npyz::NpyFile::new(file)?;
    ensure!(matches!(array.shape(), [_, 3]), "expected the shape (n, 3), found {:?}", array.shape());
    let rows = array.shape()[0] as usize;
    let order = array.order();
    let dtype = array.dtype().descr();
    let Ok(reader) = array.try_data::<f32>() else { bail!("expected the type f32, found {dtype}") };
    let count = reader.len();
    let mut values = Vec::new();
    for value in reader {
        let read = values.len();
        values.push(value.with_context(|| format!("the file ends after {read} of {count} values"))?);
    }
    let at = |row: usize, column: usize| match order {
        npyz::Order::C => values[3 * row + column],
        npyz::Order::Fortran => values[rows * column + row],
    };
    Ok((0..rows).map(|row| Point { x: at(row, 0), y: at(row, 1), z: at(row, 2) }).collect())
}

/// Reads three columns of numbers. The first line may hold the names of the columns.
fn read_csv(file: impl Read) -> Result<Vec<Point>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(file);
    let mut points = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let record = record?;
        ensure!(record.len() == 3, "line {}: expected three columns, found {}", index + 1, record.len());
        let numbers: Result<Vec<f32>, _> = record.iter().map(str::parse).collect();
        match numbers {
            Ok(numbers) => points.push(Point { x: numbers[0], y: numbers[1], z: numbers[2] }),
            // The first line holds names if none of its fields is a number.
            Err(_) if index == 0 && record.iter().all(|field| field.parse::<f32>().is_err()) => {}
            Err(error) => bail!("line {}: {error}", index + 1),
        }
    }
    Ok(points)
}

/// Random points in the cube from -1 to 1. The count is also the seed.
fn random(count: usize) -> Result<Vec<Point>> {
    const STEP: usize = 1 << 20;
    let style = ProgressStyle::with_template("making points {bar:40} {human_pos}/{human_len} {eta}");
    let mut points = Vec::new();
    points.try_reserve_exact(count).with_context(|| format!("{count} points do not fit into memory"))?;
    let bar =
        ProgressBar::new(count as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut random = SmallRng::seed_from_u64(count as u64);
    while points.len() < count {
        let step = STEP.min(count - points.len());
        points.extend((0..step).map(|_| Point {
            x: random.random_range(-1.0..1.0),
            y: random.random_range(-1.0..1.0),
            z: random.random_range(-1.0..1.0),
        }));
        bar.inc(step as u64);
    }
    bar.finish_and_clear();
    Ok(points)
}
