//! The launches of scans. A scan is one launch.

use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};

use super::driver::check_context;
use super::driver::{check, check_capturing, check_not_capturing, limits};
use super::host::PrivateStream;
use super::kernels::{Blocks, Kernels, Registry, Rendered, identity_if};
use super::launch_graph::Queue;
use super::read::Arrays;
use super::scratch::ScratchRequest;
use super::slices::{Addresses, Slices, allocate};
use crate::explanation::ExplainedLaunch;
use crate::plan::{Kernel, Limits, ScanLaunch, ScanPolicy};
use crate::source::{ArrayInput, ArrayOfItems, ScanArguments, Source};
use crate::tree::Prefix;
use crate::{DeviceMonoid, Error};

/// Most tiles of a launch. A launch has at most 2^31 - 1 blocks. Tickets, which are taken past the
/// last tile too, have 32 bits.
const MAX_TILES: u64 = (1 << 31) - 1;

/// The scan kernels of an operator, in a context.
#[derive(Debug)]
pub(crate) struct ScanKernel {
    kernels: Kernels,
    policy: ScanPolicy,
    limits: Limits,
}

/// The launch of a scan, with its arguments.
struct Call<T> {
    launch: ScanLaunch,
    prefix: Prefix,
    length: u64,
    identity: MaybeUninit<T>,
    request: ScratchRequest,
}

static KERNELS: Registry<ScanPolicy, ScanKernel> = Registry::new();

impl ScanKernel {
    /// The kernels of an operator in a context. No kernel is compiled by this call.
    pub(crate) fn of<M: DeviceMonoid>(
        context: &Arc<CudaContext>,
        policy: ScanPolicy,
    ) -> Result<Arc<Self>, Error> {
        KERNELS.get::<M, ArrayOfItems>(context, policy, |kernels| {
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

    /// Compiles and loads all kernels, and creates the workspace of a stream.
    pub(crate) fn reserve<M: DeviceMonoid>(&self, stream: &CudaStream) -> Result<(), Error> {
        self.prepare::<M>(ScanPolicy::KERNELS.into_iter())?;
        self.kernels.workspaces.of_stream(stream).map(|_| ())
    }

    /// Enqueues a scan on the stream of `items`, and does not wait for it. The scan is written to
    /// `output`. Without `items`, the output is scanned in place.
    pub(crate) fn scan_into<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        items: Option<&dyn DevicePtr<M::Item>>,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        let mut slices =
            Slices::<Arrays<'_, M::Item>, _> { elements: items.map(Arrays::<_>::of).transpose()?, output };
        check_not_capturing(slices.stream())?;
        let Some(call) = self.call(operator, prefix, slices.length())? else { return Ok(()) };
        let kernels = [call.launch.kernel].into_iter();
        slices.enqueue(&self.kernels.workspaces, call.request, kernels, |queue, addresses| {
            // SAFETY: the slices have the call's length, the stream keeps them until its work has
            // ended, and the workspace belongs to this stream.
            unsafe { self.enqueue(queue, operator, &call, addresses) }
        })
    }

    /// Records the scan into the graph that the stream captures.
    ///
    /// # Safety
    ///
    /// The conditions of [`Slices::record`].
    pub(crate) unsafe fn record_into<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        items: Option<&dyn DevicePtr<M::Item>>,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        let mut slices =
            Slices::<Arrays<'_, M::Item>, _> { elements: items.map(Arrays::<_>::of).transpose()?, output };
        check_capturing(slices.stream())?;
        let Some(call) = self.call(operator, prefix, slices.length())? else { return Ok(()) };
        // SAFETY: the caller guarantees the conditions of `Slices::record`.
        unsafe {
            slices.record(&self.kernels.workspaces, call.request, |queue, addresses| {
                self.enqueue(queue, operator, &call, addresses)
            })
        }
    }

    /// Plans the scan of `length` items, and compiles its kernel if necessary. None if there are no
    /// items.
    fn call<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        length: usize,
    ) -> Result<Option<Call<M::Item>>, Error> {
        let item = &self.kernels.data.item;
        let launch = self.policy.launch(item, length as u64, self.limits);
        let tiles = launch.tiles;
        if tiles > MAX_TILES {
            let tile_items = (length as u64).div_ceil(tiles);
            let most = usize::try_from(MAX_TILES * tile_items).unwrap_or(usize::MAX);
            return Err(Error::InputLength { length, most });
        }
        if tiles == 0 {
            return Ok(None);
        }
        // User code runs before the launch.
        let identity = identity_if(prefix == Prefix::Exclusive, operator);
        self.prepare::<M>([launch.kernel].into_iter())?;
        let request = ScratchRequest::of(self.policy.shape(launch.kernel).memory_bytes(item, tiles) as usize);
        Ok(Some(Call { launch, prefix, length: length as u64, identity, request }))
    }

    /// Gives the launch of a scan to a queue.
    ///
    /// # Safety
    ///
    /// 1. The kernel of `call` is loaded.
    /// 2. The addresses point to input and output of the call's length, and to scratch memory as
    ///    the call requests it.
    /// 3. Until the queue's work has ended, this memory stays valid, and the input stays unchanged
    ///    by other work. No other work uses the scratch memory or the output until then.
    unsafe fn enqueue<M: DeviceMonoid>(
        &self,
        queue: &mut Queue<'_>,
        operator: &M,
        call: &Call<M::Item>,
        addresses: Addresses<ArrayInput>,
    ) -> Result<(), Error> {
        let ScanLaunch { kernel, tiles, .. } = call.launch;
        let arguments = ScanArguments {
            input: addresses.input.unwrap_or(ArrayInput { elements: [addresses.output], first: () }),
            length: call.length,
            output: addresses.output,
            shared: addresses.memory,
            tiles,
            exclusive: (call.prefix == Prefix::Exclusive).into(),
            identity: call.identity,
        };
        let blocks = self.blocks(&call.launch);
        // SAFETY: these are the arguments of a scan kernel. The caller guarantees their addresses.
        unsafe { self.kernels.launch(kernel, blocks, arguments, operator, queue) }
    }

    fn blocks(&self, launch: &ScanLaunch) -> Blocks {
        let warps = launch.groups * launch.warps;
        let shared_bytes = self.policy.shape(launch.kernel).shared_bytes(&self.kernels.data.item, warps);
        Blocks { count: launch.blocks as u32, warps, shared_bytes, early: false }
    }

    /// The launch that scans `length` items, and the bytes of its scratch memory. Compiles the
    /// kernel if it is missing.
    pub(crate) fn explain<M: DeviceMonoid>(
        &self,
        operator: &M,
        length: usize,
    ) -> Result<(Vec<ExplainedLaunch>, u64), Error> {
        let Some(Call { launch, request, .. }) = self.call(operator, Prefix::Inclusive, length)? else {
            return Ok((Vec::new(), 0));
        };
        check("binding the context", self.kernels.context.bind_to_thread())?;
        let explained = self.kernels.explain(launch.kernel, length as u64, self.blocks(&launch))?;
        Ok((vec![explained], request.needed as u64))
    }

    /// Scans items in device memory into a new slice, in the order of their stream.
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

    /// Scans items in host memory, which are copied to the device. The scan is written in the order
    /// of the returned stream.
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

    /// Scans items in host memory into device memory, in the order of the output's stream.
    pub(crate) fn scan_host_into<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        items: &[M::Item],
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        let private = PrivateStream::take(&self.kernels.context)?;
        let scanned = self.scan_into(operator, prefix, Some(&private.upload(items)?), output);
        // Waits after a failure, too: the next call that takes this stream does not wait for this
        // work.
        let waited = private.wait("waiting for the scan");
        scanned.and(waited)
    }
}

#[cfg(all(test, feature = "laws"))]
mod tests;
