//! The launches of scans. A scan is one launch.

use std::any::{Any, TypeId};
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtrMut};

use super::driver::{check, check_capturing, check_not_capturing, limits};
use super::host::PrivateStream;
use super::kernels::{Blocks, Kernels, Rendered, Subject, identity_if, registry};
use super::launch_graph::Queue;
use super::read::{Arrays, CopiedArrays, Elements, InputOf, StreamOrder};
use super::scratch::ScratchRequest;
use super::slices::{Addresses, Slices, allocate};
use crate::explanation::ExplainedLaunch;
use crate::plan::{Kernel, Limits, ScanLaunch, ScanPolicy};
use crate::source::{ArrayInput, Reader, ScanArguments, Source};
use crate::tree::Prefix;
use crate::types::{Arrangement, Array, Preparation};
use crate::{DeviceMonoid, DeviceType, Error};

/// Most tiles of a launch. A launch has at most 2^31 - 1 blocks. Tickets, which are taken past the
/// last tile too, have 32 bits.
const MAX_TILES: u64 = (1 << 31) - 1;

/// The scan kernels of an operator and a reader, in a context.
#[derive(Debug)]
pub(crate) struct ScanKernel {
    kernels: Kernels,
    /// The reader of the kernels.
    reader: TypeId,
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

registry! { registered: ScanPolicy => ScanKernel }

impl ScanKernel {
    /// The kernels of an operator and a reader in a context. No kernel is compiled by this call.
    pub(crate) fn of<M: DeviceMonoid, R: Reader>(
        context: &Arc<CudaContext>,
        policy: ScanPolicy,
    ) -> Result<Arc<Self>, Error> {
        registered(context, Subject::of::<M, R>(), policy, &|kernels| {
            policy.check(&kernels.data.item)?;
            Ok(Self { kernels, reader: TypeId::of::<R>(), policy, limits: limits(context)? })
        })
    }

    fn prepare<M: DeviceMonoid, R: Reader>(&self, kernels: &[Kernel]) -> Result<(), Error> {
        // Kernels of another reader would read wrong memory.
        assert_eq!(self.reader, TypeId::of::<R>(), "kernels of another reader");
        self.kernels.prepare(kernels, &|kernel| {
            let (shape, item) = (self.policy.shape(kernel), &self.kernels.data.item);
            let warps = shape.most_groups(item, self.limits) * shape.warps;
            let source = Arc::new(Source::of_scan_by::<M, R>(&self.policy, kernel)?);
            Ok(Rendered { source, shared_bytes: shape.shared_bytes(item, warps) })
        })
    }

    /// Compiles and loads all kernels, and creates the workspace of a stream.
    pub(crate) fn reserve<M: DeviceMonoid, R: Reader>(&self, stream: &CudaStream) -> Result<(), Error> {
        self.prepare::<M, R>(&ScanPolicy::KERNELS)?;
        self.kernels.workspaces.of_stream(stream).map(|_| ())
    }

    /// Enqueues a scan on the stream of the elements, and does not wait for it. The results, of the
    /// type that the operator presents, are written to `output`, which has a place for each.
    pub(crate) fn scan_into<M: DeviceMonoid, E: Elements, O>(
        &self,
        operator: &M,
        prefix: Prefix,
        elements: E,
        output: &mut dyn DevicePtrMut<O>,
    ) -> Result<(), Error> {
        self.enqueue(operator, prefix, Slices { elements: Some(elements), output }, given)
    }

    /// Enqueues a scan of the items in `output`, in place.
    pub(crate) fn scan_in_place<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        self.enqueue(
            operator,
            prefix,
            Slices::<Arrays<'_, Array<M::Item>>, _> { elements: None, output },
            in_place,
        )
    }

    fn enqueue<M: DeviceMonoid, E: Elements, O>(
        &self,
        operator: &M,
        prefix: Prefix,
        mut slices: Slices<'_, E, O>,
        input_of: impl Fn(&Addresses<InputOf<E>>) -> InputOf<E>,
    ) -> Result<(), Error> {
        check_not_capturing(slices.stream())?;
        slices.assert_lengths();
        let Some(call) = self.call::<_, E::Reader>(operator, prefix, slices.length())? else { return Ok(()) };
        let kernels = &[call.launch.kernel];
        slices.enqueue(&self.kernels.workspaces, call.request, kernels, |queue, addresses| {
            // SAFETY: the slices have the call's length, the stream keeps them until its work has
            // ended, and the workspace belongs to this stream.
            unsafe { self.launch(queue, operator, &call, input_of(&addresses), addresses) }
        })
    }

    /// Records a scan into the graph that the stream of the elements captures.
    ///
    /// # Safety
    ///
    /// The conditions of [`Slices::record`].
    pub(crate) unsafe fn record_into<M: DeviceMonoid, E: Elements, O>(
        &self,
        operator: &M,
        prefix: Prefix,
        elements: E,
        output: &mut dyn DevicePtrMut<O>,
    ) -> Result<(), Error> {
        // SAFETY: as the caller guarantees.
        unsafe { self.record(operator, prefix, Slices { elements: Some(elements), output }, given) }
    }

    /// Records a scan of the items in `output`, in place.
    ///
    /// # Safety
    ///
    /// The conditions of [`Slices::record`].
    pub(crate) unsafe fn record_in_place<M: DeviceMonoid>(
        &self,
        operator: &M,
        prefix: Prefix,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        let slices = Slices::<Arrays<'_, Array<M::Item>>, _> { elements: None, output };
        // SAFETY: as the caller guarantees.
        unsafe { self.record(operator, prefix, slices, in_place) }
    }

    /// # Safety
    ///
    /// The conditions of [`Slices::record`].
    unsafe fn record<M: DeviceMonoid, E: Elements, O>(
        &self,
        operator: &M,
        prefix: Prefix,
        mut slices: Slices<'_, E, O>,
        input_of: impl Fn(&Addresses<InputOf<E>>) -> InputOf<E>,
    ) -> Result<(), Error> {
        check_capturing(slices.stream())?;
        if let Some(elements) = &slices.elements {
            elements.order(&self.kernels.context, StreamOrder::None)?;
        }
        slices.assert_lengths();
        let Some(call) = self.call::<_, E::Reader>(operator, prefix, slices.length())? else { return Ok(()) };
        // SAFETY: the caller guarantees the conditions of `Slices::record`.
        unsafe {
            slices.record(&self.kernels.workspaces, call.request, |queue, addresses| {
                self.launch(queue, operator, &call, input_of(&addresses), addresses)
            })
        }
    }

    /// Plans the scan of `length` items, and compiles its kernel if necessary. None if there are no
    /// items.
    fn call<M: DeviceMonoid, R: Reader>(
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
        self.prepare::<M, R>(&[launch.kernel])?;
        let request = ScratchRequest::of(self.policy.shape(launch.kernel).memory_bytes(item, tiles) as usize);
        Ok(Some(Call { launch, prefix, length: length as u64, identity, request }))
    }

    /// Gives the launch of a scan to a queue.
    ///
    /// # Safety
    ///
    /// 1. The kernel of `call` is loaded.
    /// 2. The input has the call's length. The addresses point to an output of that length, and to
    ///    scratch memory as the call requests it.
    /// 3. Until the queue's work has ended, this memory stays valid, and the input stays unchanged
    ///    by other work. No other work uses the scratch memory or the output until then.
    unsafe fn launch<M: DeviceMonoid, I>(
        &self,
        queue: &mut Queue<'_>,
        operator: &M,
        call: &Call<M::Item>,
        input: I,
        addresses: Addresses<I>,
    ) -> Result<(), Error> {
        let ScanLaunch { kernel, tiles, .. } = call.launch;
        let arguments = ScanArguments {
            input,
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
    pub(crate) fn explain<M: DeviceMonoid, R: Reader>(
        &self,
        operator: &M,
        length: usize,
    ) -> Result<(Vec<ExplainedLaunch>, u64), Error> {
        let call = self.call::<_, R>(operator, Prefix::Inclusive, length)?;
        let Some(Call { launch, request, .. }) = call else { return Ok((Vec::new(), 0)) };
        check("binding the context", self.kernels.context.bind_to_thread())?;
        let explained = self.kernels.explain(launch.kernel, length as u64, self.blocks(&launch))?;
        Ok((vec![explained], request.needed as u64))
    }

    /// Scans elements in device memory into a new slice, in the order of their stream.
    pub(crate) fn scan<M: DeviceMonoid, E: Elements, O: DeviceType>(
        &self,
        operator: &M,
        prefix: Prefix,
        elements: E,
    ) -> Result<CudaSlice<O>, Error> {
        // Before the allocation, which another context would make.
        elements.order(&self.kernels.context, StreamOrder::None)?;
        let mut scanned = allocate(elements.length() as usize, elements.stream())?;
        self.scan_into(operator, prefix, elements, &mut scanned)?;
        Ok(scanned)
    }

    /// Scans elements in host memory, which are copied to the device. The results are written in
    /// the order of the returned stream.
    pub(crate) fn scan_host<M: DeviceMonoid, R: Arrangement, P: Preparation, O: DeviceType>(
        &self,
        operator: &M,
        prefix: Prefix,
        slices: R::Slices<'_>,
        length: usize,
    ) -> Result<(PrivateStream, CudaSlice<O>), Error> {
        let private = PrivateStream::take(&self.kernels.context)?;
        let elements = CopiedArrays::<P>::of::<R>(&private, slices, length)?;
        let scanned = match P::IS_NOTHING {
            // Elements, items and results are the same. A scan in place needs no other memory.
            true => {
                let mut items = elements.into_items::<M::Item>();
                self.scan_in_place(operator, prefix, &mut *items)?;
                let items: Box<dyn Any> = items;
                *items.downcast().unwrap_or_else(|_| unreachable!("results are items"))
            }
            false => self.scan(operator, prefix, elements)?,
        };
        Ok((private, scanned))
    }

    /// Scans elements in host memory into device memory, in the order of the output's stream.
    pub(crate) fn scan_host_into<M: DeviceMonoid, R: Arrangement, P: Preparation, O>(
        &self,
        operator: &M,
        prefix: Prefix,
        (slices, length): (R::Slices<'_>, usize),
        output: &mut dyn DevicePtrMut<O>,
    ) -> Result<(), Error> {
        let private = PrivateStream::take(&self.kernels.context)?;
        let scanned = CopiedArrays::<P>::of::<R>(&private, slices, length)
            .and_then(|elements| self.scan_into(operator, prefix, elements, output));
        // Waits after a failure, too: the next call that takes this stream does not wait for this
        // work.
        let waited = private.wait("waiting for the scan");
        scanned.and(waited)
    }
}

/// The elements of the call.
fn given<I: Copy>(addresses: &Addresses<I>) -> I {
    let Some(input) = addresses.input else { unreachable!("elements are given") };
    input
}

/// The items in the output.
fn in_place(addresses: &Addresses<ArrayInput>) -> ArrayInput {
    ArrayInput { elements: [addresses.output], first: () }
}

#[cfg(all(test, feature = "laws"))]
mod tests;
