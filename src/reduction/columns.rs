//! Reductions of each column of a matrix.

#![allow(unsafe_code)]

use super::matrix::{Matrix, Rows};
use super::{Reduction, Stored};
use crate::plan::Kernel;
use crate::{DeviceAggregate, Error, Explanation, Input, OnDevice, Output, Place};

impl<A: DeviceAggregate> Reduction<A> {
    /// Returns the result of each column of a matrix in row-major order, in new memory of the input's
    /// kind.
    ///
    /// `rows` is the number of columns, or [`Rows`] with a pitch. A column is its own bracket, from
    /// top to bottom: its result has the bits of [`run`](Self::run) of its elements alone. The index
    /// that [`Aggregate::prepare`](crate::Aggregate::prepare) gets is the row. A matrix without rows
    /// has the result of an empty input in each column.
    ///
    /// Memory and streams are those of [`rows`](Self::rows). The first call on a GPU compiles the
    /// kernel, in about a second, and [`compile_columns`](Self::compile_columns) does so ahead of
    /// time.
    ///
    /// # Errors
    ///
    /// The errors of [`rows`](Self::rows).
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Mean};
    ///
    /// // Two rows of three columns.
    /// let means = Reduction::<Mean<f32>>::new(Device::auto()).columns(&[1.0, 2.0, 3.0, 5.0, 6.0, 7.0], 3)?;
    /// assert_eq!(means, [Some(3.0), Some(4.0), Some(5.0)]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn columns<I: Input<A::Input>>(
        &self,
        matrix: I,
        rows: impl Into<Rows>,
    ) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
        self.each_part(matrix, &Matrix::Columns(rows.into()))
    }

    /// Writes the result of each column of a matrix to `output`, which has a place for each.
    ///
    /// Memory and streams are those of [`rows_into`](Self::rows_into).
    ///
    /// # Errors
    ///
    /// The errors of [`rows_into`](Self::rows_into).
    ///
    /// After an error the output is unspecified.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Max};
    ///
    /// let mut largest = [0; 3];
    /// Reduction::<Max<u32>>::new(Device::auto()).columns_into(&[3, 1, 4, 1, 5, 9], 3, &mut largest)?;
    /// assert_eq!(largest, [3, 5, 9]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn columns_into<I: Input<A::Input>, O: Output<A::Output>>(
        &self,
        matrix: I,
        rows: impl Into<Rows>,
        mut output: O,
    ) -> Result<(), Error> {
        self.each_part_into(matrix, &Matrix::Columns(rows.into()), output.target())
    }

    /// Records the reduction of each column into the CUDA graph that the input's stream is capturing.
    ///
    /// Each launch of the graph reads the input anew, and writes its results to the output. A missing
    /// kernel is compiled by this call.
    ///
    /// # Errors
    ///
    /// The errors of [`record_rows_into`](Self::record_rows_into).
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
    /// let mut sums = stream.alloc_zeros::<f32>(3)?;
    /// let sum = Reduction::<Sum<f32>>::new(stream.clone());
    /// sum.compile_columns()?;
    ///
    /// stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    /// // SAFETY: `matrix` and `sums` outlive the graph, which is launched once and alone.
    /// unsafe { sum.record_columns_into(&matrix, 3, &mut sums)? };
    /// let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    /// let graph = stream.end_capture(flags)?.expect("the capture has a launch");
    /// graph.launch()?;
    /// assert_eq!(stream.clone_dtoh(&sums)?, [2.0, 2.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn record_columns_into<I, O>(
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
        unsafe { self.record_each_part_into(matrix, &Matrix::Columns(rows.into()), output.target()) }
    }

    /// Compiles and loads the kernel of [`columns`](Self::columns), and creates the workspace of the
    /// device's stream. On the CPU the call does nothing. One column without gaps is reduced as a row:
    /// [`compile_rows`](Self::compile_rows) has its kernels.
    ///
    /// # Errors
    ///
    /// The errors of [`compile`](Self::compile).
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Min};
    ///
    /// Reduction::<Min<u16>>::new(Device::auto()).compile_columns()?;
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn compile_columns(&self) -> Result<(), Error> {
        self.compile_kernels(&[Kernel::ByColumns])
    }

    /// What [`columns`](Self::columns) launches for a matrix of `length` elements in device memory. Compiles
    /// missing kernels. On the CPU there are no launches.
    ///
    /// # Errors
    ///
    /// - The errors of [`explain`](Self::explain).
    /// - The errors of [`columns`](Self::columns) for a length or a shape.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::ArgMax};
    ///
    /// let explanation = Reduction::<ArgMax<f32>>::new(Device::auto()).explain_columns(1 << 20, 1024)?;
    /// println!("{explanation}");
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn explain_columns(&self, length: usize, rows: impl Into<Rows>) -> Result<Explanation, Error> {
        self.explain_matrix(length as u64, Matrix::Columns(rows.into()))
    }
}
