//! Reductions of host memory.

use std::marker::PhantomData;

use super::BracketKernel;
use crate::cuda::host::{PrivateStream, staging};
use crate::cuda::input::DeviceInput;
use crate::cuda::lock::lock;
use crate::cuda::read::{Arrays, CopiedArrays};
use crate::cuda::slices::{DrainOnDrop, allocate};
use crate::cuda::staging::{DEVICE_CHUNKS, bytes_of, chunk_items};
use crate::types::{Arrangement, Array, Preparation, SliceVisitor};
use crate::{Bitmap, DeviceMonoid, DeviceType, Error};

impl BracketKernel {
    /// Reduces `length` elements in host memory, which become items by `P`. They are copied to the
    /// device.
    pub(crate) fn run_host<M: DeviceMonoid, R: Arrangement, P: Preparation>(
        &self,
        operator: &M,
        slices: R::Slices<'_>,
        length: usize,
    ) -> Result<M::Item, Error> {
        let private = PrivateStream::take(&self.kernels.context)?;
        if R::COUNT == 1 {
            let (kernel, private) = (self, &private);
            let mut run = RunOne { kernel, operator, private, result: None, of: PhantomData::<fn() -> P> };
            R::visit_slices(slices, &mut run);
            if let Some(result) = run.result {
                return result;
            }
        }
        self.run(operator, &CopiedArrays::<P>::of::<R>(&private, slices, length)?)
    }

    /// Reduces one array. It is copied in chunks, whose brackets are then reduced.
    fn run_host_array<M: DeviceMonoid, T: DeviceType, P: Preparation>(
        &self,
        operator: &M,
        private: &PrivateStream,
        elements: &[T],
    ) -> Result<M::Item, Error> {
        let Some(staging) = staging(&self.kernels.context, elements) else {
            return self.run(operator, &Arrays::<Array<T>, P>::of(&private.upload(elements)?)?);
        };
        let stream = private.stream();
        let chunk = chunk_items::<T>(elements.len());
        let mut values = allocate::<M::Item>(elements.len().div_ceil(chunk), stream)?;
        // Locked until the result has arrived: until then the kernels may read the chunks.
        let mut staging = lock(&staging);
        let unfinished = DrainOnDrop(stream);
        let (first, bytes) = (staging.device(), chunk * size_of::<T>());
        let address = |index: usize| first + (index % DEVICE_CHUNKS * bytes) as u64;
        let mut reduce = |index: usize| {
            let length = chunk.min(elements.len() - index * chunk);
            // SAFETY: the memory has the chunk, in the order of this stream.
            let part: DeviceInput<T> =
                unsafe { DeviceInput::on_stream(address(index), length, stream.clone()) };
            let part = Arrays::<Array<T>, P>::from((index * chunk) as u64, &part)?;
            self.run_into(operator, part, &mut values.slice_mut(index..index + 1))
        };
        let copies = PrivateStream::take(&self.kernels.context)?;
        // SAFETY: the chunks are those of `chunk_items`. Only this call uses the memory, as it
        // holds the lock.
        unsafe { staging.copy(bytes_of(elements), bytes, (stream, copies.stream()), &address, &mut reduce) }?;
        let value = self.of_partials().run(operator, &Arrays::<Array<M::Item>>::of(&values)?)?;
        std::mem::forget(unfinished);
        Ok(value)
    }
}

/// Reduces the one array that it visits, unless that is a bitmap.
struct RunOne<'k, M: DeviceMonoid, P> {
    kernel: &'k BracketKernel,
    operator: &'k M,
    private: &'k PrivateStream,
    result: Option<Result<M::Item, Error>>,
    of: PhantomData<fn() -> P>,
}

impl<'a, M: DeviceMonoid, P: Preparation> SliceVisitor<'a> for RunOne<'_, M, P> {
    fn slice<T: DeviceType>(&mut self, slice: &'a [T]) {
        let result = self.kernel.run_host_array::<M, T, P>(self.operator, self.private, slice);
        self.result = Some(result);
    }
    fn bitmap(&mut self, _: Bitmap<&'a [u8]>) {}
}
