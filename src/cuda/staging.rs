//! Copies of host memory through pinned buffers.
//!
//! The driver copies pageable memory slowly. Here several threads copy a chunk of the input to a
//! pinned buffer. The GPU copies that buffer to the device, while the threads fill the next one. So
//! an input may also be larger than the GPU's memory: its chunks are reduced one by one.
//!
//! The threads are not those of rayon's pool: a thread that waits for the pool may run another task
//! of the pool meanwhile, which may wait for the buffers that this thread holds.

use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result, sys};

use super::driver::{check, check_allocation};
use super::slices::DrainOnDrop;
use crate::Error;
use crate::cuda::lock::lock;

/// Number of pinned buffers of a context.
const BUFFERS: usize = 4;
/// Bytes of a buffer: the largest chunk.
const BUFFER_BYTES: usize = 32 << 20;
/// The smallest chunk of an input of several chunks, in bytes. A copy takes at least some 10 us.
const MIN_CHUNK_BYTES: usize = 1 << 20;
/// Most threads that fill a buffer.
const MAX_THREADS: usize = 8;
/// Least bytes of a chunk for each thread. To start a thread takes some 10 us.
const MIN_THREAD_BYTES: usize = 512 << 10;

/// The pinned buffers of a context, and memory on the device for one chunk.
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

/// A context, and its buffers. None if they could not be allocated.
type OfContext = (Arc<CudaContext>, Option<Arc<Mutex<Staging>>>);

/// The buffers of each context. A call that copies holds the lock of its context's buffers.
static STAGINGS: Mutex<Vec<OfContext>> = Mutex::new(Vec::new());

/// The number of items in a chunk: a power of two, so that the brackets of chunks are subtrees of
/// the bracket. An input has some eight chunks, so that the threads and the GPU both have work.
/// Small inputs have fewer chunks, and large ones more.
pub(super) fn chunk_items<T>(length: usize) -> usize {
    let items_of = |bytes: usize| 1_usize << (bytes / size_of::<T>().max(1)).max(1).ilog2();
    let (least, most) = (items_of(MIN_CHUNK_BYTES), items_of(BUFFER_BYTES));
    (length / 8).next_power_of_two().clamp(least, most)
}

impl Staging {
    /// The buffers of a context, which the first call allocates. None if that failed.
    pub(super) fn of(context: &Arc<CudaContext>) -> Option<Arc<Mutex<Self>>> {
        let mut stagings = lock(&STAGINGS);
        if let Some((_, staging)) = stagings.iter().find(|(of, _)| of == context) {
            return staging.clone();
        }
        let staging = Self::new(context)
            .inspect_err(|reason| log::warn!("host memory is copied without pinned buffers: {reason}"))
            .ok()
            .map(|staging| Arc::new(Mutex::new(staging)));
        stagings.push((context.clone(), staging.clone()));
        staging
    }

    fn new(context: &Arc<CudaContext>) -> Result<Self, Error> {
        check("binding the context", context.bind_to_thread())?;
        // SAFETY: the context is current, and the size is not zero.
        let device = unsafe { result::malloc_sync(BUFFER_BYTES) };
        let device = check_allocation(context, BUFFER_BYTES, device)?;
        let mut staging = Self { context: context.clone(), buffers: Vec::new(), device };
        for _ in 0..BUFFERS {
            let copied = check("creating an event", context.new_event(None))?;
            // Threads only write to a buffer, so their stores need no cache.
            // SAFETY: the context is current, and the size is not zero.
            let bytes = unsafe { result::malloc_host(BUFFER_BYTES, sys::CU_MEMHOSTALLOC_WRITECOMBINED) };
            let bytes = check("allocating pinned memory", bytes)?.cast();
            staging.buffers.push(Buffer { bytes, copied });
        }
        Ok(staging)
    }

    /// The device address of memory for one chunk. The caller holds the lock until all work that
    /// uses it has ended.
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
        // After an error or a panic, the next call may use the buffers and the memory at once.
        let unfinished = DrainOnDrop(stream);
        for (index, part) in items.chunks(chunk).enumerate() {
            let buffer = &self.buffers[index % BUFFERS];
            // `each` may make another context current.
            check("binding the context", self.context.bind_to_thread())?;
            // Not cudarc's `synchronize`, which returns without waiting if cudarc has an earlier
            // error to report.
            // SAFETY: the event is alive.
            let waited = unsafe { result::event::synchronize(buffer.copied.cu_event()) };
            check("waiting for a copy to the device", waited)?;
            // SAFETY: the buffer has room for a chunk, as the caller guarantees. No copy from it is
            // under way, and the lock of the buffers is held.
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
        std::mem::forget(unfinished);
        Ok(())
    }
}

impl Drop for Staging {
    /// Only runs if not all of the buffers could be allocated. No work uses them yet.
    fn drop(&mut self) {
        for buffer in &self.buffers {
            // SAFETY: the buffer was allocated, and nothing uses it.
            self.context.record_err(unsafe { result::free_host(buffer.bytes.cast()) });
        }
        // SAFETY: the memory was allocated, and nothing uses it.
        self.context.record_err(unsafe { result::free_sync(self.device) });
    }
}

/// Copies bytes by several threads.
fn fill(to: &mut [MaybeUninit<u8>], from: &[MaybeUninit<u8>]) {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = available.min(MAX_THREADS).min(from.len() / MIN_THREAD_BYTES).max(1);
    let part = from.len().div_ceil(threads).max(1);
    let mut parts = to.chunks_mut(part).zip(from.chunks(part));
    let Some((first_to, first_from)) = parts.next() else { return };
    std::thread::scope(|scope| {
        for (to, from) in parts {
            scope.spawn(|| to.copy_from_slice(from));
        }
        first_to.copy_from_slice(first_from);
    });
}
