//! What a reduction launches.

use super::BracketKernel;
use crate::cuda::driver::check;
use crate::explanation::ExplainedLaunch;
use crate::source::Reader;
use crate::{DeviceMonoid, Error};

impl BracketKernel {
    /// The launches that reduce `length` elements, and the bytes of their scratch memory. Compiles
    /// missing kernels.
    pub(crate) fn explain<M: DeviceMonoid, R: Reader>(
        &self,
        length: u64,
    ) -> Result<(Vec<ExplainedLaunch>, u64), Error> {
        let launches = self.tuned_launches::<M, R>(length)?;
        check("binding the context", self.kernels.context.bind_to_thread())?;
        let (mut explained, mut items) = (Vec::new(), length);
        for (number, launch) in launches.clone().enumerate() {
            let kernels = if number == 0 { self } else { self.of_partials() };
            let blocks = kernels.blocks(&launch, items, number > 0)?;
            explained.push(kernels.kernels.explain(launch.kernel, items, blocks)?);
            items = launch.chunks.into();
        }
        Ok((explained, launches.memory_bytes(&self.kernels.data.item)))
    }
}
