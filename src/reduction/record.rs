//! Reductions that are recorded into a CUDA graph.

#![allow(unsafe_code)]

use super::{Reduction, Stored};
use crate::cuda::{Elements, InputSource, OutputTarget};
use crate::{DeviceAggregate, Error, Input, OnDevice, Output};

impl<A: DeviceAggregate> Reduction<A> {
    /// Records the reduction into the CUDA graph that the input's stream is capturing.
    ///
    /// Each launch of the graph reads the input anew, and writes its result to the output.
    ///
    /// The graph contains the tuned kernels. They are compiled by this call unless
    /// [`compile`](Self::compile) has compiled them. The graph keeps a workspace until the graph
    /// and all its instances are destroyed. The section on resources of [`Reduction`] gives its
    /// size. The capture may have any mode. The graph keeps the operator's present parameters.
    ///
    /// # Errors
    ///
    /// - [`Error::StreamIsNotCapturing`] if the input's stream does not record a graph.
    /// - The errors of [`run_into`](Self::run_into), except [`Error::StreamIsCapturing`].
    ///
    /// # Safety
    ///
    /// 1. The memory of the input and of the output stays allocated until the last launch of the
    ///    graph, or of a copy of it, has ended.
    /// 2. While a launch runs, no other work writes the input, and no other work reads or writes
    ///    the output.
    /// 3. Launches of the graph, of its instances and of its copies never overlap: they share the
    ///    workspace.
    /// 4. The calls that one stream records never overlap in the graph. Stream order guarantees
    ///    this. Two actions break it: to replace the dependencies of the capture
    ///    (`cuStreamUpdateCaptureDependencies`), and to destroy the stream before the capture ends.
    /// 5. Until the call returns, no other thread enqueues work on the stream or ends its capture.
    /// 6. If the call returns an error, the graph is never launched.
    ///
    /// ```no_run
    /// use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.stream().expect("the device is a GPU").context().new_stream()?;
    /// let numbers = stream.clone_htod(&vec![1.0_f32; 1000])?;
    /// let mut total = stream.alloc_zeros::<f32>(1)?;
    /// let sum = Reduction::<Sum<f32>>::new(stream.clone());
    /// sum.compile()?;
    ///
    /// stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    /// // SAFETY: `numbers` and `total` outlive the graph, only this stream launches it, and no
    /// // other work uses them meanwhile.
    /// unsafe { sum.record_into(&numbers, &mut total)? };
    /// let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    /// let graph = stream.end_capture(flags)?.expect("the capture has a launch");
    /// for _ in 0..10 {
    ///     graph.launch()?;
    /// }
    /// assert_eq!(stream.clone_dtoh(&total)?, [1000.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn record_into<I, O>(&self, input: I, mut output: O) -> Result<(), Error>
    where
        I: Input<A::Input> + OnDevice<A::Input>,
        O: Output<A::Output> + OnDevice<Stored<A>>,
    {
        match (self.device.backend()?.gpu(), input.source(), output.target()) {
            (Some(stream), InputSource::Device(elements), OutputTarget::Device(place)) => {
                let arrays = Self::arrays::<I::Arrangement>(elements)?;
                let operator = self.operator(Some(arrays.length()));
                // SAFETY: the caller keeps the contract of this function.
                unsafe { self.kernel::<I::Arrangement>(stream)?.record_into(&operator, arrays, place) }
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
        .map_err(Self::name_operator)
    }
}
