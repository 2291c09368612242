//! Times every rung on a GPU, from the call to the result on the host. The items are in device
//! memory, or are copied there within the time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use warpfold::cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, LaunchConfig, PinnedHostSlice, PushKernelArg, sys,
};
use warpfold::cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};
use warpfold::ladder::{Finish, Ladder, Role, Rung};
use warpfold::operators::Sum;
use warpfold::{Device, Error, Reduction, Scan};

/// One measured time.
pub struct Row {
    pub length: u64,
    /// Threads in a block; 0 if there is no choice.
    pub threads: u32,
    pub what: String,
    pub place: Place,
    pub seconds: f64,
}

/// The location of the items when the clock starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Device,
    /// In device memory, for a scan.
    Scan,
    /// In pageable host memory.
    Pageable,
    Pinned,
    /// In pinned host memory, in parts. Several streams copy and reduce them concurrently.
    Streams,
    /// In host memory, for a reduction on the CPU.
    Cpu,
}

pub const CEILING: &str = "read ceiling";
pub const COPY: &str = "copy ceiling";
pub const PRODUCT: &str = "warpfold";
pub const LOOP: &str = "one thread";

/// A rung, and the way in which its partials are reduced.
pub struct Climb {
    pub name: String,
    pub rung: Rung,
    finish: Finish,
}

/// The reductions in the order of the ladder. Each is a line of a table.
pub fn climbs() -> Vec<Climb> {
    let mut climbs = Vec::new();
    for rung in Rung::ALL.into_iter().filter(|rung| rung.role() == Role::Reduces) {
        let finishes: &[(&str, Finish)] = match rung {
            Rung::GlobalHalving => &[("", Finish::Launches), (", CPU below a block", Finish::HostBelowBlock)],
            Rung::Shuffles => &[
                ("", Finish::Launches),
                (", CPU for partials", Finish::Host),
                (", CPU below a block", Finish::HostBelowBlock),
            ],
            _ => &[("", Finish::Launches)],
        };
        let short = if rung == Rung::GlobalHalving { "halving" } else { rung.name() };
        climbs.extend(finishes.iter().map(|&(by, finish)| {
            let name = if by.is_empty() { rung.name().to_owned() } else { format!("{short}{by}") };
            Climb { name, rung, finish }
        }));
    }
    climbs
}

/// Time for the calls of a figure, and the time after which no further call begins, even if there
/// were fewer than three.
const BUDGET: Duration = Duration::from_millis(25);
const LONGEST: Duration = Duration::from_millis(500);
const STREAMS: usize = 4;
/// Bytes of a part that a stream copies and reduces at once.
const PART_BYTES: usize = 8 << 20;

struct Measurement<'a> {
    length: u64,
    expected: f32,
    rows: &'a mut Vec<Row>,
}

impl Measurement<'_> {
    /// Times a reduction in seconds, as the shortest of several calls. Each call must give the sum.
    fn sum(
        &mut self,
        what: &str,
        threads: u32,
        place: Place,
        mut call: impl FnMut() -> Result<f32, Error>,
    ) -> Result<f64> {
        let expected = self.expected;
        self.time(what, threads, place, || {
            let sum = call()?;
            ensure!(sum == expected, "{what} in blocks of {threads} gives {sum}, not {expected}");
            Ok(())
        })
    }

    fn time(
        &mut self,
        what: &str,
        threads: u32,
        place: Place,
        mut call: impl FnMut() -> Result<()>,
    ) -> Result<f64> {
        call()?;
        let begin = Instant::now();
        let mut shortest = f64::INFINITY;
        let mut calls = 0;
        while calls < 3 || (begin.elapsed() < BUDGET && calls < 1000) {
            let start = Instant::now();
            call()?;
            shortest = shortest.min(start.elapsed().as_secs_f64());
            calls += 1;
            if begin.elapsed() > LONGEST {
                break;
            }
        }
        self.rows.push(Row { length: self.length, threads, what: what.to_owned(), place, seconds: shortest });
        Ok(shortest)
    }
}

/// All figures for one number of items.
pub fn all(device: &Device, length: usize, of_blocks: &[u32]) -> Result<Vec<Row>> {
    let stream = device.stream().context("a GPU")?;
    keep_memory(stream.context())?;
    let items: Vec<f32> = (0..length as u64).into_par_iter().map(item).collect();
    let expected = Reduction::<Sum<f32>>::new(Device::cpu()).run(&items)?;
    let on_device = stream.clone_htod(&items)?;
    let mut rows = Vec::new();
    let mut measurement = Measurement { length: length as u64, expected, rows: &mut rows };

    ceilings(&mut measurement, stream, &on_device)?;
    for &threads in of_blocks {
        for Climb { name, rung, finish } in climbs() {
            let is_measured = match rung {
                // This rung uses one thread, whatever the block size.
                Rung::Sequential => Some(&threads) == of_blocks.first() && length <= 1 << 22,
                // This rung uses one block.
                Rung::TopDown => length <= 1 << 26,
                _ => true,
            };
            if is_measured {
                let ladder = Ladder::<Sum<f32>>::new(device.clone()).threads(threads).finish(finish);
                measurement.sum(&name, threads, Place::Device, || ladder.reduce(rung, &on_device))?;
            }
        }
    }
    let product = Reduction::<Sum<f32>>::new(device.clone());
    product.compile()?;
    measurement.sum(PRODUCT, 0, Place::Device, || product.run(&on_device))?;

    for &threads in of_blocks {
        let ladder = Ladder::<Sum<f32>>::new(device.clone()).threads(threads);
        for rung in [Rung::KoggeStone, Rung::BrentKung] {
            measurement.time(rung.name(), threads, Place::Scan, || {
                let scanned = ladder.inclusive(rung, &on_device)?;
                Ok(scanned.stream().synchronize()?)
            })?;
        }
    }
    let product_scan = Scan::<Sum<f32>>::new(device.clone());
    measurement.time(PRODUCT, 0, Place::Scan, || {
        let scanned = product_scan.inclusive(&on_device)?;
        Ok(scanned.stream().synchronize()?)
    })?;

    transfers(&mut measurement, device, stream, &items)?;
    measurement.sum(PRODUCT, 0, Place::Cpu, {
        let cpu = Reduction::<Sum<f32>>::new(Device::cpu());
        let items = &items;
        move || cpu.run(items)
    })?;
    measurement.sum(LOOP, 0, Place::Cpu, || Ok(items.iter().sum()))?;
    Ok(rows)
}

/// 1 or -1 at random. Sums of up to a billion of these items are exact in any order.
fn item(index: u64) -> f32 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    if mixed >> 63 == 0 { 1.0 } else { -1.0 }
}

/// Times reductions with their copies to the GPU: from pageable memory, from pinned memory, and
/// from pinned memory by several streams.
fn transfers(
    measurement: &mut Measurement,
    device: &Device,
    stream: &Arc<CudaStream>,
    items: &[f32],
) -> Result<()> {
    let mut pinned = pinned(stream.context(), items.len())?;
    let pinned_items = pinned.as_mut_slice()?;
    pinned_items.copy_from_slice(items);
    let pinned_items = &*pinned_items;
    let devices: Vec<Device> =
        (0..STREAMS).map(|_| Ok(Device::from(stream.context().new_stream()?))).collect::<Result<_>>()?;
    let few = |climb: &Climb| !matches!(climb.rung, Rung::Sequential | Rung::TopDown);
    for Climb { name, rung, finish } in climbs().into_iter().filter(few) {
        let on = |device: &Device| Ladder::<Sum<f32>>::new(device.clone()).finish(finish);
        let ladder = on(device);
        measurement.sum(&name, 256, Place::Pageable, || ladder.reduce(rung, items))?;
        measurement.sum(&name, 256, Place::Pinned, || ladder.reduce(rung, pinned_items))?;
        let ladders: Vec<_> = devices.iter().map(on).collect();
        measurement.sum(&name, 256, Place::Streams, || {
            in_parts(pinned_items, &ladders, |ladder, part| ladder.reduce(rung, part))
        })?;
    }
    let product = Reduction::<Sum<f32>>::new(device.clone());
    product.compile()?;
    measurement.sum(PRODUCT, 0, Place::Pageable, || product.run(items))?;
    measurement.sum(PRODUCT, 0, Place::Pinned, || product.run(pinned_items))?;
    let products: Vec<_> = devices.iter().map(|device| Reduction::<Sum<f32>>::new(device.clone())).collect();
    measurement.sum(PRODUCT, 0, Place::Streams, || {
        in_parts(pinned_items, &products, |product, part| product.run(part))
    })?;
    Ok(())
}

/// The sum of all parts. Each stream takes every `STREAMS`-th part, so that copies and reductions
/// of different streams overlap.
fn in_parts<S: Sync>(
    items: &[f32],
    streams: &[S],
    reduce: impl Fn(&S, &[f32]) -> Result<f32, Error> + Sync,
) -> Result<f32, Error> {
    let parts: Vec<&[f32]> = items.chunks(PART_BYTES / size_of::<f32>()).collect();
    std::thread::scope(|scope| {
        let (parts, reduce) = (&parts, &reduce);
        let of_stream = |(first, stream)| {
            scope.spawn(move || {
                parts
                    .iter()
                    .skip(first)
                    .step_by(STREAMS)
                    .map(|part| reduce(stream, part))
                    .sum::<Result<f32, _>>()
            })
        };
        let threads: Vec<_> = streams.iter().enumerate().map(of_stream).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}

/// Pinned memory without write combining, so that the host reads it fast as well.
fn pinned(context: &Arc<CudaContext>, length: usize) -> Result<PinnedHostSlice<f32>> {
    // SAFETY: all of it is written before it is read.
    Ok(unsafe { context.alloc_pinned_with_flags(length, 0) }?)
}

/// Times kernels that only read and only copy device memory.
fn ceilings(measurement: &mut Measurement, stream: &Arc<CudaStream>, items: &CudaSlice<f32>) -> Result<()> {
    // SAFETY: the function only looks for the library.
    let present = unsafe { warpfold::cudarc::nvrtc::sys::is_culib_present() };
    ensure!(present, "the ceilings are compiled by NVRTC, which is not on the library path");
    let (major, minor) = stream.context().compute_capability()?;
    let options = vec![format!("--gpu-architecture=compute_{major}{minor}")];
    let options = CompileOptions { options, ..CompileOptions::default() };
    let ptx = compile_ptx_with_opts(include_str!("ceilings.cu"), options)?;
    let module = stream.context().load_module(ptx)?;
    let (read, copy) = (module.load_function("read")?, module.load_function("copy")?);
    let words = items.len() as u64 / 4;
    let blocks = words.div_ceil(256 * 8).clamp(1, 1 << 20) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut never = stream.alloc_zeros::<u32>(1)?;
    measurement.time(CEILING, 0, Place::Device, || {
        // SAFETY: the kernel reads `words` words of 16 bytes, and writes at most one word of 4
        // bytes.
        unsafe { stream.launch_builder(&read).arg(items).arg(&words).arg(&mut never).launch(config) }?;
        Ok(stream.synchronize()?)
    })?;
    let mut other = stream.alloc_zeros::<f32>(items.len())?;
    measurement.time(COPY, 0, Place::Scan, || {
        // SAFETY: the kernel reads and writes `words` words of 16 bytes.
        unsafe { stream.launch_builder(&copy).arg(items).arg(&words).arg(&mut other).launch(config) }?;
        Ok(stream.synchronize()?)
    })?;
    Ok(())
}

/// Makes the context's pool keep freed memory. Otherwise allocation would take most of the time.
fn keep_memory(context: &CudaContext) -> Result<()> {
    let mut pool = std::ptr::null_mut();
    let mut all = u64::MAX;
    let attribute = sys::CUmemPool_attribute_enum::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the device exists, the pool belongs to it, and the attribute is a `u64`.
    unsafe {
        sys::cuDeviceGetDefaultMemPool(&mut pool, context.cu_device()).result()?;
        sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut all).cast()).result()?;
    }
    Ok(())
}
