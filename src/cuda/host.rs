//! Copies between host memory and device memory.

use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, result};

use super::driver::{check, check_not_capturing};
use super::slices::allocate;
use crate::cuda::lock::lock;
use crate::{DeviceType, Error};

/// A stream for one call that reads or writes host memory. No code outside this crate knows the stream, so no other
/// thread can begin a capture on it: to wait for it always works, and a borrow of host memory ends after its copy has
/// ended.
#[derive(Debug)]
pub(crate) struct PrivateStream(Arc<CudaStream>);

/// Those that no call has. They stay for the life of the process, as kernels do.
static FREE: Mutex<Vec<Arc<CudaStream>>> = Mutex::new(Vec::new());

impl PrivateStream {
    pub(crate) fn take(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let mut free = lock(&FREE);
        if let Some(at) = free.iter().position(|stream| stream.context() == context) {
            return Ok(Self(free.swap_remove(at)));
        }
        drop(free);
        check("binding the context", context.bind_to_thread())?;
        // Not cudarc's `new_stream`: from its first call on, cudarc records an event at every use of a slice.
        let stream =
            check("creating a stream", result::stream::create(result::stream::StreamKind::NonBlocking))?;
        // SAFETY: the stream belongs to the context, and is never destroyed.
        Ok(Self(unsafe { context.wrap_borrowed_stream(stream) }))
    }

    /// A copy of the items in device memory of this stream. The items are no longer needed when this returns.
    pub(crate) fn upload<T: DeviceType>(&self, items: &[T]) -> Result<CudaSlice<T>, Error> {
        let mut copy = allocate(items.len(), &self.0)?;
        if items.is_empty() {
            return Ok(copy);
        }
        let copied = check("copying to the device", self.0.memcpy_htod(items, &mut copy));
        // After a failure, too: a part may be under way.
        copied.and(self.wait("waiting for a copy to the device")).map(|()| copy)
    }

    /// Copies items in device memory to as many places in host memory, after what their stream was given before.
    pub(crate) fn download<T: DeviceType>(
        &self,
        items: &dyn DevicePtr<T>,
        places: &mut [T],
    ) -> Result<(), Error> {
        // SAFETY: the same places. Only whole items are written to them.
        self.copy_to_host(items, unsafe { &mut *(std::ptr::from_mut(places) as *mut [MaybeUninit<T>]) })
    }

    /// The same, to new memory.
    pub(crate) fn download_all<T: DeviceType>(&self, items: &dyn DevicePtr<T>) -> Result<Vec<T>, Error> {
        let mut places = Vec::with_capacity(items.len());
        self.copy_to_host(items, &mut places.spare_capacity_mut()[..items.len()])?;
        // SAFETY: there is room for them, and each has been copied.
        unsafe { places.set_len(items.len()) };
        Ok(places)
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
        // Another thread may have begun a capture on the items' stream, which this stream has joined then.
        check_not_capturing(&self.0)?;
        if places.is_empty() {
            return self.wait("waiting for the result");
        }
        check("binding the context", self.0.context().bind_to_thread())?;
        // SAFETY: the items are as many as the places, and both are borrowed until the copy has ended.
        let copied = unsafe { result::memcpy_dtoh_async(places, address, self.0.cu_stream()) };
        // After a failure, too: a part may be under way.
        check("copying from the device", copied).and(self.wait("waiting for the result"))
    }

    pub(super) fn wait(&self, call: &'static str) -> Result<(), Error> {
        // SAFETY: the stream is alive. Not cudarc's `synchronize`, which does not wait where somebody else's error is to
        // be reported.
        check(call, unsafe { result::stream::synchronize(self.0.cu_stream()) })
    }
}

impl Drop for PrivateStream {
    fn drop(&mut self) {
        // A stream that has joined a capture is left to it.
        if check_not_capturing(&self.0).is_ok() {
            lock(&FREE).push(self.0.clone());
        }
    }
}
