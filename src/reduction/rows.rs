//! Reductions of each row of a matrix.

#![allow(unsafe_code)]

use super::matrix::{Matrix, Rows};
use super::{Reduction, Stored};
use crate::plan::Kernel;
use crate::{DeviceAggregate, Error, Explanation, Input, OnDevice, Output, Place};

impl<A: DeviceAggregate> Reduction<A> {
    /// Returns the result of each row of a matrix, in new memory of the input's kind.
    ///
    /// `rows` is the number of columns, or [`Rows`] with a pitch. A row is its own bracket: its
    /// result has the bits of [`run`](Self::run) of the row alone, whatever the number of rows and
    /// their place. The index that [`Aggregate::prepare`](crate::Aggregate::prepare) gets counts from 0 in each row. An input
    /// without elements has no rows, and gives no results.
    ///
    /// - Host memory and a range give a `Vec` of outputs. [`Device::auto`](crate::Device::auto)
    ///   reduces them on the CPU.
    /// - Device memory gives a `CudaSlice` of the same stream, which holds outputs as
    ///   [`Value::Stored`](crate::Value::Stored). The reduction is enqueued on that stream, and the
    ///   call does not wait for it.
    ///
    /// The first call on a GPU compiles the kernels that it needs, in about a second.
    /// [`compile_rows`](Self::compile_rows) does so ahead of time.
    ///
    /// # Errors
    ///
    /// - [`Error::NoColumns`] if rows have no columns.
    /// - [`Error::ShortPitch`] if the pitch is less than the columns.
    /// - [`Error::IncompleteRow`] if the input is no whole rows.
    /// - The errors of [`run`](Self::run).
    ///
    /// ```
    /// use warpfold::aggregates::{ArgMax, Mean};
    /// use warpfold::{Device, Reduction};
    ///
    /// // Two days of four temperatures each.
    /// let temperatures = [11.0, 14.0, 19.0, 16.0, 9.0, 12.0, 12.0, 11.0];
    /// let days = Reduction::<(Mean<f32>, ArgMax<f32>)>::new(Device::auto()).rows(&temperatures, 4)?;
    /// let (mean, warmest) = days[1];
    /// assert_eq!((mean, warmest.map(|hour| hour.index)), (Some(11.0), Some(1)));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn rows<I: Input<A::Input>>(
        &self,
        matrix: I,
        rows: impl Into<Rows>,
    ) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
        self.each_part(matrix, &Matrix::Rows(rows.into()))
    }

    /// Writes the result of each row of a matrix to `output`, which has a place for each.
    ///
    /// Input and output are in host memory or in device memory, each by itself. If both are in
    /// device memory, the work is enqueued on the input's stream, and the call does not wait for it.
    /// If the output belongs to another stream, that stream waits for the results.
    ///
    /// # Errors
    ///
    /// - [`Error::OutputLength`] unless the output has as many places as there are rows.
    /// - [`Error::DeviceInputOnCpu`] if the input or the output is in device memory and the device
    ///   is the CPU.
    /// - The errors of [`rows`](Self::rows).
    ///
    /// After an error the output is unspecified.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Max};
    ///
    /// let mut largest = [0; 2];
    /// Reduction::<Max<u32>>::new(Device::auto()).rows_into(&[3, 1, 4, 1, 5, 9], 3, &mut largest)?;
    /// assert_eq!(largest, [4, 9]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn rows_into<I: Input<A::Input>, O: Output<A::Output>>(
        &self,
        matrix: I,
        rows: impl Into<Rows>,
        mut output: O,
    ) -> Result<(), Error> {
        self.each_part_into(matrix, &Matrix::Rows(rows.into()), output.target())
    }

    /// Records the reduction of each row into the CUDA graph that the input's stream is capturing.
    ///
    /// Each launch of the graph reads the input anew, and writes its results to the output. Missing
    /// kernels are compiled by this call.
    ///
    /// # Errors
    ///
    /// - [`Error::StreamIsNotCapturing`] if the input's stream does not record a graph.
    /// - The errors of [`rows_into`](Self::rows_into), except [`Error::StreamIsCapturing`].
    ///
    /// # Safety
    ///
    /// The conditions of [`record_into`](Self::record_into).
    ///
    /// ```no_run
    /// use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.stream().expect("the device is a GPU").context().new_stream()?;
    /// let matrix = stream.clone_htod(&vec![1.0_f32; 6])?;
    /// let mut sums = stream.alloc_zeros::<f32>(2)?;
    /// let sum = Reduction::<Sum<f32>>::new(stream.clone());
    /// sum.compile_rows()?;
    ///
    /// stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    /// // SAFETY: `matrix` and `sums` outlive the graph, which is launched once and alone.
    /// unsafe { sum.record_rows_into(&matrix, 3, &mut sums)? };
    /// let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    /// let graph = stream.end_capture(flags)?.expect("the capture has a launch");
    /// graph.launch()?;
    /// assert_eq!(stream.clone_dtoh(&sums)?, [3.0, 3.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn record_rows_into<I, O>(
        &self,
        matrix: I,
        rows: impl Into<Rows>,
        mut output: O,
    ) -> Result<(), Error>
    where
        I: Input<A::Input> + OnDevice<A::Input>,
        O: Output<A::Output> + OnDevice<Stored<A>>,
    {
        // SAFETY: the caller keeps the contract of this function.
        unsafe { self.record_each_part_into(matrix, &Matrix::Rows(rows.into()), output.target()) }
    }

    /// Compiles and loads the kernels of [`rows`](Self::rows), and creates the workspace of the
    /// device's stream. On the CPU the call does nothing.
    ///
    /// # Errors
    ///
    /// The errors of [`compile`](Self::compile).
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Min};
    ///
    /// Reduction::<Min<u16>>::new(Device::auto()).compile_rows()?;
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn compile_rows(&self) -> Result<(), Error> {
        self.compile_kernels(&[Kernel::ByLanes, Kernel::ByWarps])
    }

    /// What [`rows`](Self::rows) launches for a matrix of `length` elements in device memory. Compiles
    /// missing kernels. On the CPU there are no launches.
    ///
    /// # Errors
    ///
    /// - The errors of [`explain`](Self::explain).
    /// - The errors of [`rows`](Self::rows) for a length or a shape.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::ArgMax};
    ///
    /// let explanation = Reduction::<ArgMax<f32>>::new(Device::auto()).explain_rows(1 << 20, 1024)?;
    /// println!("{explanation}");
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn explain_rows(&self, length: usize, rows: impl Into<Rows>) -> Result<Explanation, Error> {
        self.explain_matrix(length as u64, Matrix::Rows(rows.into()))
    }
}
