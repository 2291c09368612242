//! Memory that a call needs beside what it is given: some on the device, and a place in host memory for a result.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, result, sys};

use super::bracket::Output;
use super::chain::Chains;
use super::driver::{RelaxedCapture, check, check_allocation, check_not_capturing, is_capturing, stream_id};
use super::recording::Capture;
use crate::{DeviceType, Error};

/// How many streams keep a workspace. Past that, those not in use are freed: the streams may be long gone.
const STREAMS: usize = 64;

/// Of an item.
const MOST_BYTES: usize = 256;

/// Of device memory that a workspace has of a kind, at least: as much as most calls need.
const LEAST_BYTES: usize = 64 << 10;

/// Device memory that a call asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) needed: usize,
    /// What it may have, if it does not need more.
    pub(super) most: usize,
    pub(super) keeps: Keeps,
}

/// What work leaves in memory, and so who may have it next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Anything.
    Anything,
    /// Zeros, which it also begins with.
    Zeros,
}

impl Room {
    /// As much, or more, up to twice.
    pub(super) fn of(needed: usize) -> Self {
        Self { needed, most: usize::MAX, keeps: Keeps::Anything }
    }

    /// A power of two, and not the least, so that it seldom grows, unless that is more than it may be.
    fn bytes(self) -> usize {
        self.needed.next_power_of_two().max(LEAST_BYTES).min(self.most).max(self.needed)
    }
}

/// How long a result is looked for without rest.
const LONGEST_SPIN: Duration = Duration::from_millis(1);
/// Between two looks for a result while the stream cannot be waited for.
const CAPTURE_POLL: Duration = Duration::from_micros(100);

/// What one stream's work, which runs in order, may use.
#[derive(Debug)]
pub(super) struct Workspace {
    context: Arc<CudaContext>,
    /// One of each kind.
    memories: [Memory; 2],
    /// Memory that was too small, or is not what it should be, which earlier work may still use.
    outgrown: Vec<sys::CUdeviceptr>,
    /// In host memory: the result, as 32-bit words, each of them below the serial of whoever sent it.
    result: *mut u64,
    words: usize,
    result_on_device: sys::CUdeviceptr,
    /// Of the last kernel that was asked to send a result.
    serial: u32,
    /// The end of the work that was last given it and not waited for.
    used: CudaEvent,
    /// By which the stream is given its launches.
    pub(super) chains: Chains,
}

/// Some device memory, or none yet.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    address: sys::CUdeviceptr,
    bytes: usize,
}

// SAFETY: the addresses and the graphs are owned, and the driver's calls on them may come from any thread.
unsafe impl Send for Workspace {}

impl Workspace {
    /// With room for a result of some bytes.
    fn new(context: &Arc<CudaContext>, result_bytes: usize) -> Result<Self, Error> {
        check("binding the context", context.bind_to_thread())?;
        let mut workspace = Self {
            context: context.clone(),
            memories: [Memory::default(); 2],
            outgrown: Vec::new(),
            result: std::ptr::null_mut(),
            result_on_device: 0,
            words: result_bytes.div_ceil(size_of::<u32>()),
            serial: 0,
            used: check("creating an event", context.new_event(None))?,
            chains: Chains::default(),
        };
        // What was allocated before a failure is freed by `drop`.
        // SAFETY: the context is current; the size is not zero; the address is written before it is read.
        unsafe {
            let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
            let bytes = workspace.words * size_of::<u64>();
            workspace.result = check("allocating pinned memory", result::malloc_host(bytes, flags))?.cast();
            workspace.result.write_bytes(0, workspace.words);
            let address = &mut workspace.result_on_device;
            let mapped = sys::cuMemHostGetDevicePointer_v2(address, workspace.result.cast(), 0);
            check("mapping pinned memory", mapped.result())?;
        }
        Ok(workspace)
    }

    /// The device address of as many bytes as are needed, which begin as zeros and keep what work leaves there. The context is current. No
    /// work of others is waited for.
    pub(super) fn memory(&mut self, room: Room) -> Result<u64, Error> {
        if self.memories[room.keeps as usize].bytes < room.needed {
            let bytes = room.bytes();
            // SAFETY: the context is current, and the size is not zero.
            let address = check_allocation(&self.context, bytes, unsafe { result::malloc_sync(bytes) })?;
            self.give_up(room.keeps);
            let memory = &mut self.memories[room.keeps as usize];
            memory.address = address;
            // Not before it is zeros does anybody get it.
            // SAFETY: it was allocated just now.
            check("clearing memory", unsafe { clear(address, bytes) })?;
            memory.bytes = bytes;
        }
        Ok(self.memories[room.keeps as usize].address)
    }

    /// After launches of which some were not given, and when all others have ended: what has to be zeros is zeros again.
    ///
    /// # Safety
    ///
    /// The context is current, and all work that was given this memory has ended.
    pub(super) unsafe fn restore(&mut self, keeps: Keeps) {
        let Memory { address, bytes } = self.memories[keeps as usize];
        // SAFETY: the memory is the workspace's, and nothing uses it, as was promised.
        if keeps == Keeps::Zeros && bytes > 0 && unsafe { clear(address, bytes) }.is_err() {
            self.give_up(keeps);
        }
    }

    /// The next call that needs memory of a kind gets other memory.
    fn give_up(&mut self, keeps: Keeps) {
        let Memory { address, .. } = std::mem::take(&mut self.memories[keeps as usize]);
        self.outgrown.extend((address != 0).then_some(address));
    }

    /// Where a kernel sends its result.
    pub(super) fn awaited_output(&mut self) -> Output {
        // Never that of new memory.
        self.serial = self.serial.wrapping_add(1).max(1);
        Output { address: self.result_on_device, serial: self.serial }
    }

    /// What was last sent, if all of it is there.
    fn received<T: DeviceType>(&self) -> Option<T> {
        let mut words = [0_u32; MOST_BYTES / size_of::<u32>()];
        for (index, word) in words.iter_mut().enumerate().take(self.words) {
            // SAFETY: the workspace owns so many words of pinned memory, aligned as words are. A kernel writes each as a
            // whole, and all other accesses are atomic, too.
            let sent = unsafe { AtomicU64::from_ptr(self.result.add(index)) }.load(Ordering::Relaxed);
            if (sent >> 32) as u32 != self.serial {
                return None;
            }
            *word = sent as u32;
        }
        // SAFETY: the words are those of a `T`, in the order of its bytes, and it is not larger than all of them.
        Some(unsafe { words.as_ptr().cast::<T>().read_unaligned() })
    }

    /// Waits for what [`awaited_output`](Self::awaited_output) was given to: for its words, since they are there before
    /// the stream has ended, and after a while for the stream, which costs the processor less.
    ///
    /// # Safety
    ///
    /// What was launched sends a valid `T`, and the workspace is for items of its size.
    pub(super) unsafe fn wait<T: DeviceType>(&self, stream: &CudaStream) -> Result<T, Error> {
        const { assert!(size_of::<T>() <= MOST_BYTES && cfg!(target_endian = "little")) };
        let start = Instant::now();
        while start.elapsed() < LONGEST_SPIN {
            for _ in 0..200 {
                if let Some(result) = self.received() {
                    return Ok(result);
                }
                std::hint::spin_loop();
            }
        }
        // Another thread may have begun a capture on the stream. To wait for the stream would fail, and make the capture
        // invalid.
        while is_capturing(stream)? {
            if let Some(result) = self.received() {
                return Ok(result);
            }
            std::thread::sleep(CAPTURE_POLL);
        }
        // Not cudarc's `synchronize`, which does not wait where somebody else's error is to be reported.
        // SAFETY: the stream is alive.
        check("waiting for the result", unsafe { result::stream::synchronize(stream.cu_stream()) })?;
        // A kernel that has ended has sent its result. If there is none, another thread began a capture before the launch,
        // and the launch is part of its graph.
        self.received().ok_or(Error::StreamIsCapturing)
    }

    /// Notes that the work of a stream so far uses the workspace, and that nobody waits for its end.
    pub(super) fn record_use(&self, stream: &CudaStream) -> Result<(), Error> {
        check("recording an event", self.used.record(stream))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: the context is alive. Not `bind_to_thread`, which would report, here, an error of somebody else's.
        let bound = unsafe { result::ctx::set_current(self.context.cu_ctx()) };
        self.context.record_err(bound);
        // A kernel's error comes back here, and to whoever waits for its stream; the memory is freed all the same. Not
        // cudarc's `synchronize`, which does not wait where somebody else's error is to be reported.
        // SAFETY: the event is alive.
        let _ = unsafe { result::event::synchronize(self.used.cu_event()) };
        // Before what their nodes speak of.
        self.chains = Chains::default();
        [Keeps::Anything, Keeps::Zeros].into_iter().for_each(|keeps| self.give_up(keeps));
        // SAFETY: allocated by `new` and `memory`, and all work that could use it has ended, or is waited for when it is freed: a kernel
        // that has sent its result.
        unsafe {
            for memory in self.outgrown.drain(..) {
                self.context.record_err(result::free_sync(memory));
            }
            if !self.result.is_null() {
                self.context.record_err(result::free_host(self.result.cast()));
            }
        }
    }
}

/// Makes memory zeros, on a stream of its own: those of others may be recording a graph.
/// # Safety
///
/// So many bytes at the address are allocated in the current context, and nothing else uses them.
unsafe fn clear(address: u64, bytes: usize) -> Result<(), DriverError> {
    let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
    // SAFETY: the stream is alive, and so is the memory, as was promised.
    unsafe {
        let cleared = result::memset_d8_async(address, 0, bytes, stream);
        let waited = cleared.and_then(|()| result::stream::synchronize(stream));
        waited.and(result::stream::destroy(stream))
    }
}

/// The workspaces of an operator's kernels.
#[derive(Debug)]
pub(super) struct Workspaces {
    context: Arc<CudaContext>,
    /// Of an item.
    result_bytes: usize,
    of_streams: Mutex<HashMap<u64, Arc<Mutex<Workspace>>>>,
    of_graphs: Arc<Mutex<OfGraphs>>,
}

/// A graph may be replayed on any stream, at any time: what it uses is its own, until it is gone.
#[derive(Debug, Default)]
struct OfGraphs {
    /// What the runs of one stream in one recording use, one after the other.
    used: HashMap<Recorder, Vec<Workspace>>,
    free: Vec<Workspace>,
}

/// A recording, one of its streams, and the thread that records.
type Recorder = (u64, usize, ThreadId);

/// What a graph keeps: a workspace that is free when the graph is gone.
struct Lease {
    of_graphs: Arc<Mutex<OfGraphs>>,
    recorder: Recorder,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut of_graphs = lock(&self.of_graphs);
        let freed = of_graphs.used.remove(&self.recorder);
        of_graphs.free.extend(freed.into_iter().flatten());
    }
}

impl Workspaces {
    pub(super) fn new(context: &Arc<CudaContext>, result_bytes: usize) -> Self {
        Self {
            context: context.clone(),
            result_bytes,
            of_streams: Mutex::default(),
            of_graphs: Arc::default(),
        }
    }

    pub(super) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// The workspace of a stream. Whoever holds its lock may give the stream work that uses it.
    pub(super) fn of_stream(&self, stream: &CudaStream) -> Result<Arc<Mutex<Workspace>>, Error> {
        // A driver does not tell the number of a stream that records.
        check_not_capturing(stream)?;
        let id = stream_id(stream)?;
        let mut of_streams = lock(&self.of_streams);
        if let Some(workspace) = of_streams.get(&id) {
            return Ok(workspace.clone());
        }
        if of_streams.len() >= STREAMS {
            let unused: Vec<_> =
                of_streams.extract_if(|_, workspace| Arc::strong_count(workspace) == 1).collect();
            // Not under the lock: each waits for the last work that uses it.
            drop(of_streams);
            drop(unused);
            of_streams = lock(&self.of_streams);
        }
        let workspace = Arc::new(Mutex::new(Workspace::new(&self.context, self.result_bytes)?));
        Ok(of_streams.entry(id).or_insert(workspace).clone())
    }

    /// How many workspaces graphs use, and how many they have used.
    #[cfg(all(test, feature = "laws"))]
    pub(super) fn in_graphs(&self) -> (usize, usize) {
        let of_graphs = lock(&self.of_graphs);
        (of_graphs.used.len(), of_graphs.free.len())
    }

    /// A recording has got some launches of a call, and not all: what it leaves, should somebody replay it, no later recording finds.
    pub(super) fn give_up_of_graph(&self, stream: &CudaStream, capture: &Capture) {
        let recorder = (capture.id, stream.cu_stream() as usize, std::thread::current().id());
        let mut of_graphs = lock(&self.of_graphs);
        of_graphs.used.get_mut(&recorder).into_iter().flatten().for_each(|used| used.give_up(Keeps::Zeros));
    }

    /// The device address of as many bytes as are needed, for what a stream gives to the graph that is recorded.
    pub(super) fn memory_of_graph(
        &self,
        stream: &CudaStream,
        capture: &Capture,
        room: Room,
    ) -> Result<u64, Error> {
        // A stream that is recorded does not tell its number; and the default stream of each thread has one handle.
        let recorder = (capture.id, stream.cu_stream() as usize, std::thread::current().id());
        // No call of the driver under the lock, which a thread of the driver takes to give a workspace back.
        let (free, is_first) = {
            let mut of_graphs = lock(&self.of_graphs);
            let used = of_graphs.used.get(&recorder);
            // What was recorded before keeps its own.
            if let Some(used) = used
                .into_iter()
                .flatten()
                .find(|used| used.memories[room.keeps as usize].bytes >= room.needed)
            {
                return Ok(used.memories[room.keeps as usize].address);
            }
            let is_first = used.is_none();
            (of_graphs.free.pop(), is_first)
        };
        let mut workspace = match free {
            Some(free) => free,
            None => Workspace::new(&self.context, self.result_bytes)?,
        };
        let memory = workspace.memory(room)?;
        lock(&self.of_graphs).used.entry(recorder).or_default().push(workspace);
        if is_first {
            // A lease that the graph does not take is dropped, and the workspace free again.
            // SAFETY: the stream records until the call that records returns.
            unsafe { capture.keep(Lease { of_graphs: self.of_graphs.clone(), recorder })? };
        }
        Ok(memory)
    }
}

/// Locks what is whole even where a thread panicked beside it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::Room;

    #[test]
    fn memory_is_a_power_of_two_but_no_more_than_it_may_be() {
        let bytes = |needed: usize, most| Room { most, ..Room::of(needed << 10) }.bytes() >> 10;
        let most = |most: usize| most << 10;
        assert_eq!([bytes(5, most(64)), bytes(50, most(64)), bytes(64, most(64))], [64; 3]);
        assert_eq!(
            [bytes(65, most(200)), bytes(65, most(80)), bytes(90, most(80)), bytes(5, most(8))],
            [128, 80, 90, 8]
        );
        assert_eq!(Room::of(65 << 10).bytes(), 128 << 10);
    }
}
