//! Reductions whose result stays in device memory.

use super::{Reduction, Stored};
use crate::cuda::{Elements, InputSource, OutputTarget};
use crate::{DeviceAggregate, Error, Input, OnDevice, Output};

impl<A: DeviceAggregate> Reduction<A> {
    /// Writes the result of the input to device memory, without waiting for it.
    ///
    /// An aggregate presents the result on the GPU. Device memory holds it as
    /// [`Value::Stored`](crate::Value::Stored).
    ///
    /// The work is enqueued on the input's stream. If the output belongs to another stream, that
    /// stream waits for the result.
    ///
    /// The first call compiles, as in [`run`](Self::run). The call also blocks in two cases:
    ///
    /// - Another thread's [`run`](Self::run) uses the same stream.
    /// - Workspaces for 64 streams exist and this stream has none. The call frees the workspaces
    ///   that no other call uses, and waits for their last work.
    ///
    /// # Errors
    ///
    /// - [`Error::OutputLength`] unless the output has room for exactly one result.
    /// - [`Error::DeviceInputOnCpu`] if the device is the CPU.
    /// - [`Error::WrongContext`] if the input or the output belongs to another CUDA context than
    ///   the device.
    /// - [`Error::StreamIsCapturing`] if the stream of the input or of the output records a CUDA
    ///   graph: see [`record_into`](Self::record_into).
    /// - The other errors of [`run`](Self::run).
    ///
    /// ```no_run
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.stream().expect("the device is a GPU").clone();
    /// let numbers = stream.clone_htod(&vec![1.0_f32; 1000])?;
    /// let mut total = stream.alloc_zeros::<f32>(1)?;
    /// Reduction::<Sum<f32>>::new(device).run_into(&numbers, &mut total)?;
    /// assert_eq!(stream.clone_dtoh(&total)?, [1000.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_into<I, O>(&self, input: I, mut output: O) -> Result<(), Error>
    where
        I: Input<A::Input> + OnDevice<A::Input>,
        O: Output<A::Output> + OnDevice<Stored<A>>,
    {
        match (self.device.backend()?.gpu(), input.source(), output.target()) {
            (Some(stream), InputSource::Device(elements), OutputTarget::Device(place)) => {
                let arrays = Self::arrays::<I::Arrangement>(elements)?;
                let operator = self.operator(Some(arrays.length()));
                self.kernel::<I::Arrangement>(stream)?.run_into(&operator, arrays, place)
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
        .map_err(Self::name_operator)
    }
}
