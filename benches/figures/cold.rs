//! A process that reduces for the first time: with nothing in the cache, with images in it, and once more.
//!
//! Each sample is a process of its own, which times one call. Its context and, where nothing is in the cache, NVRTC are
//! open before; its input is on the device.

use std::io::Write;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use warpfold::{Device, DeviceMonoid, DeviceType, Reduction, jit};

use super::operators::{self, Visitor};
use super::{Subject, row};

/// Those of small inputs, of one kernel, and of large ones, of two.
const SIZES: [usize; 2] = [1 << 10, 1 << 26];
const SAMPLES: usize = 9;
const OPERATORS: [(&str, &str); 3] = [("sum", "f32"), ("max-by-norm", "f32x3"), ("welford", "f64x3")];

/// Rows: `first`, `disk`, and `second` for a second `Reduction` of the process, call and result included.
pub fn all(out: &mut impl Write) -> Result<()> {
    for (operator, item) in OPERATORS {
        for bytes in SIZES {
            let mut samples = [const { Vec::new() }; 3];
            for _ in 0..SAMPLES {
                let cache = tempfile::tempdir()?;
                let times = [
                    child(operator, item, bytes, cache.path())?,
                    child(operator, item, bytes, cache.path())?,
                ];
                samples[0].push(times[0][0]);
                samples[1].push(times[1][0]);
                samples[2].push(times[1][1]);
            }
            let mut subject =
                Subject { operator, item, item_bytes: 0, bytes, offset: 0, result: "-".to_owned() };
            operators::all(&mut ItemBytes(&mut subject));
            for (time, samples) in ["first", "disk", "second"].into_iter().zip(samples) {
                row(out, "warpfold", &subject, time, samples)?;
            }
        }
    }
    Ok(())
}

struct ItemBytes<'a, 'b>(&'a mut Subject<'b>);

impl Visitor for ItemBytes<'_, '_> {
    fn visit<M: DeviceMonoid + Default>(&mut self, operator: &str, item: &str, _: &str) {
        if (operator, item) == (self.0.operator, self.0.item) {
            self.0.item_bytes = size_of::<M::Item>();
        }
    }
}

/// The microseconds of a first and a second reduction in another process.
fn child(operator: &str, item: &str, bytes: usize, cache: &std::path::Path) -> Result<[f64; 2]> {
    let child = Command::new(std::env::current_exe()?)
        .args(["--cold-process", operator, item, &bytes.to_string()])
        .env("WARPFOLD_CACHE_DIR", cache)
        // NVRTC has one of its own, which would have the operator from the sample before.
        .env("CUDA_CACHE_DISABLE", "1")
        .output()?;
    ensure!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    let said = String::from_utf8(child.stdout)?;
    let times: Vec<f64> = said.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    times.try_into().ok().context("two times")
}

/// The other process.
pub fn process(operator: &str, item: &str, bytes: &str) -> Result<()> {
    let mut timed = Timed { operator, item, bytes: bytes.parse()?, result: None };
    operators::all(&mut timed);
    let [first, second] = timed.result.context("no such operator")??;
    println!("{first} {second}");
    Ok(())
}

struct Timed<'a> {
    operator: &'a str,
    item: &'a str,
    bytes: usize,
    result: Option<Result<[f64; 2]>>,
}

impl Visitor for Timed<'_> {
    fn visit<M: DeviceMonoid + Default>(&mut self, operator: &str, item: &str, _: &str) {
        if (operator, item) == (self.operator, self.item) {
            self.result = Some(times::<M>(self.bytes));
        }
    }
}

fn times<M: DeviceMonoid + Default>(bytes: usize) -> Result<[f64; 2]> {
    let images =
        std::path::PathBuf::from(std::env::var_os("WARPFOLD_CACHE_DIR").context("a cache")?).join("images");
    let is_first = !images.exists();
    // With nothing in the cache, this opens NVRTC.
    jit::available()?;
    let device = Device::cuda(0)?;
    let stream = device.stream().context("a GPU has a stream")?.context().new_stream()?;
    let items = stream.clone_htod(&vec![M::default().identity(); bytes / size_of::<M::Item>()])?;
    stream.synchronize()?;

    let start = Instant::now();
    let first = Reduction::<M>::new(stream.clone()).run(&items)?;
    let first_time = start.elapsed();
    let start = Instant::now();
    let second = Reduction::<M>::new(stream.clone()).run(&items)?;
    let second_time = start.elapsed();

    ensure!(M::Item::same_bits(&first, &second), "another result");
    if let (false, Ok(maps)) = (is_first, std::fs::read_to_string("/proc/self/maps")) {
        ensure!(!maps.contains("libnvrtc.so"), "NVRTC was opened, with images on the disk");
    }
    Ok([first_time, second_time].map(|time| time.as_secs_f64() * 1e6))
}
