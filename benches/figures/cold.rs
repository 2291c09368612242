//! First calls of a process: with an empty cache, and with images in the cache. Second calls are
//! measured for comparison.
//!
//! Each sample is a process of its own. Before its clock starts, the process creates its context
//! and copies its input to the device. If the cache is empty, it also opens NVRTC.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use warpfold::{Device, DeviceType, Reduction, jit};

use super::operators::{self, Measured, Visitor};
use super::{Subject, row};

/// Bytes of a small input, which takes one kernel, and of a large one, which takes two.
const SIZES: [usize; 2] = [1 << 10, 1 << 26];
const SAMPLES: usize = 9;
/// Environment variable: whether the child process compiles before it reduces.
const COMPILES: &str = "WARPFOLD_COLD_COMPILES";
const OPERATORS: [(&str, &str); 3] = [("sum", "f32"), ("max-by-norm", "f32x3"), ("welford", "f64x3")];

/// Writes a row for each kind of time:
///
/// - `compile`: the tuned kernels are compiled.
/// - `first`: the first call with an empty cache, answered by the baseline kernel.
/// - `disk`: the first call with images in the cache.
/// - `again`: the second call of that process.
/// - `second`: the next call of that process, by a second `Reduction`.
///
/// The times of calls end when the host has the result.
pub fn all(out: &mut impl Write) -> Result<()> {
    for (operator, item) in OPERATORS {
        for bytes in SIZES {
            let mut samples = [const { Vec::new() }; 5];
            for _ in 0..SAMPLES {
                let caches = [tempfile::tempdir()?, tempfile::tempdir()?];
                let [_, first, ..] = child(operator, item, bytes, caches[0].path(), Until::Answered)?;
                let [compile, ..] = child(operator, item, bytes, caches[1].path(), Until::Compiled)?;
                let [_, disk, again, second] =
                    child(operator, item, bytes, caches[1].path(), Until::Answered)?;
                for (samples, time) in samples.iter_mut().zip([compile, first, disk, again, second]) {
                    samples.push(time);
                }
            }
            let mut subject =
                Subject { operator, item, item_bytes: 0, bytes, offset: 0, result: "-".to_owned() };
            operators::all(&mut ItemBytes(&mut subject));
            for (time, samples) in ["compile", "first", "disk", "again", "second"].into_iter().zip(samples) {
                row(out, "warpfold", &subject, time, samples)?;
            }
        }
    }
    Ok(())
}

/// The point at which a child process has done its work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Answered,
    Compiled,
}

struct ItemBytes<'a, 'b>(&'a mut Subject<'b>);

impl Visitor for ItemBytes<'_, '_> {
    fn visit<M: Measured>(&mut self, operator: &str, item: &str, _: &str) {
        if (operator, item) == (self.0.operator, self.0.item) {
            self.0.item_bytes = size_of::<M::Item>();
        }
    }
}

/// Times of a child process in microseconds: of compiling, of the first and second call, and of a
/// call by a second `Reduction`.
fn child(operator: &str, item: &str, bytes: usize, cache: &Path, until: Until) -> Result<[f64; 4]> {
    let child = Command::new(std::env::current_exe()?)
        .args(["--cold-process", operator, item, &bytes.to_string()])
        .env(COMPILES, if until == Until::Compiled { "yes" } else { "no" })
        .env("WARPFOLD_CACHE_DIR", cache)
        // NVRTC has a cache of its own, which would hold the operator of the previous sample.
        .env("CUDA_CACHE_DISABLE", "1")
        .output()?;
    ensure!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    let said = String::from_utf8(child.stdout)?;
    let times: Vec<f64> = said.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    times.try_into().ok().context("four times")
}

/// The child process.
pub fn process(operator: &str, item: &str, bytes: &str) -> Result<()> {
    let mut timed = Timed { operator, item, bytes: bytes.parse()?, result: None };
    operators::all(&mut timed);
    let [compile, first, again, second] = timed.result.context("no such operator")??;
    println!("{compile} {first} {again} {second}");
    Ok(())
}

struct Timed<'a> {
    operator: &'a str,
    item: &'a str,
    bytes: usize,
    result: Option<Result<[f64; 4]>>,
}

impl Visitor for Timed<'_> {
    fn visit<M: Measured>(&mut self, operator: &str, item: &str, _: &str) {
        if (operator, item) == (self.operator, self.item) {
            self.result = Some(times::<M>(self.bytes));
        }
    }
}

fn times<M: Measured>(bytes: usize) -> Result<[f64; 4]> {
    let images = PathBuf::from(std::env::var_os("WARPFOLD_CACHE_DIR").context("a cache")?).join("images");
    let (is_first, compiles) =
        (!images.exists(), std::env::var_os(COMPILES).is_some_and(|value| value == "yes"));
    // If the cache is empty, this opens NVRTC.
    jit::available()?;
    let device = Device::cuda(0)?;
    let stream = device.stream().context("a GPU has a stream")?.context().new_stream()?;
    let items =
        Device::from(stream.clone()).upload(&vec![M::default().identity(); bytes / size_of::<M::Item>()])?;
    stream.synchronize()?;

    let start = Instant::now();
    if compiles {
        Reduction::<M>::new(stream.clone()).compile()?;
    }
    let compile_time = start.elapsed();
    let start = Instant::now();
    let reduction = Reduction::<M>::new(stream.clone());
    let first = reduction.run(&items)?;
    let first_time = start.elapsed();
    let start = Instant::now();
    let again = reduction.run(&items)?;
    let again_time = start.elapsed();
    let start = Instant::now();
    let second = Reduction::<M>::new(stream.clone()).run(&items)?;
    let second_time = start.elapsed();

    ensure!(M::Item::same_bits(&first, &second) && M::Item::same_bits(&first, &again), "another result");
    if let (false, Ok(maps)) = (is_first, std::fs::read_to_string("/proc/self/maps")) {
        ensure!(!maps.contains("libnvrtc.so"), "NVRTC was opened, with images on the disk");
    }
    Ok([compile_time, first_time, again_time, second_time].map(|time| time.as_secs_f64() * 1e6))
}
