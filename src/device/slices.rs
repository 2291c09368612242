//! What a call is given: slices of device memory, in the order of streams, and items of the host.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, result};

use super::chain::Queue;
use super::driver::{check, check_allocation, is_capturing};
use super::recording::{capture, turn};
use super::workspace::{Room, Workspaces, lock};
use crate::policy::Kernel;
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
    if is_capturing(stream)? {
        return Err(Error::StreamIsCapturing);
    }
    let allocated = match length {
        0 => stream.null(),
        // SAFETY: whoever asks writes every item before it is read.
        _ => unsafe { stream.alloc(length) },
    };
    check_allocation(stream.context(), length * size_of::<T>(), allocated)
}

/// Items in host memory, copied to the device in the order of `stream`. They are lent until the stream has copied them.
pub(super) fn copy<T: DeviceType>(items: &[T], stream: &Arc<CudaStream>) -> Result<CudaSlice<T>, Error> {
    let mut copy = allocate(items.len(), stream)?;
    if !items.is_empty() {
        check("copying to the device", stream.memcpy_htod(items, &mut copy))?;
    }
    Ok(copy)
}

/// Slices of device memory that work reads and writes.
pub(super) struct Slices<'a, T> {
    /// None if it reads what it writes.
    pub(super) items: Option<&'a dyn DevicePtr<T>>,
    pub(super) output: &'a mut dyn DevicePtrMut<T>,
}

/// Where they are, and memory to work with.
#[derive(Clone, Copy)]
pub(super) struct Addresses {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) memory: u64,
    /// Whether a graph records what is done with them.
    pub(super) is_recorded: bool,
}

impl<T> Slices<'_, T> {
    /// In whose order the work is done.
    fn stream(&self) -> &Arc<CudaStream> {
        self.items.map_or(self.output.stream(), |items| items.stream())
    }

    /// Lets `give` give their stream launches of `kernels` on them: it gets the addresses of what is read, of what is written, and of
    /// as many bytes of memory of the stream's own as are needed. Nobody waits for that work.
    pub(super) fn enqueue(
        &mut self,
        workspaces: &Workspaces,
        room: Room,
        kernels: impl Iterator<Item = Kernel> + Clone,
        mut give: impl FnMut(&mut Queue<'_>, Addresses) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stream = &self.stream().clone();
        check_context(workspaces.context(), "input", stream)?;
        check_context(workspaces.context(), "output", self.output.stream())?;
        if let Some(capture) = capture(stream)? {
            check("binding the context", workspaces.context().bind_to_thread())?;
            let (input, output) = self.captured()?;
            let _turn = turn();
            let memory = workspaces.memory_of_graph(stream, &capture, room)?;
            let addresses = Addresses { input, output, memory, is_recorded: true };
            let given = give(&mut Queue::of_stream(stream), addresses);
            if given.is_err() {
                workspaces.give_up_of_graph(stream, &capture);
            }
            return given;
        }
        let workspace = workspaces.of_stream(stream)?;
        let mut workspace = lock(&workspace);
        check("binding the context", workspaces.context().bind_to_thread())?;
        let memory = workspace.memory(room)?;
        // What cudarc tracks may not reach both streams: one may be borrowed, or be counted by another context.
        let other = (self.output.stream() != stream).then(|| self.output.stream().clone());
        if let Some(other) = &other {
            // To wait for it would take this stream into the graph.
            if is_capturing(other)? {
                return Err(Error::StreamIsCapturing);
            }
            check("waiting for the output's stream", stream.join(other))?;
        }
        let read = self.items.map(|items| items.device_ptr(stream));
        let (output, _written) = self.output.device_ptr_mut(stream);
        let input = read.as_ref().map_or(output, |(address, _)| *address);
        let addresses = Addresses { input, output, memory, is_recorded: false };
        let enqueued = workspace.chains.launch(kernels, stream, |queue| give(queue, addresses));
        // After a failure, too: the first launches may be under way.
        let recorded = workspace.record_use(stream);
        let joined = other.map(|other| check("letting the output's stream wait", other.join(stream)));
        if enqueued.is_err() {
            drain(stream);
            workspace.restore(room.keeps);
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
    fn captured(&mut self) -> Result<(u64, u64), Error> {
        let stream = self.stream().clone();
        let tracked = [&stream, self.output.stream()]
            .iter()
            .any(|of| of.context().is_managing_stream_synchronization());
        let outside = match tracked {
            true => check("creating a stream", stream.context().new_stream())?,
            false => stream.clone(),
        };
        let read = self.items.map(|items| items.device_ptr(&outside));
        let (output, written) = self.output.device_ptr_mut(&outside);
        let input = read.as_ref().map_or(output, |(address, _)| *address);
        std::mem::forget((read, written));
        if tracked && is_capturing(&outside)? {
            check("joining the capture", stream.join(&outside))?;
        }
        Ok((input, output))
    }
}

/// Copies items to host memory, and waits for them.
pub(crate) fn fetch<T: DeviceType>(items: &impl DevicePtr<T>, places: &mut [T]) -> Result<(), Error> {
    let stream = items.stream();
    let copied = match is_capturing(stream) {
        // It was not when the scan was enqueued, and must not be waited for.
        Ok(true) => return Err(Error::StreamIsCapturing),
        Ok(false) if places.is_empty() => Ok(()),
        Ok(false) => check("copying from the device", stream.memcpy_dtoh(items, places)),
        Err(error) => Err(error),
    };
    // SAFETY: the stream is alive. Not cudarc's `synchronize`, which does not wait where somebody else's error is to be reported.
    let waited = unsafe { result::stream::synchronize(stream.cu_stream()) };
    copied.and(check("waiting for the result", waited))
}

/// Waits, when dropped, for what a stream was given: it may use memory that is lent.
pub(super) struct Lent<'a>(pub(super) &'a CudaStream);

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        drain(self.0);
    }
}

/// Waits for what a stream was given, whose failure is known or does not matter: it may use memory that is lent.
pub(super) fn drain(stream: &CudaStream) {
    // SAFETY: the stream is alive.
    let _ = unsafe { result::stream::synchronize(stream.cu_stream()) };
}
