//! Reductions of host memory.

use super::BracketKernel;
use crate::cuda::host::{PrivateStream, staging};
use crate::cuda::input::DeviceInput;
use crate::cuda::lock::lock;
use crate::cuda::read::Array;
use crate::cuda::slices::{DrainOnDrop, allocate};
use crate::cuda::staging::{DEVICE_CHUNKS, chunk_items};
use crate::{DeviceMonoid, Error};

impl BracketKernel {
    /// Reduces items in host memory. They are copied to the device in chunks, whose brackets are
    /// then reduced.
    pub(crate) fn run_host<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &[M::Item],
    ) -> Result<M::Item, Error> {
        let private = PrivateStream::take(&self.kernels.context)?;
        let Some(staging) = staging(&self.kernels.context, items) else {
            return self.run(operator, &Array(&private.upload(items)?));
        };
        let stream = private.stream();
        let chunk = chunk_items::<M::Item>(items.len());
        let mut values = allocate::<M::Item>(items.len().div_ceil(chunk), stream)?;
        // Locked until the result has arrived: until then the kernels may read the chunks.
        let mut staging = lock(&staging);
        let unfinished = DrainOnDrop(stream);
        let (first, bytes) = (staging.device(), chunk * size_of::<M::Item>());
        let address = |index: usize| first + (index % DEVICE_CHUNKS * bytes) as u64;
        let reduce = |index: usize, part: &[M::Item]| {
            // SAFETY: the memory has the chunk, in the order of this stream.
            let part: DeviceInput<M::Item> =
                unsafe { DeviceInput::on_stream(address(index), part.len(), stream.clone()) };
            self.run_into(operator, Array(&part), &mut values.slice_mut(index..index + 1))
        };
        // SAFETY: the chunks are those of `chunk_items`. Only this call uses the memory, as it
        // holds the lock.
        unsafe { staging.copy(items, chunk, stream, address, reduce) }?;
        let value = self.run(operator, &Array(&values))?;
        std::mem::forget(unfinished);
        Ok(value)
    }
}
