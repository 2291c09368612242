//! Searches for the shape of the kernel for large inputs. It writes a row of CSV for each candidate
//! and operator.
//!
//! The values of `Policy::for_item` were chosen by hand from such a table.

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::{Context, Result, ensure};
use warpfold::cudarc::driver::CudaView;
use warpfold::plan::Shape;
use warpfold::{DeviceType, Policy, Reduction};

use super::operators::{self, Measured, Visitor};
use super::{COLD_BYTES, Gpu};

/// Powers of two of bytes.
const SIZES: [u32; 3] = [26, 28, 30];
const SAMPLES: usize = 5;

pub struct Search<'a> {
    pub gpu: &'a Gpu,
    pub out: &'a mut BufWriter<File>,
    /// Powers of two of bytes. `None`: [`SIZES`].
    pub sizes: Option<Vec<u32>>,
    /// Names of operators or items to measure. Empty: all.
    pub only: &'a [String],
}

/// Measures every candidate.
pub fn all(mut search: Search<'_>) -> Result<()> {
    let columns =
        "operator,item,item_bytes,bytes,group_items,rows,merged_tiles,warps,blocks_per_multiprocessor";
    writeln!(search.out, "{columns},tiles_per_warp,is_default,median_us,gb_per_s")?;
    operators::all(&mut search);
    Ok(search.out.flush()?)
}

/// The default policy, and candidates with other rows, merged tiles, warps in a block, blocks on a
/// multiprocessor and tiles for each warp.
fn candidates(default: Policy) -> Vec<Policy> {
    let mut candidates = vec![default];
    for rows in [1, 2, 4, 8, 16] {
        // More rows do not fit in registers. Fewer rows leave memory idle.
        let is_near = (default.large.rows / 2..=default.large.rows * 2).contains(&rows);
        for merged_tiles in [1, 4].into_iter().filter(|_| is_near) {
            for (warps, blocks_per_multiprocessor) in [(4, 3), (4, 4), (8, 2)] {
                for tiles_per_warp in [2, 4, 8] {
                    let large =
                        Shape { rows, merged_tiles, warps, blocks_per_multiprocessor, ..default.large };
                    // `max_full_waves` is 0 so that `tiles_per_warp` holds, whether or not the
                    // blocks fill the GPU.
                    let candidate = Policy { large, tiles_per_warp, max_full_waves: 0, ..default };
                    if !candidates.contains(&candidate) {
                        candidates.push(candidate);
                    }
                }
            }
        }
    }
    candidates
}

impl Visitor for Search<'_> {
    fn visit<M: Measured>(&mut self, operator: &str, item: &str, fill: &str) {
        if !operators::is_asked(self.only, operator, item) {
            return;
        }
        self.measure::<M>(operator, item, fill)
            .unwrap_or_else(|error| panic!("{operator} of {item}: {error:#}"));
        eprintln!("{operator} of {item}");
    }
}

impl Search<'_> {
    fn measure<M: Measured>(&mut self, operator: &str, item: &str, fill: &str) -> Result<()> {
        let item_bytes = size_of::<M::Item>();
        let default = *Reduction::<M>::new(self.gpu.stream.clone()).policy();
        for log2 in self.sizes.clone().unwrap_or(SIZES.to_vec()) {
            let bytes = 1_usize << log2;
            let count = bytes / item_bytes;
            let views: Vec<CudaView<'_, M::Item>> = (0..COLD_BYTES.div_ceil(bytes).clamp(2, 64))
                .map(|view| {
                    let part = self.gpu.arena.slice(view * bytes..);
                    // SAFETY: the slice is aligned for the item, and filled with items before it is
                    // read.
                    unsafe { part.transmute::<M::Item>(count) }.context("the arena is too small")
                })
                .collect::<Result<_>>()?;
            for view in &views {
                self.gpu.fill(fill, view)?;
            }
            let expected = Reduction::<M>::new(self.gpu.stream.clone()).run(&views[0])?;
            for policy in candidates(default) {
                let reduction = Reduction::<M>::new(self.gpu.stream.clone()).with_policy(policy);
                // The shape needs more shared memory than the GPU has.
                if reduction.compile().is_err() {
                    continue;
                }
                let result = reduction.run(&views[0])?;
                ensure!(M::Item::same_bits(&result, &expected), "another result under {policy:?}");
                let mut times = self.gpu.reduction_times(&reduction, &views, SAMPLES)?;
                times.sort_by(f64::total_cmp);
                let (median, shape) = (times[times.len() / 2], policy.large);
                writeln!(
                    self.out,
                    "{operator},{item},{item_bytes},{bytes},{},{},{},{},{},{},{},{median:.3},{:.0}",
                    shape.group_items,
                    shape.rows,
                    shape.merged_tiles,
                    shape.warps,
                    shape.blocks_per_multiprocessor,
                    policy.tiles_per_warp,
                    policy == default,
                    bytes as f64 / median / 1e3
                )?;
            }
        }
        Ok(())
    }
}
