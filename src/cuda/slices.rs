//! Slices of device memory, in the order of streams.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtrMut, result};

use super::chain::Queue;
use super::driver::{check, check_allocation, check_not_capturing, is_capturing};
use super::read::{Elements, InputOf};
use super::recording::capture;
use super::scratch::Room;
use super::workspaces::Workspaces;
use crate::cuda::lock::lock;
use crate::plan::Kernel;
use crate::{DeviceType, Error};

/// Whether a stream is of a context.
pub(super) fn check_context(
    context: &Arc<CudaContext>,
    what: &'static str,
    stream: &CudaStream,
) -> Result<(), Error> {
    if stream.context() == context {
        return Ok(());
    }
    let device = super::Device::from(context.clone()).to_string();
    Err(Error::WrongContext { what, device })
}

/// Device memory for some items, none of which is there yet.
pub(super) fn allocate<T: DeviceType>(
    length: usize,
    stream: &Arc<CudaStream>,
) -> Result<CudaSlice<T>, Error> {
    check_not_capturing(stream)?;
    let allocated = match length {
        0 => stream.null(),
        // SAFETY: whoever asks writes every item before it is read.
        _ => unsafe { stream.alloc(length) },
    };
    check_allocation(stream.context(), length * size_of::<T>(), allocated)
}

/// Device memory that work reads and writes.
pub(super) struct Slices<'a, E, T> {
    /// None if it reads what it writes.
    pub(super) elements: Option<E>,
    pub(super) output: &'a mut dyn DevicePtrMut<T>,
}

/// Where that is, and memory to work with.
#[derive(Clone, Copy)]
pub(super) struct Addresses<I> {
    /// None if it is the output.
    pub(super) input: Option<I>,
    pub(super) output: u64,
    pub(super) memory: u64,
}

impl<E: Elements, T> Slices<'_, E, T> {
    pub(super) fn length(&self) -> usize {
        self.output.len()
    }

    /// In whose order the work is done.
    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        self.elements.as_ref().map_or(self.output.stream(), |elements| elements.stream())
    }

    /// The stream of the work, if all slices belong to the context.
    fn checked_stream(&self, context: &Arc<CudaContext>) -> Result<Arc<CudaStream>, Error> {
        check_context(context, "input", self.stream())?;
        check_context(context, "output", self.output.stream())?;
        Ok(self.stream().clone())
    }

    /// Adds launches to the graph that the stream records. `give` adds them: it gets the addresses of the slices, and of `room`
    /// bytes that belong to the graph.
    ///
    /// # Safety
    ///
    /// As for [`Reduction::record_into`](crate::Reduction::record_into).
    pub(super) unsafe fn record(
        &mut self,
        workspaces: &Workspaces,
        room: Room,
        give: impl FnOnce(&mut Queue<'_>, Addresses<InputOf<E>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stream = &self.checked_stream(workspaces.context())?;
        let Some(capture) = capture(stream)? else { return Err(Error::StreamIsNotCapturing) };
        check("binding the context", workspaces.context().bind_to_thread())?;
        let (input, output) = self.captured()?;
        let memory = workspaces.memory_of_graph(stream, &capture, room)?;
        let given = give(&mut Queue::of_recording(stream), Addresses { input, output, memory });
        if given.is_err() {
            workspaces.give_up_of_graph(stream, &capture);
        }
        given
    }

    /// Gives the stream launches of `kernels`, in its order, and does not wait for them. `give` gives them: it gets the addresses of
    /// the slices, and of `room` bytes that belong to the stream.
    pub(super) fn enqueue(
        &mut self,
        workspaces: &Workspaces,
        room: Room,
        kernels: impl Iterator<Item = Kernel> + Clone,
        mut give: impl FnMut(&mut Queue<'_>, Addresses<InputOf<E>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stream = &self.checked_stream(workspaces.context())?;
        let workspace = workspaces.of_stream(stream)?;
        let mut workspace = lock(&workspace);
        // After all that may take long.
        check_not_capturing(stream)?;
        check("binding the context", workspaces.context().bind_to_thread())?;
        let memory = workspace.memory(room)?;
        // What cudarc tracks may not reach both streams: one may be borrowed, or be counted by another context.
        let other = (self.output.stream() != stream).then(|| self.output.stream().clone());
        if let Some(other) = &other {
            // To wait for it would take this stream into the graph.
            check_not_capturing(other)?;
            check("waiting for the output's stream", stream.join(other))?;
        }
        let read = self.elements.as_ref().map(|elements| elements.read(stream));
        let (output, _written) = self.output.device_ptr_mut(stream);
        let input = read.as_ref().map(|(input, _)| *input);
        let addresses = Addresses { input, output, memory };
        let enqueued = workspace.chains.launch(kernels, stream, |queue| give(queue, addresses));
        if let Err(error) = check_not_captured(stream) {
            return enqueued.and(Err(error));
        }
        // After a failure, too: the first launches may be under way.
        let recorded = workspace.record_use(stream);
        let joined = other.map(|other| check("letting the output's stream wait", other.join(stream)));
        if enqueued.is_err() {
            drain(stream);
            // SAFETY: the context is bound, and the stream has ended.
            unsafe { workspace.scratch.restore(room.keeps) };
        }
        let ordered = recorded.and(joined.unwrap_or(Ok(())));
        if ordered.is_err() {
            // Nobody else waits for it now.
            drain(stream);
        }
        enqueued.and(ordered)
    }

    /// The addresses of slices whose use a graph records.
    ///
    /// Whoever replays the graph orders it after what fills its input. The events by which cudarc tracks a slice may have
    /// been recorded before the capture, and the capturing stream must not wait for those: a stream of our own does. If
    /// one was recorded within the capture, that stream is part of it now, and is joined to the capturing one.
    fn captured(&mut self) -> Result<(Option<InputOf<E>>, u64), Error> {
        let stream = self.stream().clone();
        let tracked = [&stream, self.output.stream()]
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

/// Refuses what a stream was given if another thread has begun a capture on it meanwhile: nobody has promised that the memory
/// outlives that graph. To wait for the stream makes the capture invalid.
pub(super) fn check_not_captured(stream: &CudaStream) -> Result<(), Error> {
    check_not_capturing(stream).inspect_err(|_| drain(stream))
}

/// Waits for what a stream was given, whose failure is known or does not matter.
pub(super) fn drain(stream: &CudaStream) {
    // SAFETY: the stream is alive.
    let _ = unsafe { result::stream::synchronize(stream.cu_stream()) };
}
