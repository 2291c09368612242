//! Reductions: [`Reduction`] runs an operator on a device.

mod host;
mod record;

use std::fmt;
use std::sync::{Arc, OnceLock};

use cudarc::driver::CudaStream;

use crate::cuda::{Array, Backend, BracketKernel, InputSource, OutputTarget};
use crate::language::check_sizes;
use crate::plan::{Kernel, Policy};
use crate::source::{ArrayOfItems, Source};
use crate::{Device, DeviceMonoid, DeviceType, Error, Explanation, Input, OnDevice, Output, cpu};

/// Reduces arrays with the operator `M` on a device.
///
/// The result is the bracket of the items ([`tree::bracket`](crate::tree::bracket)) on every
/// device:
///
/// - an empty input gives the identity;
/// - one item gives that item;
/// - an [exact](DeviceMonoid::EXACT) operator gives the same bits on the CPU and on every GPU.
///
/// An item has at most 256 bytes, and an operator 3584. The number of items is limited by memory
/// alone.
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
/// The first reduction of more than 64 KiB of host memory on a GPU allocates 128 MiB of pinned
/// memory and 64 MiB of device memory for its context. All later ones share them, one at a time.
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
///
/// So is an operator of more than 3584 bytes:
///
/// ```compile_fail
/// use warpfold::{Device, DeviceType, Monoid, Reduction, monoid};
///
/// #[derive(Clone, Copy, DeviceType)]
/// #[repr(C)]
/// struct Table { steps: [u32; 1000] }
///
/// #[monoid]
/// impl Monoid for Table {
///     type Item = u32;
///     fn identity(&self) -> u32 { 0 }
///     fn combine(&self, left: u32, right: u32) -> u32 { left + right * self.steps[0] }
/// }
/// let table = Reduction::with(Device::cpu(), Table { steps: [1; 1000] });
/// ```
#[derive(Clone)]
#[must_use = "a reduction does nothing until it runs"]
pub struct Reduction<M> {
    device: Device,
    operator: M,
    policy: Policy,
    kernel: OnceLock<Arc<BracketKernel>>,
}

// The bounds stand on `new` and `with` rather than on the block. The compiler then shows the hint
// of `DeviceMonoid` if `#[monoid]` is missing.
impl<M> Reduction<M> {
    /// Creates a reduction with an operator that has no parameters.
    ///
    /// The call does no work on the device: the first [`run`](Self::run) does.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let sum = Reduction::<Sum<i64>>::new(Device::auto());
    /// assert_eq!(sum.run(&[1, 2, 3])?, 6);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn new(device: impl Into<Device>) -> Self
    where
        M: DeviceMonoid + Default,
    {
        Self::with(device, M::default())
    }

    /// Creates a reduction with an operator that has run-time parameters.
    ///
    /// ```
    /// use warpfold::{Device, DeviceType, Monoid, Reduction, monoid};
    ///
    /// /// The number that is nearest to `target`.
    /// #[derive(Clone, Copy, DeviceType)]
    /// #[repr(C)]
    /// struct Nearest { target: f32 }
    ///
    /// #[monoid]
    /// impl Monoid for Nearest {
    ///     type Item = f32;
    ///     fn identity(&self) -> f32 { f32::INFINITY }
    ///     fn combine(&self, left: f32, right: f32) -> f32 {
    ///         let distance = (left - self.target).abs();
    ///         if (right - self.target).abs() < distance { right } else { left }
    ///     }
    /// }
    ///
    /// let nearest = Reduction::with(Device::auto(), Nearest { target: 10.0 });
    /// assert_eq!(nearest.run(&[1.0, 8.5, 12.0])?, 8.5);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn with(device: impl Into<Device>, operator: M) -> Self
    where
        M: DeviceMonoid,
    {
        const { check_sizes::<M>() };
        Self {
            device: device.into(),
            operator,
            policy: Policy::for_item(&M::Item::layout()),
            kernel: OnceLock::new(),
        }
    }
}

impl<M: DeviceMonoid> Reduction<M> {
    /// Replaces the policy, for measurements. No policy changes a result.
    ///
    /// Calls on a GPU return [`Error::Policy`] if no kernel can follow the policy.
    #[cfg(feature = "internals")]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self.kernel = OnceLock::new();
        self
    }

    /// The device of the calls.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Max};
    ///
    /// let largest = Reduction::<Max<u8>>::new(Device::cpu());
    /// assert!(!largest.device().is_gpu());
    /// ```
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The policy: how an input is divided among kernels and blocks on a GPU.
    #[cfg(feature = "internals")]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the bracket of the input. The call blocks until the result is on the host.
    ///
    /// Device memory is read in the order of its own stream. [`Device::auto`] documents where host
    /// memory is reduced. A GPU copies it on a stream that no other code uses. The caller may
    /// change or free it after the call.
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
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Min};
    ///
    /// let temperatures = vec![21.5, 19.0, 23.25];
    /// assert_eq!(Reduction::<Min<f32>>::new(Device::auto()).run(&temperatures)?, 19.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn run<I: Input<M::Item>>(&self, input: I) -> Result<M::Item, Error> {
        self.run_source(input.source()).map_err(Self::name_operator)
    }

    fn run_source(&self, source: InputSource<'_, M::Item>) -> Result<M::Item, Error> {
        if let (InputSource::Host(items), true) = (&source, self.device.is_auto()) {
            return self.run_fastest(items);
        }
        match (self.device.backend()?, source) {
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

    /// Names the operator in the error of a kernel.
    fn name_operator(error: Error) -> Error {
        error.of_operator(std::any::type_name::<M>())
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
        I: Input<M::Item> + OnDevice<M::Item>,
        O: Output<M::Item> + OnDevice<M::Item>,
    {
        match (self.device.backend()?, input.source(), output.target()) {
            (Backend::Cuda { stream, .. }, InputSource::Device(items), OutputTarget::Device(place)) => {
                self.kernel(stream)?.run_into(&self.operator, Array(items), place)
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
        .map_err(Self::name_operator)
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
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Product};
    ///
    /// let product = Reduction::<Product<f64>>::new(Device::auto());
    /// product.compile()?;
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn compile(&self) -> Result<(), Error> {
        match self.device.backend()? {
            Backend::Cpu => Ok(()),
            Backend::Cuda { stream, .. } => self.kernel(stream)?.reserve::<M, ArrayOfItems>(stream),
        }
    }

    /// What the tuned kernels launch for an input of `length` items in device memory: kernels,
    /// grids, registers, local memory and scratch memory. Compiles missing kernels. On the CPU
    /// there are no launches.
    ///
    /// # Errors
    ///
    /// The errors of the driver, of CUDA, of NVRTC and of compilation.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Max};
    ///
    /// let explanation = Reduction::<Max<f64>>::new(Device::auto()).explain(1 << 24)?;
    /// for launch in &explanation.launches {
    ///     assert_eq!(launch.local_bytes, 0, "registers are spilled");
    /// }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn explain(&self, length: usize) -> Result<Explanation, Error> {
        let (launches, scratch_bytes) = match self.device.backend()? {
            Backend::Cpu => (Vec::new(), 0),
            Backend::Cuda { stream, .. } => self.kernel(stream)?.explain::<M, ArrayOfItems>(length as u64)?,
        };
        Ok(Explanation { device: self.device.to_string(), length: length as u64, launches, scratch_bytes })
    }

    /// The rendered CUDA C++ of the kernel for large inputs. The call needs no GPU.
    ///
    /// # Errors
    ///
    /// The errors of an operator that has no CUDA C++ form, such as [`Error::Untranslatable`].
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let source = Reduction::<Sum<f32>>::new(Device::cpu()).source()?;
    /// assert!(source.program().contains("combine"));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
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
            .finish_non_exhaustive()
    }
}
