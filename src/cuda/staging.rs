//! Copies of host memory through pinned buffers.
//!
//! The driver copies pageable memory slowly. Here several threads copy a chunk of the input to a
//! pinned buffer. The GPU copies that buffer to the device, while the threads fill the next one and
//! kernels reduce the chunk before. So an input may also be larger than the GPU's memory.
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

/// Bytes of pinned memory of a context. A call divides them into buffers of one chunk each.
const PINNED_BYTES: usize = 128 << 20;
/// Most buffers of a call.
const MAX_BUFFERS: usize = 16;
/// The largest chunk, in bytes.
const MAX_CHUNK_BYTES: usize = 32 << 20;
/// The smallest chunk of an input of several chunks, in bytes. A copy takes at least some 10 us.
const MIN_CHUNK_BYTES: usize = 1 << 20;
/// Number of chunks for which a context has device memory: one is reduced while the next is copied.
pub(super) const DEVICE_CHUNKS: usize = 2;
/// Most threads that fill buffers.
const MAX_THREADS: usize = 12;
/// Least bytes of an input for each thread. To start a thread takes some 10 us.
const MIN_THREAD_BYTES: usize = 2 << 20;

/// The pinned memory of a context, and device memory for [`DEVICE_CHUNKS`] chunks.
#[derive(Debug)]
pub(super) struct Staging {
    context: Arc<CudaContext>,
    /// Pinned memory, or null.
    pinned: Pinned,
    /// For each buffer, an event that is recorded after the last copy of it to the device.
    copied: Vec<CudaEvent>,
    /// For each chunk of device memory, an event that is recorded after the last work that uses it.
    used: Vec<CudaEvent>,
    /// The address of the device memory.
    device: u64,
}

/// A context, and its buffers. None if they could not be allocated.
type OfContext = (Arc<CudaContext>, Option<Arc<Mutex<Staging>>>);

/// The buffers of each context. A call that copies holds the lock of its context's buffers.
static STAGINGS: Mutex<Vec<OfContext>> = Mutex::new(Vec::new());

/// The number of items in a chunk: a power of two, so that the brackets of chunks are subtrees of
/// the bracket. An input has some sixteen chunks, so that the threads and the GPU both have work.
/// Small inputs have fewer chunks, and large ones more.
pub(super) fn chunk_items<T>(length: usize) -> usize {
    let items_of = |bytes: usize| 1_usize << (bytes / size_of::<T>().max(1)).max(1).ilog2();
    let (least, most) = (items_of(MIN_CHUNK_BYTES), items_of(MAX_CHUNK_BYTES));
    (length / 16).next_power_of_two().clamp(least, most)
}

/// The bytes of items. Those of padding may be uninitialised.
pub(super) fn bytes_of<T>(items: &[T]) -> &[MaybeUninit<u8>] {
    // SAFETY: the same memory.
    unsafe { std::slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
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
        let device = unsafe { result::malloc_sync(DEVICE_CHUNKS * MAX_CHUNK_BYTES) };
        let device = check_allocation(context, DEVICE_CHUNKS * MAX_CHUNK_BYTES, device)?;
        let mut staging = Self {
            context: context.clone(),
            pinned: Pinned(std::ptr::null_mut()),
            copied: Vec::new(),
            used: Vec::new(),
            device,
        };
        // Threads only write to the buffers, so their stores need no cache.
        // SAFETY: the context is current, and the size is not zero.
        let pinned = unsafe { result::malloc_host(PINNED_BYTES, sys::CU_MEMHOSTALLOC_WRITECOMBINED) };
        staging.pinned = Pinned(check("allocating pinned memory", pinned)?.cast());
        let events = |count| (0..count).map(|_| context.new_event(None)).collect();
        staging.copied = check("creating an event", events(MAX_BUFFERS))?;
        staging.used = check("creating an event", events(DEVICE_CHUNKS))?;
        Ok(staging)
    }

    /// The address of device memory for [`DEVICE_CHUNKS`] chunks. The caller holds the lock until
    /// all work that uses it has ended.
    pub(super) fn device(&self) -> u64 {
        self.device
    }

    /// Copies bytes to the device in chunks, after the earlier work of `stream` and before its later
    /// work.
    ///
    /// `place` gives the device address for a chunk, by the chunk's index. `each` may enqueue work
    /// on the stream that uses the chunk. The copies run on the stream `copies`, so that they
    /// overlap this work. Chunk c is copied after the work for chunk c - [`DEVICE_CHUNKS`]. The
    /// bytes are no longer used when the call returns.
    ///
    /// # Safety
    ///
    /// 1. A chunk has at least one byte and at most [`MAX_CHUNK_BYTES`] bytes.
    /// 2. The memory at each address that `place` gives has room for its chunk. Only work on the
    ///    stream uses it. The addresses of [`DEVICE_CHUNKS`] chunks in a row differ.
    pub(super) unsafe fn copy(
        &mut self,
        input: &[MaybeUninit<u8>],
        chunk_bytes: usize,
        (stream, copies): (&CudaStream, &CudaStream),
        place: &dyn Fn(usize) -> u64,
        each: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // After an error or a panic, the next call may use the buffers and the memory at once.
        let unfinished = (DrainOnDrop(stream), DrainOnDrop(copies));
        for event in &self.copied {
            wait(event)?;
        }
        for event in &self.used {
            check("recording an event", event.record(stream))?;
        }
        let chunks = input.len().div_ceil(chunk_bytes);
        let count = (PINNED_BYTES / chunk_bytes).min(MAX_BUFFERS);
        // SAFETY: the pinned memory has room for so many buffers.
        let buffer = |index| Pinned(unsafe { self.pinned.0.add(index * chunk_bytes) });
        let buffers: Vec<Pinned> = (0..count).map(buffer).collect();
        // SAFETY: a buffer has room for a chunk. All copies from the pinned memory have ended, and
        // its lock is held.
        let filling = unsafe { Filling::new(input, chunk_bytes, &buffers) };
        let copied = std::thread::scope(|scope| {
            let _stop = StopOnDrop(&filling);
            let help = || Builder::new().spawn_scoped(scope, || filling.help()).is_ok();
            let has_help = (0..helpers(input.len())).filter(|_| help()).count() > 0;
            for index in 0..chunks {
                if !has_help {
                    filling.fill(index);
                }
                let filled = filling.wait(index);
                // `each` may make another context current.
                check("binding the context", self.context.bind_to_thread())?;
                let (copied, used) = (&self.copied[index % count], &self.used[index % DEVICE_CHUNKS]);
                check("waiting for an event", copies.wait(used))?;
                // SAFETY: the buffer stays unchanged until the event. The caller guarantees the
                // address.
                let copy = unsafe { result::memcpy_htod_async(place(index), filled, copies.cu_stream()) };
                check("copying to the device", copy)?;
                check("recording an event", copied.record(copies))?;
                check("waiting for an event", stream.wait(copied))?;
                each(index)?;
                check("recording an event", used.record(stream))?;
                // Two copies are enqueued, so that the GPU always has work.
                if let Some(ended) = index.checked_sub(2).filter(|ended| ended + count < chunks) {
                    wait(&self.copied[ended % count])?;
                    filling.free(ended + 1 + count);
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
    /// Only runs if not all could be allocated. No work uses the memory yet.
    fn drop(&mut self) {
        if !self.pinned.0.is_null() {
            // SAFETY: the memory was allocated, and nothing uses it.
            self.context.record_err(unsafe { result::free_host(self.pinned.0.cast()) });
        }
        // SAFETY: the memory was allocated, and nothing uses it.
        self.context.record_err(unsafe { result::free_sync(self.device) });
    }
}
