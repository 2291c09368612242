//! What a reduction of segments launches.

use super::SegmentKernel;
use crate::cuda::driver::check;
use crate::explanation::ExplainedLaunch;
use crate::plan::{Kernel, SegmentPolicy, Segments, Stage};
use crate::source::Reader;
use crate::{DeviceMonoid, Error};

impl SegmentKernel {
    /// The launches that reduce segments, and the bytes of their scratch memory. Compiles missing
    /// kernels.
    pub(crate) fn explain<M: DeviceMonoid, R: Reader>(
        &self,
        segments: Segments,
    ) -> Result<(Vec<ExplainedLaunch>, u64), Error> {
        let launches = self.launches::<M, R>(segments)?;
        check("binding the context", self.kernels.context.bind_to_thread())?;
        let mut explained = Vec::new();
        for (number, launch) in launches.iter().enumerate() {
            let kernels = if number == 0 { self } else { self.of_partials() };
            let count = |resident| launch.blocks(&kernels.policy, resident);
            let blocks = kernels.blocks(launch.kernel, count, number > 0)?;
            let items = launch.segments.count * launch.segments.length;
            explained.push(kernels.kernels.explain(launch.kernel, items, blocks)?);
        }
        Ok((explained, SegmentPolicy::memory_bytes(&launches, &self.kernels.data.item)))
    }

    /// The same for segments of an input of this length, which offsets give. The launches for long
    /// segments read as many items as these have, which only the offsets tell: at most all.
    pub(crate) fn explain_by_offsets<M: DeviceMonoid, R: Reader>(
        &self,
        segments: u64,
        length: u64,
    ) -> Result<(Vec<ExplainedLaunch>, u64), Error> {
        if segments == 0 {
            return Ok((Vec::new(), 0));
        }
        let plan = self.offset_plan::<M, R>(segments, length)?;
        check("binding the context", self.kernels.context.bind_to_thread())?;
        let explained = plan.stages().iter().map(|&stage| {
            let (kernels, items) = match stage {
                Stage::Segments | Stage::Parts => (self, length),
                Stage::Partials => (self.of_partials(), plan.most_parts),
            };
            kernels.kernels.explain(Kernel::ByOffsets, items, kernels.stage_blocks(&plan, stage)?)
        });
        let explained = explained.collect::<Result<Vec<_>, Error>>()?;
        Ok((explained, plan.list_bytes() + plan.partial_bytes(&self.kernels.data.item)))
    }
}
