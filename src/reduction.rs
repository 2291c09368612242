//! The reduction: an operator on a device.

#![allow(unsafe_code)]

use std::fmt;
use std::sync::{Arc, OnceLock};

use cudarc::driver::CudaStream;

use crate::cuda::{Array, Backend, BracketKernel, InputSource, OutputTarget};
use crate::plan::Kernel;
use crate::source::{ItemsAsTheyAre, Source};
use crate::{Device, DeviceMonoid, DeviceType, Error, Input, OnDevice, Output, Policy, cpu};

/// Reduces arrays with the operator `M` on a device.
///
/// The result is the bracket of the items ([`tree::bracket`](crate::tree::bracket)), whatever the device: an empty
/// input gives the identity, one item is that item, and an [exact](DeviceMonoid::EXACT) operator gives the same bits
/// on the CPU and on every GPU. Items may have up to 256 bytes, and there may be any number of them that fits in
/// memory.
///
/// It can be shared by threads, and run on several streams at once. On a GPU, compiled kernels and workspaces (by default
/// up to 64 KiB of device memory for each stream, or a thousandth of an input where that is more, as much again where small and large inputs
/// are reduced on it; beside what the driver has for the graphs by which they are launched, some
/// 75 KiB for each of up to four) are those of all reductions with this operator and policy in the context, and the kernels,
/// and with them the context, stay for the life of the process: to make another `Reduction` costs microseconds.
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
/// An item of more than 256 bytes is refused when the program is compiled:
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
    /// A reduction with a parameterless operator. It does no work yet: the first [`run`](Self::run) does.
    pub fn new(device: impl Into<Device>) -> Self
    where
        M: Default,
    {
        Self::with(device, M::default())
    }

    /// A reduction with an operator that has run-time parameters.
    pub fn with(device: impl Into<Device>, operator: M) -> Self {
        const { assert!(size_of::<M::Item>() <= 256, "an item has at most 256 bytes") };
        Self {
            device: device.into(),
            operator,
            policy: Policy::for_item(&M::Item::layout()),
            kernel: OnceLock::new(),
        }
    }

    /// The same reduction under another policy: for measurements. No result changes.
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self.kernel = OnceLock::new();
        self
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How it cuts its input on a GPU.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The bracket of the input.
    ///
    /// Device memory is read in the order of its own stream. Host memory is copied on a stream that no other code uses,
    /// and may be changed or freed when the call has returned. Either way the call returns when the result is there.
    ///
    /// The first call on a GPU compiles a baseline kernel, in about a tenth of a second, and has the tuned ones compiled in the
    /// background, which takes about a second for one operator. Until they are there calls use the baseline: the same bits, at
    /// down to a tenth of the rate, and for bytes less. [`compile`](Self::compile) waits for them instead. Where their images are in the disk cache nothing
    /// is compiled. A process that ends waits for the kernel that is being compiled then.
    ///
    /// # Errors
    ///
    /// What keeps the device from running ([`Error`] lists it). Nothing is lost: the input is untouched, and the next
    /// call may succeed.
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

    /// Writes the bracket of the input to a place in device memory, in the order of the input's stream, and does not
    /// wait for it. (It waits while another thread's [`run`](Self::run) uses the same stream, and, once for every 64
    /// streams that reductions with this operator meet, for their last work, when workspaces of old streams are freed.)
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run); [`Error::OutputLength`] unless the output holds exactly one item;
    /// [`Error::StreamIsCapturing`] if the stream records a CUDA graph: see [`record_into`](Self::record_into).
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

    /// Adds a reduction of the input to the CUDA graph that its stream records: each launch of the graph writes the
    /// bracket of what the input then holds to the output.
    ///
    /// The graph gets the tuned kernels, which are compiled now unless [`compile`](Self::compile) has done so. It keeps a
    /// workspace for them, of the size that [`Reduction`] tells, until the graph and all its instances are gone.
    ///
    /// # Errors
    ///
    /// As for [`run_into`](Self::run_into); [`Error::StreamIsNotCapturing`] if the stream does not record a graph.
    ///
    /// # Safety
    ///
    /// 1. The memory of the input and of the output stays allocated until the last launch of the graph, or of a copy of it,
    ///    has ended.
    /// 2. While a launch runs, nothing else writes the input, and nothing else reads or writes the output.
    /// 3. Launches of the graph, of its instances and of its copies run one after another: they share the workspace.
    /// 4. The calls that one stream records run one after another in the graph. That is so unless the dependencies of the
    ///    capture are replaced (`cuStreamUpdateCaptureDependencies`), or the stream is destroyed before the capture ends.
    /// 5. Until the call returns, no other thread gives the stream work, or ends its capture.
    /// 6. If the call returns an error, the graph is not launched.
    pub unsafe fn record_into<I, O>(&self, input: I, mut output: O) -> Result<(), Error>
    where
        I: Input<M::Item> + OnDevice<M::Item>,
        O: Output<M::Item> + OnDevice<M::Item>,
    {
        match (self.device.backend()?, input.source(), output.target()) {
            (Backend::Cuda { stream, .. }, InputSource::Device(items), OutputTarget::Device(place)) => {
                // SAFETY: the caller's promise.
                unsafe { self.kernel(stream)?.record_into(&self.operator, Array(items), place) }
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
    }

    /// Compiles and loads the tuned kernels, and makes the workspace of the device's stream, whose device memory is allocated when it is
    /// first needed: ahead of time, or to wait for what a [`run`](Self::run) began. On the CPU there is nothing to do.
    pub fn compile(&self) -> Result<(), Error> {
        match self.device.backend()? {
            Backend::Cpu => Ok(()),
            Backend::Cuda { stream, .. } => self.kernel(stream)?.reserve::<M, ItemsAsTheyAre>(stream),
        }
    }

    /// The rendered CUDA C++, on any machine: of the kernel for large inputs. [`Source::of_reduction`] gives the others.
    pub fn source(&self) -> Result<Source, Error> {
        Source::of_reduction::<M>(&self.policy, Kernel::Large)
    }

    fn kernel(&self, stream: &CudaStream) -> Result<&BracketKernel, Error> {
        if let Some(kernel) = self.kernel.get() {
            return Ok(kernel);
        }
        let kernel = BracketKernel::of::<M, ItemsAsTheyAre>(stream.context(), self.policy)?;
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
