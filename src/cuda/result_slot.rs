//! The result slot: pinned host memory to which a kernel sends one item, and which the host polls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaStream, result, sys};

use super::driver::{check, is_capturing};
use crate::{DeviceType, Error};

/// Largest item, in bytes.
const MAX_BYTES: usize = 256;

/// Time for which the host polls a result without a pause.
const MAX_SPIN: Duration = Duration::from_millis(1);
/// Pause between two polls while the stream is capturing and cannot be waited for.
const CAPTURE_POLL: Duration = Duration::from_micros(100);

/// The output of a launch: a device address, and the epoch if the host polls it.
#[derive(Clone, Copy)]
pub(super) struct Output {
    pub(super) address: u64,
    /// 0 if the host does not poll the address. Otherwise the kernel writes one item there, and
    /// this number with each word.
    pub(super) epoch: u32,
}

impl Output {
    /// Device memory, which the host does not poll.
    pub(super) fn plain(address: u64) -> Self {
        Self { address, epoch: 0 }
    }
}

/// Memory for one item. Each 64-bit word holds 32 bits of the item in its lower half, and the
/// epoch of the launch in its upper half.
#[derive(Debug)]
pub(super) struct ResultSlot {
    address: *mut u64,
    words: usize,
    on_device: sys::CUdeviceptr,
    /// The epoch of the last kernel that was asked to send a result.
    epoch: u32,
}

impl ResultSlot {
    /// A slot for an item of `bytes` bytes. The context is current.
    pub(super) fn new(bytes: usize) -> Result<Self, Error> {
        let words = bytes.div_ceil(size_of::<u32>());
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the size is not zero.
        let allocated = unsafe { result::malloc_host(words * size_of::<u64>(), flags) };
        let address: *mut u64 = check("allocating pinned memory", allocated)?.cast();
        let mut slot = Self { address, words, on_device: 0, epoch: 0 };
        // SAFETY: `words` words have just been allocated, and `on_device` is valid for writes.
        let mapped = unsafe {
            address.write_bytes(0, words);
            sys::cuMemHostGetDevicePointer_v2(&mut slot.on_device, address.cast(), 0)
        };
        check("mapping pinned memory", mapped.result()).map(|()| slot).inspect_err(|_| {
            // SAFETY: no other code has the address.
            let _ = unsafe { result::free_host(address.cast()) };
        })
    }

    /// The output of the next kernel. Its epoch differs from the previous one.
    pub(super) fn next_output(&mut self) -> Output {
        // Never 0, which is the content of new memory.
        self.epoch = self.epoch.wrapping_add(1).max(1);
        Output { address: self.on_device, epoch: self.epoch }
    }

    /// The item of the last kernel, if all of its words have arrived.
    fn received<T: DeviceType>(&self) -> Option<T> {
        let mut words = [0_u32; MAX_BYTES / size_of::<u32>()];
        for (index, word) in words.iter_mut().enumerate().take(self.words) {
            // SAFETY: the slot owns `words` aligned words. A kernel writes each word with one
            // store, and all other accesses are atomic, too.
            let sent = unsafe { AtomicU64::from_ptr(self.address.add(index)) }.load(Ordering::Relaxed);
            if (sent >> 32) as u32 != self.epoch {
                return None;
            }
            *word = sent as u32;
        }
        // SAFETY: the words hold the bytes of a `T` in order, and a `T` is not larger than the
        // array.
        Some(unsafe { words.as_ptr().cast::<T>().read_unaligned() })
    }

    /// Waits for the result of the kernel that got the last [`next_output`](Self::next_output)
    /// output.
    ///
    /// First polls the words, because they arrive before the driver reports the end of the stream.
    /// Then waits for the stream, which uses less of the processor.
    ///
    /// # Safety
    ///
    /// The kernel sends a valid `T`, and the slot is for items of this size.
    pub(super) unsafe fn wait<T: DeviceType>(&self, stream: &CudaStream) -> Result<T, Error> {
        const { assert!(size_of::<T>() <= MAX_BYTES && cfg!(target_endian = "little")) };
        let start = Instant::now();
        while start.elapsed() < MAX_SPIN {
            for _ in 0..200 {
                if let Some(result) = self.received() {
                    return Ok(result);
                }
                std::hint::spin_loop();
            }
        }
        // If another thread has begun a capture on the stream, a wait for the stream would fail and
        // invalidate the capture.
        while is_capturing(stream)? {
            if let Some(result) = self.received() {
                return Ok(result);
            }
            std::thread::sleep(CAPTURE_POLL);
        }
        // Not cudarc's `synchronize`, which returns without waiting if cudarc has an earlier error
        // to report.
        // SAFETY: the stream is alive.
        check("waiting for the result", unsafe { result::stream::synchronize(stream.cu_stream()) })?;
        // A kernel that has ended has sent its result. Without a result, another thread had begun a
        // capture before the launch, and the launch is part of that graph.
        self.received().ok_or(Error::StreamIsCapturing)
    }

    /// Frees the memory.
    ///
    /// # Safety
    ///
    /// The context is current. All kernels that send to the slot have ended. The slot is not used
    /// again.
    pub(super) unsafe fn free(&mut self, context: &CudaContext) {
        // SAFETY: `new` allocated the memory, and it is freed once.
        context.record_err(unsafe { result::free_host(self.address.cast()) });
    }
}
