//! Slices of device memory, used in stream order.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtrMut, result};

use super::driver::{check, check_allocation, check_context, check_not_capturing, is_capturing};
use super::launch_graph::Queue;
use super::read::{Elements, InputOf, StreamOrder};
use super::recording::capture;
use super::scratch::ScratchRequest;
use super::workspaces::Workspaces;
use crate::cuda::lock::lock;
use crate::plan::Kernel;
use crate::{DeviceType, Error};

/// Allocates uninitialised device memory for `length` items.
pub(crate) fn allocate<T: DeviceType>(
    length: usize,
    stream: &Arc<CudaStream>,
) -> Result<CudaSlice<T>, Error> {
    check_not_capturing(stream)?;
    // cudarc multiplies without a check.
    let most = isize::MAX as usize / size_of::<T>().max(1);
    if length > most {
        return Err(Error::InputLength { length, most });
    }
    let address = allocate_bytes(length * size_of::<T>(), stream)?;
    // SAFETY: the memory has this length, and belongs to nothing else. CUDA aligns it to at least 256
    // bytes. Every caller writes each item before it is read.
    unsafe { slice_of(address, length, stream) }
}

/// Makes memory a slice of a stream, in whose order it is used and freed from now on.
///
/// # Safety
///
/// The memory was allocated for this many items, and belongs to nothing else. It can be used at once.
pub(super) unsafe fn slice_of<T>(
    address: u64,
    length: usize,
    stream: &Arc<CudaStream>,
) -> Result<CudaSlice<T>, Error> {
    // cudarc makes events here, and panics if that fails. It fails after an error in the context.
    let bound = check("binding the context", stream.context().bind_to_thread());
    // SAFETY: as the caller promises.
    bound.map(|()| unsafe { stream.upgrade_device_ptr(address, length) })
}

/// Allocates bytes. cudarc allocates only types that have its `DeviceRepr`, which a type of another
/// crate cannot have.
fn allocate_bytes(bytes: usize, stream: &Arc<CudaStream>) -> Result<u64, Error> {
    let allocated = match bytes {
        0 => stream.null(),
        // SAFETY: the caller writes the bytes before they are read.
        _ => unsafe { stream.alloc::<u8>(bytes) },
    };
    Ok(check_allocation(stream.context(), bytes, allocated)?.leak())
}

/// Enqueues a copy of items to device memory of at least this length.
///
/// # Safety
///
/// The items are neither changed nor freed until the copy has ended, also after an error.
pub(super) unsafe fn copy_to_device<T: DeviceType>(
    items: &[T],
    memory: &mut impl DevicePtrMut<T>,
    stream: &Arc<CudaStream>,
) -> Result<(), Error> {
    assert!(memory.len() >= items.len(), "room for the items");
    check("binding the context", stream.context().bind_to_thread())?;
    let (address, _written) = memory.device_ptr_mut(stream);
    // SAFETY: the memory has room for the items.
    check("copying to the device", unsafe { result::memcpy_htod_async(address, items, stream.cu_stream()) })
}

/// Enqueues a write of zeros to device memory.
pub(super) fn write_zeros<T: DeviceType>(
    memory: &mut CudaSlice<T>,
    stream: &Arc<CudaStream>,
) -> Result<(), Error> {
    let bytes = memory.len() * size_of::<T>();
    check("binding the context", stream.context().bind_to_thread())?;
    let (address, _written) = memory.device_ptr_mut(stream);
    // SAFETY: the memory has these bytes. Bits of zero are a value of every device type.
    check("writing zeros", unsafe { result::memset_d8_async(address, 0, bytes, stream.cu_stream()) })
}

/// Input and output of a call in device memory.
pub(super) struct Slices<'a, E, T> {
    /// The input. None if the call works in place.
    pub(super) elements: Option<E>,
    pub(super) output: &'a mut dyn DevicePtrMut<T>,
}

/// The device addresses of input, output and scratch memory.
#[derive(Clone, Copy)]
pub(super) struct Addresses<I> {
    /// None if the call works in place.
    pub(super) input: Option<I>,
    pub(super) output: u64,
    pub(super) memory: u64,
}

impl<E: Elements, T> Slices<'_, E, T> {
    pub(super) fn length(&self) -> usize {
        self.output.len()
    }

    /// Asserts that the output has a place for each element.
    pub(super) fn assert_lengths(&self) {
        let length = self.length() as u64;
        assert!(
            self.elements.as_ref().is_none_or(|elements| elements.length() == length),
            "a place for each"
        );
    }

    /// The stream in whose order the work runs: of the input if there is one.
    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        self.elements.as_ref().map_or(self.output.stream(), |elements| elements.stream())
    }

    /// The stream of the work, after a check that all slices belong to the context.
    fn checked_stream(&self, context: &Arc<CudaContext>) -> Result<Arc<CudaStream>, Error> {
        check_context(context, "input", self.stream())?;
        check_context(context, "output", self.output.stream())?;
        Ok(self.stream().clone())
    }

    /// Records launches into the graph that the stream captures.
    ///
    /// `enqueue` adds the launches. It receives the addresses of the slices, and of scratch memory
    /// as `request` requests it, which belongs to the graph.
    ///
    /// # Safety
    ///
    /// The conditions of [`Reduction::record_into`](crate::Reduction::record_into).
    pub(super) unsafe fn record(
        &mut self,
        workspaces: &Workspaces,
        request: ScratchRequest,
        enqueue: impl FnOnce(&mut Queue<'_>, Addresses<InputOf<E>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stream = &self.checked_stream(workspaces.context())?;
        let Some(capture) = capture(stream)? else { return Err(Error::StreamIsNotCapturing) };
        check("binding the context", workspaces.context().bind_to_thread())?;
        let (input, output) = self.captured()?;
        let memory = workspaces.graph_scratch(stream, &capture, request)?;
        let enqueued = enqueue(&mut Queue::of_recording(stream), Addresses { input, output, memory });
        if enqueued.is_err() {
            workspaces.retire_graph_scratch(stream, &capture, request.init);
        }
        enqueued
    }

    /// Enqueues one launch of each of `kernels` on the stream, and does not wait for them.
    ///
    /// `enqueue` adds the launches, and may be called more than once. It receives the addresses of
    /// the slices, and of scratch memory as `request` requests it, which belongs to the stream.
    pub(super) fn enqueue(
        &mut self,
        workspaces: &Workspaces,
        request: ScratchRequest,
        kernels: &[Kernel],
        mut enqueue: impl FnMut(&mut Queue<'_>, Addresses<InputOf<E>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stream = &self.checked_stream(workspaces.context())?;
        let workspace = workspaces.of_stream(stream)?;
        let mut workspace = lock(&workspace);
        // The check comes last, because the steps above may take long.
        check_not_capturing(stream)?;
        check("binding the context", workspaces.context().bind_to_thread())?;
        let memory = workspace.memory(request)?;
        // cudarc's event tracking may miss one of the streams: it may be borrowed, or be counted by
        // another `CudaContext`.
        let other = (self.output.stream() != stream).then(|| self.output.stream().clone());
        if let Some(other) = &other {
            // A wait for a capturing stream would add this stream to the capture.
            check_not_capturing(other)?;
            check("waiting for the output's stream", stream.join(other))?;
        }
        if let Some(elements) = &self.elements {
            elements.order(workspaces.context(), StreamOrder::Before)?;
        }
        let read = self.elements.as_ref().map(|elements| elements.read(stream));
        let (output, _written) = self.output.device_ptr_mut(stream);
        let input = read.as_ref().map(|(input, _)| *input);
        let addresses = Addresses { input, output, memory };
        let enqueued = workspace.graphs.launch(kernels, stream, &mut |queue| enqueue(queue, addresses));
        if let Err(error) = check_not_captured(stream) {
            // Some launches may be a part of the graph.
            workspace.scratch.retire(request.init);
            return enqueued.and(Err(error));
        }
        // After a failure, too: some launches may have been enqueued.
        let recorded = workspace.record_use(stream);
        let after = |elements: &E| elements.order(workspaces.context(), StreamOrder::After);
        let released = self.elements.as_ref().map_or(Ok(()), after);
        let joined = other.map(|other| check("letting the output's stream wait", other.join(stream)));
        if enqueued.is_err() {
            drain(stream);
            // SAFETY: the context is bound, and the stream has no unfinished work.
            unsafe { workspace.scratch.restore(request.init) };
        }
        let ordered = recorded.and(released).and(joined.unwrap_or(Ok(())));
        if ordered.is_err() {
            // No event orders later work after this work, so the host waits for it.
            drain(stream);
        }
        enqueued.and(ordered)
    }

    /// The addresses of slices whose use is recorded into a graph.
    ///
    /// cudarc tracks a slice by events. The capturing stream must not wait for an event that was
    /// recorded before the capture, so a new stream waits. The user orders a launch of the graph
    /// after the work that fills its input.
    ///
    /// If an event was recorded within the capture, the new stream becomes part of the capture. It
    /// is then joined to the capturing stream.
    fn captured(&mut self) -> Result<(Option<InputOf<E>>, u64), Error> {
        let stream = self.stream().clone();
        let tracked = self.elements.as_ref().is_some_and(E::are_tracked)
            || [&stream, self.output.stream()]
                .iter()
                .any(|of| of.context().is_managing_stream_synchronization());
        let outside = match tracked {
            true => check("creating a stream", stream.context().new_stream())?,
            false => stream.clone(),
        };
        let read = self.elements.as_ref().map(|elements| elements.read(&outside));
        let (output, written) = self.output.device_ptr_mut(&outside);
        let input = read.as_ref().map(|(input, _)| *input);
        std::mem::forget((read, written));
        if tracked && is_capturing(&outside)? {
            check("joining the capture", stream.join(&outside))?;
        }
        Ok((input, output))
    }
}

/// Returns an error, after a wait, if another thread has begun a capture on the stream.
///
/// Work that was enqueued since that capture began belongs to its graph. No caller guarantees that
/// the memory outlives this graph. The wait invalidates the capture.
pub(super) fn check_not_captured(stream: &CudaStream) -> Result<(), Error> {
    check_not_capturing(stream).inspect_err(|_| drain(stream))
}

/// Waits for the work of a stream when it is dropped. Forgotten if there is nothing to wait for.
pub(super) struct DrainOnDrop<'a>(pub(super) &'a CudaStream);

impl Drop for DrainOnDrop<'_> {
    fn drop(&mut self) {
        drain(self.0);
    }
}

/// Waits for the work of a stream. An error of that work is known already, or does not matter.
pub(super) fn drain(stream: &CudaStream) {
    // SAFETY: the stream is alive.
    let _ = unsafe { result::stream::synchronize(stream.cu_stream()) };
}
