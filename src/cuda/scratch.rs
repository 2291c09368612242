//! Scratch: device memory that kernels need beside their input and their output.

use std::sync::Arc;

use cudarc::driver::{CudaContext, DriverError, result, sys};

use super::driver::{check, check_allocation};
use crate::Error;

/// Of one kind, at least: as much as most calls need.
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

/// Scratch of both kinds.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// In the order of [`Keeps`].
    memories: [Memory; 2],
    /// Memory that was too small, or is not what it should be. Earlier work may still use it.
    outgrown: Vec<sys::CUdeviceptr>,
}

/// Some device memory, or none yet.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    address: sys::CUdeviceptr,
    bytes: usize,
}

impl Scratch {
    /// The device address of as much as is asked for, if it is there.
    pub(super) fn address(&self, room: Room) -> Option<u64> {
        let Memory { address, bytes } = self.memories[room.keeps as usize];
        (bytes >= room.needed).then_some(address)
    }

    /// The same, which is allocated if it is not there. It begins as zeros, and keeps what work leaves in it. The context is current.
    /// No work of others is waited for.
    pub(super) fn allocate(&mut self, context: &Arc<CudaContext>, room: Room) -> Result<u64, Error> {
        if let Some(address) = self.address(room) {
            return Ok(address);
        }
        let bytes = room.bytes();
        // SAFETY: the context is current, and the size is not zero.
        let address = check_allocation(context, bytes, unsafe { result::malloc_sync(bytes) })?;
        self.give_up(room.keeps);
        let memory = &mut self.memories[room.keeps as usize];
        memory.address = address;
        // Nobody gets it before it is zeros.
        // SAFETY: it was allocated just now.
        check("clearing memory", unsafe { clear(address, bytes) })?;
        memory.bytes = bytes;
        Ok(address)
    }

    /// After launches of which some were not given, and when all others have ended: what has to be zeros is zeros again.
    ///
    /// # Safety
    ///
    /// The context is current, and all work that was given this memory has ended.
    pub(super) unsafe fn restore(&mut self, keeps: Keeps) {
        let Memory { address, bytes } = self.memories[keeps as usize];
        // SAFETY: the memory is owned, and nothing uses it, as was promised.
        if keeps == Keeps::Zeros && bytes > 0 && unsafe { clear(address, bytes) }.is_err() {
            self.give_up(keeps);
        }
    }

    /// The next call that needs memory of a kind gets other memory.
    pub(super) fn give_up(&mut self, keeps: Keeps) {
        let Memory { address, .. } = std::mem::take(&mut self.memories[keeps as usize]);
        self.outgrown.extend((address != 0).then_some(address));
    }

    /// Frees all of it.
    ///
    /// # Safety
    ///
    /// The context is current, and no work that has not ended uses the memory.
    pub(super) unsafe fn free(&mut self, context: &CudaContext) {
        [Keeps::Anything, Keeps::Zeros].into_iter().for_each(|keeps| self.give_up(keeps));
        for memory in self.outgrown.drain(..) {
            // SAFETY: allocated by `allocate`, and not used any more, as was promised.
            context.record_err(unsafe { result::free_sync(memory) });
        }
    }
}

/// Makes memory zeros, on a stream of its own: those of others may be recording a graph.
///
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

#[cfg(test)]
mod tests;
