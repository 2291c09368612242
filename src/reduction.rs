//! Reductions: [`Reduction`] runs an operator on a device.

mod columns;
mod enqueue;
mod host;
mod matrix;
mod parts;
mod record;
mod rows;
mod running;
mod segments;

pub use matrix::Rows;

use std::fmt;
use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::cuda::{Arrays, BracketKernel, Elements, InputSource, Kept, SegmentKernel};
use crate::language::check_sizes;
use crate::plan::{Kernel, Policy, SegmentPolicy};
use crate::source::{ReaderOf, Source, data_of, is_default};
use crate::types::Arrangement;
use crate::{
    Aggregate, Device, DeviceAggregate, DeviceMonoid, Error, ExplainedLaunch, Explanation, Input, Item,
    Monoid, Value, cpu,
};

/// Most bytes of an element: a lane of a GPU loads it as a whole.
const MAX_ELEMENT_BYTES: usize = 1024;

/// Reduces arrays with the operator or the [`Aggregate`] `A` on a device.
///
/// The result of an operator is the bracket of the items
/// ([`tree::bracket`](crate::tree::bracket)) on every device:
///
/// - an empty input gives the identity;
/// - one item gives that item;
/// - an [exact](DeviceAggregate::EXACT) operator gives the same bits on the CPU and on every GPU.
///
/// An aggregate prepares the items, and presents the bracket. An item has at most 256 bytes. An
/// operator has at most 3584, as has an aggregate together with its operator. An element has at most
/// 1024, those of all arrays in step together. The number of elements is limited by memory alone, and
/// that of indices by 2^44.
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
/// - device memory: at most 64 KiB, or a thousandth of the items of the largest input if that is more. A stream
///   that reduces both small and large inputs holds twice as much.
/// - launch graphs: up to four, for each of which the driver allocates about 75 KiB.
///
/// A tuple is read from arrays in step or from an array of tuples, by kernels of their own. An aggregate expects
/// arrays in step, and an operator whose items are tuples an array of them. `compile` and its likes, `explain`
/// and `source` are of these kernels. The first call with the other arrangement compiles its own.
///
/// Rows, columns and segments have kernels and workspaces of their own. Such a workspace holds the
/// partials of the largest input: of rows and columns an item for each chunk of up to 512 rows of a
/// column, or of some thousand elements of a row.
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
///
/// ```compile_fail
/// use warpfold::{Device, Reduction, aggregates::Count};
///
/// let count = Reduction::<Count<[u8; 1025]>>::new(Device::cpu());
/// ```
#[derive(Clone)]
#[must_use = "a reduction does nothing until it runs"]
pub struct Reduction<A> {
    device: Device,
    aggregate: A,
    policy: Policy,
    kernel: Kept<BracketKernel>,
    segment_policy: SegmentPolicy,
    segment_kernel: Kept<SegmentKernel>,
}

// The bounds stand on `new` and `with` rather than on the block. The compiler then shows the hint
// of `DeviceAggregate` if `#[monoid]` or `#[aggregate]` is missing.
impl<A> Reduction<A> {
    /// Creates a reduction with an operator or aggregate that has no parameters.
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
        A: DeviceAggregate + Default,
    {
        Self::with(device, A::default())
    }

    /// Creates a reduction with an operator or aggregate that has run-time parameters.
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
    pub fn with(device: impl Into<Device>, aggregate: A) -> Self
    where
        A: DeviceAggregate,
    {
        const {
            check_sizes::<A::Operator>();
            assert!(
                size_of::<A::Input>() <= MAX_ELEMENT_BYTES,
                "an element has at most 1024 bytes, those of all arrays in step together"
            );
        }
        let data = data_of::<A::Operator, ReaderOf<A>>();
        Self {
            device: device.into(),
            aggregate,
            policy: Policy::for_data(&data),
            kernel: Kept::none(),
            segment_policy: SegmentPolicy::for_data(&data),
            segment_kernel: Kept::none(),
        }
    }
}

impl<A: DeviceAggregate> Reduction<A> {
    /// Replaces the policy, for measurements. No policy changes a result.
    ///
    /// Calls on a GPU return [`Error::Policy`] if no kernel can follow the policy.
    #[cfg(feature = "internals")]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self.kernel = Kept::none();
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

    /// Replaces the policy of rows, for measurements. No policy changes a result.
    ///
    /// Calls on a GPU return [`Error::Policy`] if no kernel can follow the policy.
    #[cfg(feature = "internals")]
    pub fn with_segment_policy(mut self, policy: SegmentPolicy) -> Self {
        self.segment_policy = policy;
        self.segment_kernel = Kept::none();
        self
    }

    /// The policy: how an input is divided among kernels and blocks on a GPU.
    #[cfg(feature = "internals")]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the result of the input: of an operator, the bracket. The call blocks until the result is on the host.
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
    /// - [`Error::UnequalLengths`] if arrays in step have different lengths.
    /// - [`Error::IndexStart`] if a range does not begin with 0.
    /// - [`Error::InputLength`] if a range has more than 2^44 indices.
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
    pub fn run<I: Input<A::Input>>(&self, input: I) -> Result<A::Output, Error> {
        let (item, count) = self.run_source::<I::Arrangement>(input.source()).map_err(Self::name_operator)?;
        Ok(self.aggregate.present(item, count))
    }

    /// The item of the input, and the number of elements.
    fn run_source<R: Arrangement<Element = A::Input>>(
        &self,
        source: InputSource<'_, R>,
    ) -> Result<(Item<A>, u64), Error> {
        let slices = match source {
            InputSource::Host(slices) => slices,
            InputSource::Device(pointers) => {
                let backend = self.device.backend()?;
                let Some(stream) = backend.gpu() else {
                    return Err(Error::DeviceInputOnCpu);
                };
                let arrays = Self::arrays::<R>(pointers)?;
                let item = self.kernel::<R>(stream)?.run(&self.operator(None), &arrays)?;
                return Ok((item, arrays.length()));
            }
        };
        let length = cpu::length_of::<R>(slices)?;
        let item = match self.device.is_auto() {
            true => self.run_fastest::<R>(slices, length),
            false => match self.device.backend()?.gpu() {
                None => Ok(self.run_on_cpu::<R>(slices, length)),
                Some(_) if length == 0 => Ok(self.aggregate.monoid().identity()),
                Some(stream) => self.run_host_on_gpu::<R>(&*self.kernel::<R>(stream)?, slices, length),
            },
        };
        Ok((item?, length as u64))
    }

    fn run_on_cpu<R: Arrangement<Element = A::Input>>(
        &self,
        slices: R::Slices<'_>,
        length: usize,
    ) -> Item<A> {
        let elements = cpu::Prepared::<A, R>::for_reduction(&self.aggregate, slices, length);
        cpu::bracket(&self.aggregate.monoid(), &elements)
    }

    fn run_host_on_gpu<R: Arrangement<Element = A::Input>>(
        &self,
        kernel: &BracketKernel,
        slices: R::Slices<'_>,
        length: usize,
    ) -> Result<Item<A>, Error> {
        kernel.run_host::<_, R, A::Preparation<R>>(&self.operator(None), slices, length)
    }

    /// The operator of kernels that write the result of this number of elements, or the item.
    fn operator(&self, count: Option<u64>) -> A::Operator {
        self.aggregate.operator().presenting(count)
    }

    /// Arrays in device memory, for the kernels.
    fn arrays<R: Arrangement<Element = A::Input>>(
        pointers: R::Pointers<'_>,
    ) -> Result<Arrays<'_, R, A::Preparation<R>>, Error> {
        Arrays::of(pointers)
    }

    /// Names the operator in the error of a kernel.
    fn name_operator(error: Error) -> Error {
        error.of_operator(std::any::type_name::<A>())
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
        match self.device.backend()?.gpu() {
            None => Ok(()),
            Some(stream) => {
                self.kernel::<A::Arrangement>(stream)?.reserve::<A::Operator, ReaderOf<A>>(stream)
            }
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
        let length = length as u64;
        self.explained(length, |stream| {
            self.kernel::<A::Arrangement>(stream)?.explain::<A::Operator, ReaderOf<A>>(length)
        })
    }

    /// The explanation of an input. `launches` gives the launches and the bytes of their scratch memory.
    /// The CPU has no launches.
    fn explained(
        &self,
        length: u64,
        launches: impl FnOnce(&CudaStream) -> Result<(Vec<ExplainedLaunch>, u64), Error>,
    ) -> Result<Explanation, Error> {
        let (launches, scratch_bytes) = match self.device.backend()?.gpu() {
            None => (Vec::new(), 0),
            Some(stream) => launches(stream)?,
        };
        Ok(Explanation { device: self.device.to_string(), length, launches, scratch_bytes })
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
        Source::of_reduction::<A>(&self.policy, Kernel::Large)
    }

    fn kernel<R: Arrangement<Element = A::Input>>(
        &self,
        stream: &CudaStream,
    ) -> Result<Arc<BracketKernel>, Error> {
        self.kernel.get::<A, R>(|| {
            BracketKernel::of::<A::Operator, ReaderOf<A, R>>(stream.context(), self.policy_for::<R>())
        })
    }

    /// The policy for elements that lie like this.
    fn policy_for<R: Arrangement<Element = A::Input>>(&self) -> Policy {
        match is_default::<A, R>() {
            true => self.policy,
            false => Policy::for_data(&data_of::<A::Operator, ReaderOf<A, R>>()),
        }
    }
}

/// The result of an aggregate in device memory.
type Stored<A> = <<A as Aggregate>::Output as Value>::Stored;

impl<A> fmt::Debug for Reduction<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reduction")
            .field("operator", &std::any::type_name::<A>())
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}
