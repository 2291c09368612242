//! Copies between host memory and device memory.

use std::any::TypeId;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, result, sys};

use super::driver::{check, check_not_capturing};
use super::slices::{allocate, copy_to_device, slice_of, write_zeros};
use super::staging::{Staging, bytes_of, chunk_items};
use crate::cuda::lock::lock;
use crate::{DeviceType, Error, Value};

/// Largest input that the driver copies from pageable memory, in bytes.
const DIRECT_BYTES: usize = 64 << 10;

/// A stream for one call that reads or writes host memory.
///
/// No code outside this crate knows the stream, so no other thread can begin a capture on it.
/// Waiting for the stream therefore always works, and a borrow of host memory ends after its copy.
#[derive(Debug)]
pub(crate) struct PrivateStream(Arc<CudaStream>);

/// Streams that no call uses at present. They are never destroyed.
static FREE: Mutex<Vec<Arc<CudaStream>>> = Mutex::new(Vec::new());

impl PrivateStream {
    pub(crate) fn take(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let mut free = lock(&FREE);
        if let Some(at) = free.iter().position(|stream| stream.context() == context) {
            return Ok(Self(free.swap_remove(at)));
        }
        drop(free);
        check("binding the context", context.bind_to_thread())?;
        // Not cudarc's `new_stream`: from its first call on, cudarc records an event at every use
        // of a slice.
        let stream =
            check("creating a stream", result::stream::create(result::stream::StreamKind::NonBlocking))?;
        // SAFETY: the stream belongs to the context, and is never destroyed.
        Ok(Self(unsafe { context.wrap_borrowed_stream(stream) }))
    }

    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        &self.0
    }

    /// Copies items to new device memory of this stream. The copy has ended when the call returns, so
    /// that any stream can read it.
    pub(crate) fn upload<T: DeviceType>(&self, items: &[T]) -> Result<CudaSlice<T>, Error> {
        let mut copy = allocate(items.len(), &self.0)?;
        if items.is_empty() {
            return Ok(copy);
        }
        let copied = match staging(self.0.context(), items) {
            Some(staging) => self.copy_in_chunks(&staging, items, &mut copy),
            // SAFETY: the call waits for the copy.
            None => unsafe { copy_to_device(items, &mut copy, &self.0) },
        };
        // Waits after a failure, too: a part of the copy may have been enqueued.
        copied.and(self.wait("waiting for a copy to the device")).map(|()| copy)
    }

    /// Enqueues a copy of items to device memory of the same length, through pinned buffers. The items
    /// are no longer used when the call returns.
    fn copy_in_chunks<T: DeviceType>(
        &self,
        staging: &Mutex<Staging>,
        items: &[T],
        copy: &mut CudaSlice<T>,
    ) -> Result<(), Error> {
        let (address, _write) = copy.device_ptr_mut(&self.0);
        let bytes = chunk_items::<T>(items.len()) * size_of::<T>();
        let place = |index: usize| address + (index * bytes) as u64;
        let copies = Self::take(self.0.context())?;
        let streams = (&*self.0, &*copies.0);
        // SAFETY: the chunks are those of `chunk_items`, and their places are parts of the copy.
        unsafe { lock(staging).copy(bytes_of(items), bytes, streams, &place, &mut |_| Ok(())) }
    }

    /// Allocates device memory of this stream, with all bits zero. They are written when the call
    /// returns.
    pub(super) fn zeros<T: DeviceType>(&self, length: usize) -> Result<CudaSlice<T>, Error> {
        let mut memory = allocate(length, &self.0)?;
        if length > 0 {
            write_zeros(&mut memory, &self.0)?;
        }
        self.wait("waiting for zeros")?;
        Ok(memory)
    }

    /// Gives memory of this stream to another stream. The work of this stream has ended. After an error,
    /// which only a context that has failed gives, the memory is not freed.
    pub(crate) fn hand_over<T: DeviceType>(
        &self,
        memory: CudaSlice<T>,
        stream: &Arc<CudaStream>,
    ) -> Result<CudaSlice<T>, Error> {
        let length = memory.len();
        // SAFETY: the memory has this length. All its work has ended, so that any stream can use it.
        unsafe { slice_of(memory.leak(), length, stream) }
    }

    /// Copies values from device memory to host memory of the same length, in the order of their
    /// stream. Waits for the copy.
    pub(crate) fn download<V: Value>(
        &self,
        stored: &dyn DevicePtr<V::Stored>,
        places: &mut [V],
    ) -> Result<(), Error> {
        if TypeId::of::<V>() == TypeId::of::<V::Stored>() {
            // SAFETY: the same memory and type. Only initialised values are written to it.
            let places = unsafe { &mut *(std::ptr::from_mut(places) as *mut [MaybeUninit<V::Stored>]) };
            return self.copy_to_host(stored, places);
        }
        places.copy_from_slice(&self.download_all(stored)?);
        Ok(())
    }

    /// Copies values from device memory to a new vector. Waits for the copy.
    pub(crate) fn download_all<V: Value>(&self, stored: &dyn DevicePtr<V::Stored>) -> Result<Vec<V>, Error> {
        let mut places = Vec::with_capacity(stored.len());
        self.copy_to_host(stored, &mut places.spare_capacity_mut()[..stored.len()])?;
        // SAFETY: the vector has this capacity, and each value has been written.
        unsafe { places.set_len(stored.len()) };
        Ok(places.into_iter().map(V::from_stored).collect())
    }

    fn copy_to_host<T: DeviceType>(
        &self,
        items: &dyn DevicePtr<T>,
        places: &mut [MaybeUninit<T>],
    ) -> Result<(), Error> {
        if items.stream() != &self.0 {
            check_not_capturing(items.stream())?;
            check("waiting for the items' stream", self.0.join(items.stream()))?;
        }
        let (address, _read) = items.device_ptr(&self.0);
        // If another thread has begun a capture on the items' stream, this stream has joined it.
        check_not_capturing(&self.0)?;
        if places.is_empty() {
            return self.wait("waiting for the result");
        }
        check("binding the context", self.0.context().bind_to_thread())?;
        // SAFETY: source and destination have the same length. Both are borrowed until the copy has
        // ended.
        let copied = unsafe { result::memcpy_dtoh_async(places, address, self.0.cu_stream()) };
        // Waits after a failure, too: a part of the copy may have been enqueued.
        check("copying from the device", copied).and(self.wait("waiting for the result"))
    }

    pub(crate) fn wait(&self, call: &'static str) -> Result<(), Error> {
        // SAFETY: the stream is alive. cudarc's `synchronize` is not used, because it returns
        // without waiting if cudarc has an earlier error to report.
        check(call, unsafe { result::stream::synchronize(self.0.cu_stream()) })
    }
}

/// The pinned buffers of a context, if they are worthwhile for these items. The driver has a small
/// pinned buffer of its own, and copies pinned memory directly.
pub(super) fn staging<T>(context: &Arc<CudaContext>, items: &[T]) -> Option<Arc<Mutex<Staging>>> {
    if size_of_val(items) <= DIRECT_BYTES || is_pinned(items.as_ptr().cast()) {
        return None;
    }
    Staging::of(context)
}

/// Whether host memory is pinned: allocated by CUDA, or registered with it.
fn is_pinned(address: *const c_void) -> bool {
    let mut kind = sys::CUmemorytype::CU_MEMORYTYPE_UNIFIED as u32;
    let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    // SAFETY: `kind` is valid for writes. The driver knows any address, or returns an error.
    let known =
        unsafe { sys::cuPointerGetAttribute((&raw mut kind).cast(), attribute, address as sys::CUdeviceptr) };
    known.result().is_ok() && kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32
}

impl Drop for PrivateStream {
    fn drop(&mut self) {
        // A stream that has joined a capture is not used again.
        if check_not_capturing(&self.0).is_ok() {
            lock(&FREE).push(self.0.clone());
        }
    }
}
