//! Reductions: [`Reduction`] runs an operator on a device.

#![allow(unsafe_code)]

use std::fmt;
use std::sync::{Arc, OnceLock};

use cudarc::driver::CudaStream;

use crate::cuda::{Array, Backend, BracketKernel, InputSource, OutputTarget};
use crate::plan::Kernel;
use crate::source::{ArrayOfItems, Source};
use crate::{Device, DeviceMonoid, DeviceType, Error, Input, OnDevice, Output, Policy, cpu};

/// Reduces arrays with the operator `M` on a device.
///
/// The result is the bracket of the items ([`tree::bracket`](crate::tree::bracket)) on every
/// device:
///
/// - an empty input gives the identity;
/// - one item gives that item;
/// - an [exact](DeviceMonoid::EXACT) operator gives the same bits on the CPU and on every GPU.
///
/// An item has at most 256 bytes. The number of items is limited by memory alone.
///
/// Threads may share a `Reduction`, and may run it on several streams at once.
///
/// # Resources on a GPU
///
/// All reductions with the same operator and policy in one context share their compiled kernels and
/// their workspaces. So another `Reduction` costs microseconds. Kernels stay loaded until the
/// process ends, and they keep the context alive.
///
/// Each stream has a workspace. With the default policy it holds:
///
/// - device memory: at most 64 KiB, or a thousandth of the largest input if that is more. A stream
///   that reduces both small and large inputs holds twice as much.
/// - launch graphs: up to four, for each of which the driver allocates about 75 KiB.
///
/// ```
/// use warpfold::{Device, Reduction, operators::Max};
///
/// let largest = Reduction::<Max<f32>>::new(Device::auto());
/// assert_eq!(largest.run(&[1.0, 3.5, -2.0])?, 3.5);
/// assert_eq!(largest.run(&vec![0.5; 1000])?, 0.5);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// An item of more than 256 bytes is a compile-time error:
///
/// ```compile_fail
/// use warpfold::{Device, Monoid, Reduction, monoid};
///
/// #[derive(Clone, Copy, Default)]
/// struct First;
///
/// #[monoid]
/// impl Monoid for First {
///     type Item = [u8; 257];
///     fn identity(&self) -> [u8; 257] { [0; 257] }
///     fn combine(&self, left: [u8; 257], _: [u8; 257]) -> [u8; 257] { left }
/// }
/// let first = Reduction::<First>::new(Device::cpu());
/// ```
pub struct Reduction<M> {
    device: Device,
    operator: M,
    policy: Policy,
    kernel: OnceLock<Arc<BracketKernel>>,
}

impl<M: DeviceMonoid> Reduction<M> {
    /// Creates a reduction with an operator that has no parameters.
    ///
    /// The call does no work on the device: the first [`run`](Self::run) does.
    pub fn new(device: impl Into<Device>) -> Self
    where
        M: Default,
    {
        Self::with(device, M::default())
    }

    /// Creates a reduction with an operator that has run-time parameters.
    pub fn with(device: impl Into<Device>, operator: M) -> Self {
        const { assert!(size_of::<M::Item>() <= 256, "an item has at most 256 bytes") };
        Self {
            device: device.into(),
            operator,
            policy: Policy::for_item(&M::Item::layout()),
            kernel: OnceLock::new(),
        }
    }

    /// Replaces the policy, for measurements. No policy changes a result.
    ///
    /// Calls on a GPU return [`Error::Policy`] if no kernel can follow the policy.
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self.kernel = OnceLock::new();
        self
    }

    /// The device of the calls.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The policy: how an input is divided among kernels and blocks on a GPU.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the bracket of the input. The call blocks until the result is on the host.
    ///
    /// Device memory is read in the order of its own stream. Host memory is copied on a stream that
    /// no other code uses. The caller may change or free it after the call.
    ///
    /// The first call on a GPU compiles a baseline kernel, in about 0.1 s. It also starts to
    /// compile the tuned kernels in the background, which takes about 1 s for one operator. Until
    /// they are ready, calls use the baseline. It returns the same bits, later: a sum of 1 GiB of
    /// `f32` takes ten times as long. [`compile`](Self::compile) waits for the tuned
    /// kernels. Nothing is compiled if the disk cache holds the images. A process that exits waits
    /// for the kernel that is being compiled at that time.
    ///
    /// # Errors
    ///
    /// - [`Error::DeviceInputOnCpu`] if the input is in device memory and the device is the CPU.
    /// - [`Error::WrongContext`] if the input belongs to another CUDA context than the device.
    /// - [`Error::StreamIsCapturing`] if the input's stream records a CUDA graph.
    /// - [`Error::OutOfMemory`], and the errors of the driver, of CUDA, of NVRTC and of
    ///   compilation.
    ///
    /// After an error the input is unchanged, and a later call may succeed.
    pub fn run<I: Input<M::Item>>(&self, input: I) -> Result<M::Item, Error> {
        match (self.device.backend()?, input.source()) {
            (Backend::Cpu, InputSource::Host(items)) => Ok(cpu::bracket(&self.operator, items)),
            (Backend::Cpu, InputSource::Device(_)) => Err(Error::DeviceInputOnCpu),
            (Backend::Cuda { .. }, InputSource::Host([])) => Ok(self.operator.identity()),
            (Backend::Cuda { stream, .. }, InputSource::Host(items)) => {
                self.kernel(stream)?.run_host(&self.operator, items)
            }
            (Backend::Cuda { stream, .. }, InputSource::Device(items)) => {
                self.kernel(stream)?.run(&self.operator, &Array(items))
            }
        }
    }

    /// Writes the bracket of the input to one item of device memory, without waiting for the
    /// result.
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
    /// - [`Error::OutputLength`] unless the output holds exactly one item.
    /// - [`Error::DeviceInputOnCpu`] if the device is the CPU.
    /// - [`Error::WrongContext`] if the input or the output belongs to another CUDA context than
    ///   the device.
    /// - [`Error::StreamIsCapturing`] if the stream of the input or of the output records a CUDA
    ///   graph: see [`record_into`](Self::record_into).
    /// - The other errors of [`run`](Self::run).
    pub fn run_into<I, O>(&self, input: I, mut output: O) -> Result<(), Error>
    where
        I: Input<M::Item> + OnDevice<M::Item>,
        O: Output<M::Item> + OnDevice<M::Item>,
    {
        match (self.device.backend()?, input.source(), output.target()) {
            (Backend::Cuda { stream, .. }, InputSource::Device(items), OutputTarget::Device(place)) => {
                self.kernel(stream)?.run_into(&self.operator, Array(items), place)
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
    }

    /// Records the reduction into the CUDA graph that the input's stream is capturing.
    ///
    /// Each launch of the graph reads the input anew, and writes its bracket to the output.
    ///
    /// The graph contains the tuned kernels. They are compiled by this call unless
    /// [`compile`](Self::compile) has compiled them. The graph keeps a workspace until the graph
    /// and all its instances are destroyed. The section on resources of [`Reduction`] gives its
    /// size.
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
    pub unsafe fn record_into<I, O>(&self, input: I, mut output: O) -> Result<(), Error>
    where
        I: Input<M::Item> + OnDevice<M::Item>,
        O: Output<M::Item> + OnDevice<M::Item>,
    {
        match (self.device.backend()?, input.source(), output.target()) {
            (Backend::Cuda { stream, .. }, InputSource::Device(items), OutputTarget::Device(place)) => {
                // SAFETY: the caller keeps the contract of this function.
                unsafe { self.kernel(stream)?.record_into(&self.operator, Array(items), place) }
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
    }

    /// Compiles and loads the tuned kernels, and creates the workspace of the device's stream.
    ///
    /// Call it ahead of time, or to wait for the compilation that a [`run`](Self::run) started. The
    /// workspace allocates its device memory when a call first needs it. On the CPU the call does
    /// nothing.
    ///
    /// # Errors
    ///
    /// - [`Error::StreamIsCapturing`] if the device's stream records a CUDA graph.
    /// - The errors of the driver, of CUDA, of NVRTC and of compilation.
    pub fn compile(&self) -> Result<(), Error> {
        match self.device.backend()? {
            Backend::Cpu => Ok(()),
            Backend::Cuda { stream, .. } => self.kernel(stream)?.reserve::<M, ArrayOfItems>(stream),
        }
    }

    /// The rendered CUDA C++ of the kernel for large inputs. The call needs no GPU.
    ///
    /// [`Source::of_reduction`] renders the other kernels.
    ///
    /// # Errors
    ///
    /// - [`Error::Policy`] if no kernel can follow the policy.
    /// - The errors of an operator that has no CUDA C++ form, such as [`Error::Untranslatable`].
    pub fn source(&self) -> Result<Source, Error> {
        Source::of_reduction::<M>(&self.policy, Kernel::Large)
    }

    fn kernel(&self, stream: &CudaStream) -> Result<&BracketKernel, Error> {
        if let Some(kernel) = self.kernel.get() {
            return Ok(kernel);
        }
        let kernel = BracketKernel::of::<M, ArrayOfItems>(stream.context(), self.policy)?;
        Ok(self.kernel.get_or_init(|| kernel))
    }
}

impl<M> fmt::Debug for Reduction<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reduction")
            .field("operator", &std::any::type_name::<M>())
            .field("device", &self.device)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
