//! Copies of host memory through pinned buffers.
//!
//! The driver copies pageable memory slowly. Here the threads of rayon's pool copy a chunk of the
//! input to a pinned buffer. The GPU copies that buffer to the device, while the threads fill the
//! next one. So an input may also be larger than the GPU's memory: its chunks are reduced one by
//! one.

use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result, sys};
use rayon::prelude::*;

use super::driver::{check, check_allocation};
use super::slices::drain;
use crate::Error;
use crate::cuda::lock::lock;

/// Number of pinned buffers of a context.
const BUFFERS: usize = 4;
/// Bytes of a buffer: the largest chunk.
const BUFFER_BYTES: usize = 32 << 20;
/// The smallest chunk of an input of several chunks, in bytes. A copy takes at least some 10 us.
const MIN_CHUNK_BYTES: usize = 1 << 20;
/// Bytes that one thread copies at a time.
const PART_BYTES: usize = 256 << 10;

/// The pinned buffers of a context, and memory on the device for one chunk. They are never freed.
#[derive(Debug)]
pub(super) struct Staging {
    context: Arc<CudaContext>,
    buffers: Vec<Buffer>,
    /// The device address of memory for one chunk.
    device: u64,
}

#[derive(Debug)]
struct Buffer {
    bytes: *mut MaybeUninit<u8>,
    /// Recorded after the last copy of the buffer to the device.
    copied: CudaEvent,
}

// SAFETY: the buffers are owned, and any thread may use them.
unsafe impl Send for Staging {}

/// The buffers of each context. A call that copies holds the lock of its context's buffers.
static STAGINGS: Mutex<Vec<Arc<Mutex<Staging>>>> = Mutex::new(Vec::new());

/// The number of items in a chunk: a power of two, so that the brackets of chunks are subtrees of
/// the bracket. An input has at least eight chunks, so that the threads and the GPU both have work.
/// If chunks would be too small, the input is one chunk.
pub(super) fn chunk_items<T>(length: usize) -> usize {
    let items_of = |bytes: usize| 1_usize << (bytes / size_of::<T>().max(1)).max(1).ilog2();
    let (least, most) = (items_of(MIN_CHUNK_BYTES), items_of(BUFFER_BYTES));
    (length / 8).next_power_of_two().clamp(least, most)
}

impl Staging {
    /// The buffers of a context, which the first call allocates.
    pub(super) fn of(context: &Arc<CudaContext>) -> Result<Arc<Mutex<Self>>, Error> {
        let mut stagings = lock(&STAGINGS);
        if let Some(staging) = stagings.iter().find(|staging| lock(staging).context == *context) {
            return Ok(staging.clone());
        }
        let staging = Arc::new(Mutex::new(Self::new(context)?));
        stagings.push(staging.clone());
        Ok(staging)
    }

    fn new(context: &Arc<CudaContext>) -> Result<Self, Error> {
        check("binding the context", context.bind_to_thread())?;
        // SAFETY: the context is current, and the size is not zero.
        let device = unsafe { result::malloc_sync(BUFFER_BYTES) };
        let device = check_allocation(context, BUFFER_BYTES, device)?;
        let mut staging = Self { context: context.clone(), buffers: Vec::new(), device };
        for _ in 0..BUFFERS {
            // Threads only write to a buffer, so their stores need no cache.
            // SAFETY: the context is current, and the size is not zero.
            let bytes = unsafe { result::malloc_host(BUFFER_BYTES, sys::CU_MEMHOSTALLOC_WRITECOMBINED) };
            let bytes = check("allocating pinned memory", bytes)?.cast();
            let copied = check("creating an event", context.new_event(None))?;
            staging.buffers.push(Buffer { bytes, copied });
        }
        Ok(staging)
    }

    /// The device address of memory for one chunk.
    pub(super) fn device(&self) -> u64 {
        self.device
    }

    /// Copies items to the device in chunks of `chunk` items, in the order of `stream`.
    ///
    /// `place` gives the device address for a chunk, by the chunk's index. `each` may enqueue work
    /// on the stream that uses the chunk, before the next one is copied. The items are no longer
    /// used when the call returns.
    ///
    /// # Safety
    ///
    /// 1. A chunk has at most [`BUFFER_BYTES`] bytes.
    /// 2. The memory at each address that `place` gives has room for its chunk. Only work on the
    ///    stream uses it.
    pub(super) unsafe fn copy<T>(
        &mut self,
        items: &[T],
        chunk: usize,
        stream: &CudaStream,
        place: impl Fn(usize) -> u64,
        mut each: impl FnMut(usize, &[T]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        check("binding the context", self.context.bind_to_thread())?;
        let mut copy_all = || {
            for (index, part) in items.chunks(chunk).enumerate() {
                let buffer = &self.buffers[index % BUFFERS];
                // Not cudarc's `synchronize`, which returns without waiting if cudarc has an
                // earlier error to report.
                // SAFETY: the event is alive.
                let waited = unsafe { result::event::synchronize(buffer.copied.cu_event()) };
                check("waiting for a copy to the device", waited)?;
                // SAFETY: the buffer has room for a chunk, as the caller guarantees. No copy from
                // it is under way, and the lock of the buffers is held.
                let (to, from) = unsafe {
                    let bytes = size_of_val(part);
                    (
                        std::slice::from_raw_parts_mut(buffer.bytes, bytes),
                        std::slice::from_raw_parts(part.as_ptr().cast::<MaybeUninit<u8>>(), bytes),
                    )
                };
                fill(to, from);
                // SAFETY: the buffer stays unchanged until the event. The caller guarantees the
                // address.
                let copied = unsafe { result::memcpy_htod_async(place(index), to, stream.cu_stream()) };
                check("copying to the device", copied)?;
                check("recording an event", buffer.copied.record(stream))?;
                each(index, part)?;
            }
            Ok(())
        };
        let copied = copy_all();
        if copied.is_err() {
            // The next call may use the buffers and the memory at once.
            drain(stream);
        }
        copied
    }
}

/// Copies bytes by several threads.
fn fill(to: &mut [MaybeUninit<u8>], from: &[MaybeUninit<u8>]) {
    let parts = to.par_chunks_mut(PART_BYTES).zip(from.par_chunks(PART_BYTES));
    parts.for_each(|(to, from)| to.copy_from_slice(from));
}
