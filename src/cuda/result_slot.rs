//! The result slot: pinned host memory to which a kernel sends one item, and which the host polls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaStream, result, sys};

use super::driver::{check, is_capturing};
use crate::{DeviceType, Error};

/// Of an item.
const MOST_BYTES: usize = 256;

/// How long a result is looked for without rest.
const LONGEST_SPIN: Duration = Duration::from_millis(1);
/// Between two looks for a result while the stream cannot be waited for.
const CAPTURE_POLL: Duration = Duration::from_micros(100);

/// Where a launch leaves what it makes, and how the host learns of it.
#[derive(Clone, Copy)]
pub(super) struct Output {
    pub(super) address: u64,
    /// If not 0, the host polls the address for one item, whose words come with this number.
    pub(super) serial: u32,
}

impl Output {
    /// Device memory, which the host does not poll.
    pub(super) fn silent(address: u64) -> Self {
        Self { address, serial: 0 }
    }
}

/// Room for one item, as 32-bit words, each below the serial number of its launch.
#[derive(Debug)]
pub(super) struct ResultSlot {
    address: *mut u64,
    words: usize,
    on_device: sys::CUdeviceptr,
    /// Of the last kernel that was asked to send a result.
    serial: u32,
}

impl ResultSlot {
    /// For an item of so many bytes. The context is current.
    pub(super) fn new(bytes: usize) -> Result<Self, Error> {
        let words = bytes.div_ceil(size_of::<u32>());
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the size is not zero.
        let allocated = unsafe { result::malloc_host(words * size_of::<u64>(), flags) };
        let address: *mut u64 = check("allocating pinned memory", allocated)?.cast();
        let mut slot = Self { address, words, on_device: 0, serial: 0 };
        // SAFETY: so many words were allocated just now; and the device's address is written to its place.
        let mapped = unsafe {
            address.write_bytes(0, words);
            sys::cuMemHostGetDevicePointer_v2(&mut slot.on_device, address.cast(), 0)
        };
        check("mapping pinned memory", mapped.result()).map(|()| slot).inspect_err(|_| {
            // SAFETY: nobody else has it.
            let _ = unsafe { result::free_host(address.cast()) };
        })
    }

    /// Where the next kernel sends its result.
    pub(super) fn awaited(&mut self) -> Output {
        // Never that of new memory.
        self.serial = self.serial.wrapping_add(1).max(1);
        Output { address: self.on_device, serial: self.serial }
    }

    /// What was last sent, if all of it is there.
    fn received<T: DeviceType>(&self) -> Option<T> {
        let mut words = [0_u32; MOST_BYTES / size_of::<u32>()];
        for (index, word) in words.iter_mut().enumerate().take(self.words) {
            // SAFETY: the slot owns so many words, aligned as words are. A kernel writes each as a
            // whole, and all other accesses are atomic, too.
            let sent = unsafe { AtomicU64::from_ptr(self.address.add(index)) }.load(Ordering::Relaxed);
            if (sent >> 32) as u32 != self.serial {
                return None;
            }
            *word = sent as u32;
        }
        // SAFETY: the words are those of a `T`, in the order of its bytes, and it is not larger than all of them.
        Some(unsafe { words.as_ptr().cast::<T>().read_unaligned() })
    }

    /// Waits for what [`awaited`](Self::awaited) was given to: for its words, since they are there before
    /// the stream has ended, and after a while for the stream, which costs the processor less.
    ///
    /// # Safety
    ///
    /// What was launched sends a valid `T`, and the slot is for items of its size.
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

    /// # Safety
    ///
    /// The context is current, no kernel that has not ended sends to the slot, and it is not used afterwards.
    pub(super) unsafe fn free(&mut self, context: &CudaContext) {
        // SAFETY: allocated by `new`, and freed once.
        context.record_err(unsafe { result::free_host(self.address.cast()) });
    }
}
