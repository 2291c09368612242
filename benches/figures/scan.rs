//! Times scans on a GPU. The rows are like those of reductions; with `--search` there is a row for
//! each shape.

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::{Context, Result, ensure};
use warpfold::cudarc::driver::CudaSlice;
use warpfold::operators::{AffineComposition, Matrix2Product, Max, Min, Sum};
use warpfold::plan::{ScanPolicy, ScanShape};
use warpfold::{Device, DeviceType, Scan};

use super::operators::{MaxByNorm, Measured};
use super::{CHECKED_BYTES, COLD_BYTES, Gpu, MAX_CALLS, Subject, hexadecimal, row};

/// Powers of two of bytes, for sums of `f32` and for all other operators.
const SIZES: [u32; 15] = [12, 16, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 32];
const FEWER_SIZES: [u32; 4] = [20, 24, 28, 30];
/// Powers of ten of items of `f32` and `i32`, which do not fill their last tile. They are also
/// measured in a stream, and with inputs that a cache may hold.
const COUNTS: [u32; 5] = [3, 4, 5, 6, 7];
const SAMPLES: usize = 15;

pub struct Scans<'a> {
    pub gpu: &'a Gpu,
    pub out: &'a mut BufWriter<File>,
    /// Powers of two of bytes. `None`: the sizes of each operator.
    pub sizes: Option<Vec<u32>>,
    /// Settings of the policy, such as `large.warps=4`.
    pub policy: &'a [(String, u32)],
    pub search: bool,
    /// Names of operators or items to measure. Empty: all.
    pub only: &'a [String],
}

impl Scans<'_> {
    pub fn all(mut self) -> Result<()> {
        self.visit::<Sum<f32>>("sum", "f32", "sign_f32")?;
        self.visit::<Max<u8>>("max", "u8", "bits_u8")?;
        self.visit::<Min<i32>>("min", "i32", "bits_i32")?;
        self.visit::<Sum<f64>>("sum", "f64", "sign_f64")?;
        self.visit::<MaxByNorm>("max-by-norm", "f32x3", "uniform_f32x3")?;
        self.visit::<AffineComposition<f32>>("affine-composition", "f32x2", "map_f32x2")?;
        self.visit::<Matrix2Product<u32>>("matrix-product", "u32x4", "matrix_u32x4")?;
        Ok(self.out.flush()?)
    }

    fn visit<M: Measured>(&mut self, operator: &str, item: &str, fill: &str) -> Result<()> {
        if !super::operators::is_asked(self.only, operator, item) {
            return Ok(());
        }
        let sizes: &[u32] = if (operator, item) == ("sum", "f32") { &SIZES } else { &FEWER_SIZES };
        let item_bytes = size_of::<M::Item>();
        let counts: &[u32] = if matches!(item, "f32" | "i32") && !self.search { &COUNTS } else { &[] };
        let counts = counts.iter().map(|&log10| 10_usize.pow(log10) * item_bytes);
        let sizes = self.sizes.clone().unwrap_or(sizes.to_vec());
        for bytes in sizes.into_iter().map(|log2| 1 << log2).chain(counts) {
            let offsets: &[usize] = if bytes == 1 << 30 { &[0, align_of::<M::Item>()] } else { &[0] };
            for &offset in offsets {
                let subject = Subject { operator, item, item_bytes, bytes, offset, result: String::new() };
                self.measure::<M>(subject, fill)
                    .with_context(|| format!("{operator} of {item}, {bytes} bytes"))?;
            }
        }
        eprintln!("scans by {operator} of {item}");
        Ok(())
    }

    fn measure<M: Measured>(&mut self, mut subject: Subject, fill: &str) -> Result<()> {
        let Subject { bytes, offset, item_bytes, .. } = subject;
        let count = bytes / item_bytes;
        let room = subject.room();
        let views = COLD_BYTES.div_ceil(bytes).clamp(if bytes < 1 << 32 { 2 } else { 1 }, MAX_CALLS);
        let views = self.gpu.views::<M::Item>(&subject, views, fill)?;
        // SAFETY: the output is written before it is read.
        let mut places: CudaSlice<u8> = unsafe { self.gpu.stream.alloc(views.len() * room) }?;
        let default = *Scan::<M>::new(self.gpu.stream.clone()).policy();
        let chosen = changed(default, self.policy)?;
        let candidates = if self.search { candidates(chosen) } else { vec![chosen] };
        let mut expected = None;
        for policy in candidates {
            let scan = Scan::<M>::new(self.gpu.stream.clone()).with_policy(policy);
            if let Err(error) = scan.compile() {
                // There is no kernel of this shape, or it needs more resources than the GPU has.
                ensure!(self.search, "{error}");
                continue;
            }
            let scanned = scan.inclusive(&views[0])?;
            let last = self.gpu.device().download::<M::Item>(&scanned.slice(count - 1..))?[0];
            if expected.is_none() && bytes <= CHECKED_BYTES {
                let items = self.gpu.device().download::<M::Item>(&views[0])?;
                let on_cpu = Scan::<M>::new(Device::cpu()).inclusive(&items)?;
                let on_gpu = self.gpu.device().download::<M::Item>(&scanned)?;
                let differs = std::iter::zip(&on_cpu, &on_gpu).position(|(a, b)| !M::Item::same_bits(a, b));
                ensure!(differs.is_none(), "place {differs:?} is not the CPU's");
            }
            let is_same = expected.is_none_or(|expected| M::Item::same_bits(&expected, &last));
            ensure!(is_same, "another result under {policy:?}");
            expected = Some(last);
            drop(scanned);
            subject.result = hexadecimal(&last);
            let samples = if self.search { 5 } else { SAMPLES };
            let mut call = |view: usize, records: bool| {
                let mut place = places.slice_mut(view * room + offset..);
                // SAFETY: the slice is aligned for the item, and written before it is read.
                let mut place =
                    unsafe { place.transmute_mut::<M::Item>(count) }.context("as much as is read")?;
                if records {
                    // SAFETY: the graph is dropped before the slices.
                    unsafe { scan.record_inclusive_into(&views[view], &mut place) }?;
                } else {
                    scan.inclusive_into(&views[view], &mut place)?;
                }
                Ok(())
            };
            let mut times =
                vec![("graph", self.gpu.graph_times(bytes, samples, |i| call(i % views.len(), true))?)];
            if !bytes.is_power_of_two() {
                let stream = self.gpu.stream_times(bytes, samples, |i| call(i % views.len(), false))?;
                let warm = self.gpu.graph_times(bytes, samples, |_| call(0, true))?;
                times.extend([("stream", stream), ("warm", warm)]);
            }
            let shape = policy.large;
            let who = match self.search {
                true => &format!(
                    "r{}x{}-u{}-w{}x{}-b{}-p{}{}",
                    shape.rows,
                    shape.run_items,
                    shape.unit_items,
                    shape.groups,
                    shape.warps,
                    shape.blocks_per_multiprocessor,
                    shape.places,
                    if policy == default { "-default" } else { "" }
                ),
                false => "warpfold-scan",
            };
            for (time, of_samples) in times {
                row(self.out, who, &subject, time, of_samples)?;
            }
        }
        Ok(())
    }
}

/// The chosen policy, and other policies that use the large shape for all inputs.
fn candidates(chosen: ScanPolicy) -> Vec<ScanPolicy> {
    let mut candidates = vec![chosen];
    for run in [1, 2, 4] {
        for unit in [1, 2, 4] {
            for warps in [4, 8, 16] {
                for blocks_per_multiprocessor in [2, 3, 4, 6, 8] {
                    // Warps on a multiprocessor.
                    if !(16..=48).contains(&(chosen.large.groups * warps * blocks_per_multiprocessor)) {
                        continue;
                    }
                    let run_items = chosen.large.run_items * run / 2;
                    let unit_items = (chosen.large.unit_items * unit / 2).min(run_items);
                    let large =
                        ScanShape { run_items, unit_items, warps, blocks_per_multiprocessor, ..chosen.large };
                    let candidate =
                        ScanPolicy { large, small_bytes: 0, few_tiles: 0, few_waves: 0, ..chosen };
                    if unit_items > 0 && !candidates.contains(&candidate) {
                        candidates.push(candidate);
                    }
                }
            }
        }
    }
    candidates
}

/// The policy with the given settings.
fn changed(mut policy: ScanPolicy, settings: &[(String, u32)]) -> Result<ScanPolicy> {
    for (name, value) in settings {
        let (shape, setting) = match name.split_once('.') {
            Some(("small", setting)) => (&mut policy.small, setting),
            Some(("large", setting)) => (&mut policy.large, setting),
            _ => {
                *match name.as_str() {
                    "small_bytes" => &mut policy.small_bytes,
                    "few_tiles" => &mut policy.few_tiles,
                    "few_waves" => &mut policy.few_waves,
                    _ => anyhow::bail!("a policy has no `{name}`"),
                } = u64::from(*value);
                continue;
            }
        };
        *match setting {
            "run_items" => &mut shape.run_items,
            "rows" => &mut shape.rows,
            "unit_items" => &mut shape.unit_items,
            "warps" => &mut shape.warps,
            "groups" => &mut shape.groups,
            "blocks_per_multiprocessor" => &mut shape.blocks_per_multiprocessor,
            "places" => &mut shape.places,
            _ => anyhow::bail!("a shape has no `{setting}`"),
        } = *value;
    }
    Ok(policy)
}
