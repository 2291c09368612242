//! Copies of host memory through pinned buffers.
//!
//! The driver copies pageable memory slowly. Here several threads copy a chunk of the input to a
//! pinned buffer. The GPU copies that buffer to the device, while the threads fill the next one. So
//! an input may also be larger than the GPU's memory: its chunks are reduced one by one.
//!
//! The threads are not those of rayon's pool: a thread that waits for the pool may run another task
//! of the pool meanwhile, which may wait for the buffers that this thread holds.

mod fill;

use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};
use std::thread::Builder;

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result, sys};

use self::fill::{Filling, Pinned, StopOnDrop};
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
/// Most threads that fill buffers.
const MAX_THREADS: usize = 12;
/// Least bytes of an input for each thread. To start a thread takes some 10 us.
const MIN_THREAD_BYTES: usize = 2 << 20;

/// The pinned buffers of a context, and memory on the device for one chunk.
#[derive(Debug)]
pub(super) struct Staging {
    context: Arc<CudaContext>,
    buffers: Vec<Pinned>,
    /// For each buffer, an event that is recorded after the last copy of it to the device.
    copied: Vec<CudaEvent>,
    /// The device address of memory for one chunk.
    device: u64,
}

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
        let context = context.clone();
        let mut staging = Self { context, buffers: Vec::new(), copied: Vec::new(), device };
        for _ in 0..BUFFERS {
            staging.copied.push(check("creating an event", staging.context.new_event(None))?);
            // Threads only write to a buffer, so their stores need no cache.
            // SAFETY: the context is current, and the size is not zero.
            let bytes = unsafe { result::malloc_host(BUFFER_BYTES, sys::CU_MEMHOSTALLOC_WRITECOMBINED) };
            staging.buffers.push(Pinned(check("allocating pinned memory", bytes)?.cast()));
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
        // SAFETY: the same memory. Padding may be uninitialised.
        let input = unsafe {
            std::slice::from_raw_parts(items.as_ptr().cast::<MaybeUninit<u8>>(), size_of_val(items))
        };
        // After an error or a panic, the next call may use the buffers and the memory at once.
        let unfinished = DrainOnDrop(stream);
        for event in &self.copied {
            wait(event)?;
        }
        // SAFETY: a buffer has room for a chunk, as the caller guarantees. All copies from the
        // buffers have ended, and the lock of the buffers is held.
        let filling = unsafe { Filling::new(input, chunk * size_of::<T>(), &self.buffers) };
        let copied = std::thread::scope(|scope| {
            let _stop = StopOnDrop(&filling);
            let help = || Builder::new().spawn_scoped(scope, || filling.help()).is_ok();
            let has_help = (0..helpers(input.len())).filter(|_| help()).count() > 0;
            for (index, part) in items.chunks(chunk).enumerate() {
                if !has_help {
                    filling.fill(index);
                }
                let filled = filling.wait(index);
                // `each` may make another context current.
                check("binding the context", self.context.bind_to_thread())?;
                // SAFETY: the buffer stays unchanged until the event. The caller guarantees the
                // address.
                let copied = unsafe { result::memcpy_htod_async(place(index), filled, stream.cu_stream()) };
                check("copying to the device", copied)?;
                check("recording an event", self.copied[index % BUFFERS].record(stream))?;
                each(index, part)?;
                // Two copies are enqueued, so that the GPU always has work.
                if let Some(ended) = index.checked_sub(2) {
                    wait(&self.copied[ended % BUFFERS])?;
                    filling.free(ended + 1 + BUFFERS);
                }
            }
            Ok(())
        });
        if copied.is_ok() {
            std::mem::forget(unfinished);
        }
        copied
    }
}

/// Waits for an event. Not cudarc's `synchronize`, which returns without waiting if cudarc has an
/// earlier error to report.
fn wait(event: &CudaEvent) -> Result<(), Error> {
    // SAFETY: the event is alive.
    check("waiting for a copy to the device", unsafe { result::event::synchronize(event.cu_event()) })
}

/// The number of threads that fill buffers with an input of this many bytes.
fn helpers(bytes: usize) -> usize {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    available.min(MAX_THREADS).min(bytes / MIN_THREAD_BYTES)
}

impl Drop for Staging {
    /// Only runs if not all of the buffers could be allocated. No work uses them yet.
    fn drop(&mut self) {
        for buffer in &self.buffers {
            // SAFETY: the buffer was allocated, and nothing uses it.
            self.context.record_err(unsafe { result::free_host(buffer.0.cast()) });
        }
        // SAFETY: the memory was allocated, and nothing uses it.
        self.context.record_err(unsafe { result::free_sync(self.device) });
    }
}
