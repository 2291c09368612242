//! Scans as launches: one each.

use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};

use super::chain::Queue;
use super::driver::{check_capturing, check_not_capturing, limits};
use super::host::PrivateStream;
use super::kernels::{Blocks, Kernels, Registry, Rendered, identity_if};
use super::read::Array;
use super::scratch::Room;
use super::slices::{Addresses, Slices, allocate, check_context};
use crate::plan::{Kernel, Limits, ScanLaunch, ScanPolicy};
use crate::source::{ArrayInput, ItemsAsTheyAre, ScanArguments, Source};
use crate::tree::Prefix;
use crate::{DeviceMonoid, Error};

/// Tiles of a launch, at most: with those that nobody has, they are counted in 32 bits; and as many blocks as one has.
const MOST_TILES: u64 = (1 << 31) - 1;

/// An operator's kernels that scan, in a context.
#[derive(Debug)]
pub(crate) struct ScanKernel {
    kernels: Kernels,
    policy: ScanPolicy,
    limits: Limits,
}

/// A scan of some items.
struct Call<T> {
    launch: ScanLaunch,
    prefix: Prefix,
    length: u64,
    identity: MaybeUninit<T>,
    room: Room,
}

static KERNELS: Registry<ScanPolicy, ScanKernel> = Registry::new();

impl ScanKernel {
    /// The kernels of an operator in a context. None is compiled yet, unless it was needed before.
    pub(crate) fn of<M: DeviceMonoid>(
        context: &Arc<CudaContext>,
        policy: ScanPolicy,
    ) -> Result<Arc<Self>, Error> {
        KERNELS.get::<M, ItemsAsTheyAre>(context, policy, |kernels| {
            policy.check(&kernels.data.item)?;
            Ok(Self { kernels, policy, limits: limits(context)? })
        })
    }

    fn prepare<M: DeviceMonoid>(&self, kernels: impl Iterator<Item = Kernel> + Clone) -> Result<(), Error> {
        self.kernels.prepare(kernels, |kernel| {
            let (shape, item) = (self.policy.shape(kernel), &self.kernels.data.item);
            let warps = shape.most_groups(item, self.limits) * shape.warps;
            let source = Arc::new(Source::of_scan::<M>(&self.policy, kernel)?);
            Ok(Rendered { source, shared_bytes: shape.shared_bytes(item, warps) })
        })
    }

    /// Makes the kernels, and the workspace of a stream, ahead of their first use.
    pub(crate) fn reserve<M: DeviceMonoid>(&self, stream: &CudaStream) -> Result<(), Error> {
        self.prepare::<M>(ScanPolicy::KERNELS.into_iter())?;
        self.kernels.workspaces.of_stream(stream).map(|_| ())
    }

    /// Lets the stream of `items` write their scan to `output`, and does not wait for it; without items, the scan of the output in
    /// its own place.
    pub(crate) fn scan_into<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        items: Option<&dyn DevicePtr<M::Item>>,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        let mut slices = Slices { elements: items.map(Array), output };
        check_not_capturing(slices.stream())?;
        let Some(call) = self.call(operator, prefix, slices.length())? else { return Ok(()) };
        let kernels = [call.launch.kernel].into_iter();
        slices.enqueue(&self.kernels.workspaces, call.room, kernels, |queue, addresses| {
            // SAFETY: the slices are as long as the call, their stream keeps them, and the workspace is this stream's.
            unsafe { self.give(queue, operator, &call, addresses) }
        })
    }

    /// Adds the same to the graph that the stream records.
    ///
    /// # Safety
    ///
    /// As for [`Slices::record`].
    pub(crate) unsafe fn record_into<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        items: Option<&dyn DevicePtr<M::Item>>,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        let mut slices = Slices { elements: items.map(Array), output };
        check_capturing(slices.stream())?;
        let Some(call) = self.call(operator, prefix, slices.length())? else { return Ok(()) };
        // SAFETY: the caller's promise.
        unsafe {
            slices.record(&self.kernels.workspaces, call.room, |queue, addresses| {
                self.give(queue, operator, &call, addresses)
            })
        }
    }

    /// What a scan of so many items launches, of a kernel that is loaded; nothing, if there are no items.
    fn call<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        length: usize,
    ) -> Result<Option<Call<M::Item>>, Error> {
        let item = &self.kernels.data.item;
        let launch = self.policy.launch(item, length as u64, self.limits);
        let tiles = launch.tiles;
        if tiles > MOST_TILES {
            return Err(Error::Policy { reason: format!("{tiles} tiles are more than a launch has") });
        }
        if tiles == 0 {
            return Ok(None);
        }
        // The operator's code is called before anything is launched.
        let identity = identity_if(prefix == Prefix::Exclusive, operator);
        self.prepare::<M>([launch.kernel].into_iter())?;
        let room = Room::of(self.policy.shape(launch.kernel).memory_bytes(item, tiles) as usize);
        Ok(Some(Call { launch, prefix, length: length as u64, identity, room }))
    }

    /// Gives a queue the launch of a scan.
    ///
    /// # Safety
    ///
    /// 1. The kernel of `call` is loaded.
    /// 2. The addresses are of items of the call's length, of as many places, and of memory of the call's room.
    /// 3. They stay what they are until the queue's work has ended, and nothing else uses that memory meanwhile.
    unsafe fn give<M: DeviceMonoid>(
        &self,
        queue: &mut Queue<'_>,
        operator: &M,
        call: &Call<M::Item>,
        addresses: Addresses<ArrayInput>,
    ) -> Result<(), Error> {
        let ScanLaunch { kernel, tiles, blocks, groups, warps } = call.launch;
        let arguments = ScanArguments {
            input: addresses.input.unwrap_or(ArrayInput { elements: addresses.output }),
            length: call.length,
            output: addresses.output,
            shared: addresses.memory,
            tiles,
            exclusive: (call.prefix == Prefix::Exclusive).into(),
            identity: call.identity,
        };
        let warps = groups * warps;
        let shared_bytes = self.policy.shape(kernel).shared_bytes(&self.kernels.data.item, warps);
        let blocks = Blocks { count: blocks as u32, warps, shared_bytes, early: false };
        // SAFETY: that is what a kernel that scans takes, and what it points to is what was promised.
        unsafe { self.kernels.launch(kernel, blocks, arguments, operator, queue) }
    }

    /// The scan of items in device memory, when their stream gets there.
    pub(crate) fn scan<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        items: &dyn DevicePtr<M::Item>,
    ) -> Result<CudaSlice<M::Item>, Error> {
        let stream = items.stream();
        check_context(&self.kernels.context, "input", stream)?;
        let mut scanned = allocate(items.len(), stream)?;
        self.scan_into(operator, prefix, Some(items), &mut scanned)?;
        Ok(scanned)
    }

    /// The scan of items in host memory, which are copied to the device, and the stream in whose order it is written.
    pub(crate) fn scan_host<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        items: &[M::Item],
    ) -> Result<(PrivateStream, CudaSlice<M::Item>), Error> {
        let private = PrivateStream::take(&self.kernels.context)?;
        let mut copy = private.upload(items)?;
        self.scan_into(operator, prefix, None, &mut copy)?;
        Ok((private, copy))
    }

    /// Writes the scan of items in host memory to device memory, in the order of the output's stream.
    pub(crate) fn scan_host_into<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        items: &[M::Item],
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        let private = PrivateStream::take(&self.kernels.context)?;
        let scanned = self.scan_into(operator, prefix, Some(&private.upload(items)?), output);
        // After a failure, too: the next call that takes the stream waits for nothing of this one.
        let waited = private.wait("waiting for the scan");
        scanned.and(waited)
    }
}

#[cfg(all(test, feature = "laws"))]
mod tests;
