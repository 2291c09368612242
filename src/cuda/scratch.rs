//! Scratch memory: device memory that kernels need in addition to input and output.

use std::sync::Arc;

use cudarc::driver::{CudaContext, DriverError, result, sys};

use super::driver::{check, check_allocation};
use crate::Error;

/// Smallest allocation, in bytes. It suffices for most calls.
const MIN_BYTES: usize = 64 << 10;

/// A request for scratch memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScratchRequest {
    pub(super) needed: usize,
    /// Most bytes to allocate, unless `needed` is more.
    pub(super) most: usize,
    pub(super) init: ScratchInit,
}

/// Required contents of the scratch memory between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScratchInit {
    /// What the previous call left: a chunk counter of 0, numbers of listed segments of 0, or a scan's
    /// ticket and epoch. New memory is cleared.
    Any,
    /// Zeros. A call finds zeros, and leaves zeros.
    Zeros,
}

impl ScratchRequest {
    /// A request for `needed` bytes with [`ScratchInit::Any`]. The allocation may be twice as large.
    pub(super) fn of(needed: usize) -> Self {
        Self { needed, most: usize::MAX, init: ScratchInit::Any }
    }

    /// The size of an allocation: `needed` rounded up to a power of two, so that memory seldom
    /// grows. At least [`MIN_BYTES`], and at most `most`, unless `needed` is more.
    fn bytes(self) -> usize {
        self.needed.next_power_of_two().max(MIN_BYTES).min(self.most).max(self.needed)
    }
}

/// The scratch memory of a workspace, one allocation for each of [`ScratchInit`].
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// In the order of [`ScratchInit`].
    memories: [Memory; 2],
    /// Memory that was too small, or has wrong contents. Earlier work may still use it.
    retired: Vec<sys::CUdeviceptr>,
}

/// An allocation of device memory, or none yet: then all fields are 0.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    address: sys::CUdeviceptr,
    bytes: usize,
}

impl Scratch {
    /// The device address of existing memory that satisfies a request.
    pub(super) fn address(&self, request: ScratchRequest) -> Option<u64> {
        let Memory { address, bytes } = self.memories[request.init as usize];
        (bytes >= request.needed).then_some(address)
    }

    /// The device address of memory that satisfies a request. Allocates and clears it if necessary.
    /// The context is current. The call does not wait for other work.
    pub(super) fn allocate(
        &mut self,
        context: &Arc<CudaContext>,
        request: ScratchRequest,
    ) -> Result<u64, Error> {
        if let Some(address) = self.address(request) {
            return Ok(address);
        }
        let bytes = request.bytes();
        // SAFETY: the context is current, and the size is not zero.
        let address = check_allocation(context, bytes, unsafe { result::malloc_sync(bytes) })?;
        self.retire(request.init);
        let memory = &mut self.memories[request.init as usize];
        memory.address = address;
        // `bytes` stays 0 until the memory is cleared, so that no call uses it before.
        // SAFETY: the memory has just been allocated, and no work uses it.
        check("clearing memory", unsafe { clear(address, bytes) })?;
        memory.bytes = bytes;
        Ok(address)
    }

    /// Restores the required contents after a call that enqueued only some of its launches.
    ///
    /// # Safety
    ///
    /// The context is current, and all work that uses this memory has ended.
    pub(super) unsafe fn restore(&mut self, init: ScratchInit) {
        let Memory { address, bytes } = self.memories[init as usize];
        // SAFETY: the memory is owned, and no work uses it, as the caller guarantees.
        if bytes > 0 && unsafe { clear(address, bytes) }.is_err() {
            self.retire(init);
        }
    }

    /// Retires the memory with these contents. The next call that needs them gets new memory.
    pub(super) fn retire(&mut self, init: ScratchInit) {
        let Memory { address, .. } = std::mem::take(&mut self.memories[init as usize]);
        self.retired.extend((address != 0).then_some(address));
    }

    /// Frees all memory.
    ///
    /// # Safety
    ///
    /// The context is current, and all work that uses the memory has ended.
    pub(super) unsafe fn free(&mut self, context: &CudaContext) {
        [ScratchInit::Any, ScratchInit::Zeros].into_iter().for_each(|init| self.retire(init));
        for memory in self.retired.drain(..) {
            // SAFETY: `allocate` allocated the memory, and no work uses it, as the caller
            // guarantees.
            context.record_err(unsafe { result::free_sync(memory) });
        }
    }
}

/// Sets memory to zeros, and waits. Uses a new stream, because other streams may be capturing.
///
/// # Safety
///
/// `bytes` bytes at `address` are allocated in the current context, and no work uses them.
unsafe fn clear(address: u64, bytes: usize) -> Result<(), DriverError> {
    let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
    // SAFETY: the stream is alive, and so is the memory, as the caller guarantees.
    unsafe {
        let cleared = result::memset_d8_async(address, 0, bytes, stream);
        let waited = cleared.and_then(|()| result::stream::synchronize(stream));
        waited.and(result::stream::destroy(stream))
    }
}

#[cfg(test)]
mod tests;
