//! Scans: [`Scan`] reduces every prefix of an array, on a device.

mod record;
mod run;

use std::fmt;

use crate::cuda::{Kept, ScanKernel};
use crate::language::check_sizes;
use crate::plan::{Kernel, ScanPolicy};
use crate::source::{ReaderOf, Source};
use crate::tree::Prefix;
use crate::{
    Device, DeviceAggregate, DeviceMonoid, DeviceType, Error, Explanation, Input, Item, Monoid, Output,
    Place, Value,
};

/// Scans arrays with the operator or the [`Aggregate`](crate::Aggregate) `A` on a device.
///
/// Output `i` of an inclusive scan is the value of the items `0..=i`. Output `i` of an exclusive
/// scan is the value of the items `0..i`, which is the identity for `i = 0`.
///
/// An aggregate prepares the items, and presents each of these values: with a count of `i + 1`, or
/// of `i` if the scan is exclusive. Its elements may be those of several arrays, as in
/// [`Input`].
///
/// Each output is the left-to-right fold of perfect subtrees of the bracket
/// ([`tree::inclusive_scan`](crate::tree::inclusive_scan),
/// [`tree::exclusive_scan`](crate::tree::exclusive_scan)), on every device. So an
/// [exact](DeviceAggregate::EXACT) operator gives the same bits on the CPU and on every GPU. Operands
/// stay in order, so the operator need not commute.
///
/// The last output of an inclusive scan may differ from [`Reduction`](crate::Reduction) in the last
/// bits of a float, unless the number of items is a power of two: the bracket pairs the subtrees
/// from right to left, a scan folds them from left to right.
///
/// An item has at most 256 bytes. The number of items is limited by memory, and on a GPU by 2^31 -
/// 1 tiles of a few thousand items ([`Error::InputLength`]).
///
/// A scan reads each element once and writes each output once. Threads may share a `Scan`, and may run
/// it on several streams at once.
///
/// A scan has no baseline kernel: its first call on a GPU blocks until the kernel is compiled.
/// Compiled kernels and workspaces are shared and kept as those of a
/// [`Reduction`](crate::Reduction). The workspace of a stream has 64 KiB of device memory. If a
/// scan needs more, the workspace has up to this share of the items' bytes:
///
/// | bytes of an item | share |
/// | --- | --- |
/// | 1 to 16 | 7/1000 |
/// | 17 to 64 | 1/40 |
/// | 65 to 256 | 1/15 |
///
/// ```
/// use warpfold::{Device, Scan, operators::Sum};
///
/// let sums = Scan::<Sum<u32>>::new(Device::auto());
/// assert_eq!(sums.inclusive(&[3, 1, 4, 1, 5])?, [3, 4, 8, 9, 14]);
/// assert_eq!(sums.exclusive(&[3, 1, 4, 1, 5])?, [0, 3, 4, 8, 9]);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// The mean so far, and where the warmest day so far was:
///
/// ```
/// use warpfold::aggregates::{ArgMax, Mean};
/// use warpfold::{Device, Scan};
///
/// let so_far = Scan::<(Mean<f32>, ArgMax<f32>)>::new(Device::auto());
/// let days = so_far.inclusive(&[20.0, 24.0, 16.0])?;
/// let means: Vec<_> = days.iter().filter_map(|(mean, _)| *mean).collect();
/// let warmest: Vec<_> = days.iter().filter_map(|(_, most)| most.map(|most| most.index)).collect();
/// assert_eq!((means, warmest), (vec![20.0, 22.0, 20.0], vec![0, 1, 1]));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a scan does nothing until it runs"]
pub struct Scan<A> {
    device: Device,
    aggregate: A,
    policy: ScanPolicy,
    kernel: Kept<ScanKernel>,
}

// The bounds stand on `new` and `with`, as those of `Reduction`.
impl<A> Scan<A> {
    /// Creates a scan with an operator or aggregate that has no parameters.
    ///
    /// The call does no work on the device: the first scan on a GPU compiles.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Product};
    ///
    /// let products = Scan::<Product<u64>>::new(Device::auto());
    /// assert_eq!(products.inclusive(&[1, 2, 3, 4])?, [1, 2, 6, 24]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn new(device: impl Into<Device>) -> Self
    where
        A: DeviceAggregate + Default,
    {
        Self::with(device, A::default())
    }

    /// Creates a scan with an operator or aggregate that has run-time parameters.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::AffineComposition};
    ///
    /// // Item [a, b] is the map x -> a x + b.
    /// let maps = Scan::with(Device::auto(), AffineComposition::<i32>::new());
    /// assert_eq!(maps.inclusive(&[[2, 1], [3, 0]])?, [[2, 1], [6, 3]]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn with(device: impl Into<Device>, aggregate: A) -> Self
    where
        A: DeviceAggregate,
    {
        const { check_sizes::<A::Operator>() };
        Self {
            device: device.into(),
            aggregate,
            policy: ScanPolicy::for_item(&Item::<A>::layout()),
            kernel: Kept::none(),
        }
    }
}

impl<A: DeviceAggregate> Scan<A> {
    /// Replaces the policy, for measurements. No policy changes a result.
    ///
    /// Calls on a GPU return [`Error::Policy`] if no kernel can follow the policy.
    #[cfg(feature = "internals")]
    pub fn with_policy(mut self, policy: ScanPolicy) -> Self {
        self.policy = policy;
        self.kernel = Kept::none();
        self
    }

    /// The device of the calls.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Max};
    ///
    /// assert!(!Scan::<Max<u8>>::new(Device::cpu()).device().is_gpu());
    /// ```
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The policy: how an input is divided into tiles and blocks on a GPU.
    #[cfg(feature = "internals")]
    pub fn policy(&self) -> &ScanPolicy {
        &self.policy
    }

    /// Returns the inclusive scan of the input, in new memory of the input's kind.
    ///
    /// - Host memory and a range give a `Vec` of outputs. The call returns when the scan is done.
    /// - Device memory gives a `CudaSlice` of the same stream, which holds outputs as
    ///   [`Value::Stored`]. The scan is enqueued on that stream, and the call
    ///   does not wait for it.
    ///
    /// # Errors
    ///
    /// - [`Error::DeviceInputOnCpu`] if the input is in device memory and the device is the CPU.
    /// - [`Error::WrongContext`] if the input belongs to another CUDA context than the device.
    /// - [`Error::StreamIsCapturing`] if the input's stream records a CUDA graph.
    /// - [`Error::UnequalLengths`] if arrays in step have different lengths.
    /// - [`Error::IndexStart`] if a range does not begin with 0.
    /// - [`Error::InputLength`] if the input is too long.
    /// - [`Error::OutOfMemory`], and the errors of the driver, of CUDA, of NVRTC and of
    ///   compilation.
    ///
    /// After an error the input is unchanged, and a later call may succeed.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// let sums = Scan::<Sum<u32>>::new(Device::auto());
    /// assert_eq!(sums.inclusive(&[3, 1, 4])?, [3, 4, 8]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn inclusive<I: Input<A::Input>>(
        &self,
        input: I,
    ) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
        self.in_new_memory(Prefix::Inclusive, input)
    }

    /// Returns the exclusive scan of the input, in new memory of the input's kind.
    ///
    /// The first output is the identity. Of an aggregate it is `present(identity, 0)`. Memory and
    /// streams are those of [`inclusive`](Self::inclusive).
    ///
    /// # Errors
    ///
    /// The errors of [`inclusive`](Self::inclusive).
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// let sums = Scan::<Sum<u32>>::new(Device::auto());
    /// assert_eq!(sums.exclusive(&[3, 1, 4])?, [0, 3, 4]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn exclusive<I: Input<A::Input>>(
        &self,
        input: I,
    ) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
        self.in_new_memory(Prefix::Exclusive, input)
    }

    /// Writes the [inclusive](Self::inclusive) scan of the input to an output of the same length.
    ///
    /// If both are in device memory, the call enqueues the scan on the input's stream and does not
    /// wait for it. If the input or the output is in host memory, the call returns when the scan is
    /// done.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Max};
    ///
    /// let mut largest = [0.0; 4];
    /// Scan::<Max<f32>>::new(Device::auto()).inclusive_into(&[1.0, 3.0, 2.0, 4.0], &mut largest)?;
    /// assert_eq!(largest, [1.0, 3.0, 3.0, 4.0]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`Error::OutputLength`] unless the output has the length of the input.
    /// - [`Error::StreamIsCapturing`] if the stream of the input or of the output records a CUDA
    ///   graph: see [`record_inclusive_into`](Self::record_inclusive_into).
    /// - The other errors of [`inclusive`](Self::inclusive), for the output too.
    ///
    /// After any error but [`Error::OutputLength`] the content of the output is unspecified.
    pub fn inclusive_into<I: Input<A::Input>, O: Output<A::Output>>(
        &self,
        input: I,
        output: O,
    ) -> Result<(), Error> {
        self.into(Prefix::Inclusive, input, output)
    }

    /// Writes the [exclusive](Self::exclusive) scan of the input to an output of the same length,
    /// as [`inclusive_into`](Self::inclusive_into) does.
    ///
    /// # Errors
    ///
    /// The errors of [`inclusive_into`](Self::inclusive_into).
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// let mut starts = [0; 3];
    /// Scan::<Sum<u32>>::new(Device::auto()).exclusive_into(&[3, 1, 4], &mut starts)?;
    /// assert_eq!(starts, [0, 3, 4]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn exclusive_into<I: Input<A::Input>, O: Output<A::Output>>(
        &self,
        input: I,
        output: O,
    ) -> Result<(), Error> {
        self.into(Prefix::Exclusive, input, output)
    }

    /// Compiles and loads the kernels, and creates the workspace of the device's stream, ahead of
    /// time.
    ///
    /// The workspace allocates its device memory when a call first needs it. On the CPU the call
    /// does nothing.
    ///
    /// # Errors
    ///
    /// - [`Error::StreamIsCapturing`] if the device's stream records a CUDA graph.
    /// - The errors of the driver, of CUDA, of NVRTC and of compilation.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// Scan::<Sum<f32>>::new(Device::auto()).compile()?;
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

    /// What a scan of `length` items launches in device memory: kernel, grid, registers, local
    /// memory and scratch memory. Compiles the kernel if it is missing. On the CPU there is no
    /// launch.
    ///
    /// # Errors
    ///
    /// The errors of the driver, of CUDA, of NVRTC and of compilation, and [`Error::InputLength`].
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// println!("{}", Scan::<Sum<f32>>::new(Device::auto()).explain(10_000_000)?);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn explain(&self, length: usize) -> Result<Explanation, Error> {
        let (launches, scratch_bytes) = match self.device.backend()?.gpu() {
            None => (Vec::new(), 0),
            Some(stream) => self
                .kernel::<A::Arrangement>(stream)?
                .explain::<_, ReaderOf<A>>(&self.aggregate.operator(), length)?,
        };
        Ok(Explanation { device: self.device.to_string(), length: length as u64, launches, scratch_bytes })
    }

    /// The rendered CUDA C++ of the kernel for large inputs. The call needs no GPU.
    ///
    /// The kernel for small inputs differs only in its constants.
    ///
    /// # Errors
    ///
    /// The errors of an operator that has no CUDA C++ form, such as [`Error::Untranslatable`].
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// let source = Scan::<Sum<f32>>::new(Device::cpu()).source()?;
    /// assert!(source.text().contains("look_back"));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn source(&self) -> Result<Source, Error> {
        Source::of_scan::<A>(&self.policy, Kernel::Large)
    }
}

impl<M: DeviceMonoid<Item: Value<Stored = <M as Monoid>::Item>>> Scan<M> {
    /// Replaces the items by their [inclusive](Self::inclusive) scan.
    ///
    /// For device memory, the call enqueues the scan on the items' stream and does not wait for it.
    ///
    /// # Errors
    ///
    /// The errors of [`inclusive`](Self::inclusive). After an error the content of the memory is
    /// unspecified.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Max};
    ///
    /// let mut heights = [2.0, 1.0, 3.0];
    /// Scan::<Max<f64>>::new(Device::auto()).inclusive_in_place(&mut heights)?;
    /// assert_eq!(heights, [2.0, 2.0, 3.0]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn inclusive_in_place<O: Output<M::Item>>(&self, items: O) -> Result<(), Error> {
        self.in_place(Prefix::Inclusive, items)
    }

    /// Replaces the items by their [exclusive](Self::exclusive) scan.
    ///
    /// For device memory, the call enqueues the scan on the items' stream and does not wait for it.
    ///
    /// # Errors
    ///
    /// The errors of [`inclusive_in_place`](Self::inclusive_in_place).
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// let mut counts = [3, 1, 4];
    /// Scan::<Sum<u32>>::new(Device::auto()).exclusive_in_place(&mut counts)?;
    /// assert_eq!(counts, [0, 3, 4]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn exclusive_in_place<O: Output<M::Item>>(&self, items: O) -> Result<(), Error> {
        self.in_place(Prefix::Exclusive, items)
    }
}

impl<A> fmt::Debug for Scan<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("operator", &std::any::type_name::<A>())
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}
