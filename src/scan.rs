//! The scan: every prefix of an array, on a device.

#![allow(unsafe_code)]

use std::fmt;
use std::sync::{Arc, OnceLock};

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr};

use crate::cuda::{Backend, InputSource, Make, OutputTarget, PrivateStream, ScanKernel};
use crate::plan::{Kernel, ScanPolicy};
use crate::source::Source;
use crate::tree::Prefix;
use crate::{Device, DeviceMonoid, DeviceType, Error, Input, OnDevice, Output, cpu};

/// Scans arrays with the operator `M` on a device: place `i` of an inclusive scan has the value of the items `0..=i`, of an
/// exclusive one that of `0..i`.
///
/// The result is the left-to-right fold of the perfect subtrees of the bracket that those items are made of
/// ([`tree::inclusive_scan`](crate::tree::inclusive_scan), [`tree::exclusive_scan`](crate::tree::exclusive_scan)), whatever
/// the device: an [exact](DeviceMonoid::EXACT) operator gives the same bits on the CPU and on every GPU. Operands stay in order,
/// so the operator need not commute. Items may have up to 256 bytes, and there may be any number of them that fits in memory.
///
/// A scan reads each item once and writes each place once. It can be shared by threads, and run on several streams at once.
/// On a GPU, compiled kernels, and workspaces (64 KiB of device memory for each stream, or where that is not enough up to seven
/// thousandths of the input; of items of more than 16 bytes up to a fortieth, of more than 64 bytes a fifteenth), are kept as
/// those of a [`Reduction`](crate::Reduction) are.
///
/// ```
/// use warpfold::{Device, Scan, operators::Sum};
///
/// let sums = Scan::<Sum<u32>>::new(Device::auto());
/// assert_eq!(sums.inclusive(&[3, 1, 4, 1, 5])?, [3, 4, 8, 9, 14]);
/// assert_eq!(sums.exclusive(&[3, 1, 4, 1, 5])?, [0, 3, 4, 8, 9]);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub struct Scan<M> {
    device: Device,
    operator: M,
    policy: ScanPolicy,
    kernel: OnceLock<Arc<ScanKernel>>,
}

impl<M: DeviceMonoid> Scan<M> {
    /// A scan with a parameterless operator. It does no work yet: the first call on a GPU compiles.
    pub fn new(device: impl Into<Device>) -> Self
    where
        M: Default,
    {
        Self::with(device, M::default())
    }

    /// A scan with an operator that has run-time parameters.
    pub fn with(device: impl Into<Device>, operator: M) -> Self {
        const { assert!(size_of::<M::Item>() <= 256, "an item has at most 256 bytes") };
        Self {
            device: device.into(),
            operator,
            policy: ScanPolicy::for_item(&M::Item::layout()),
            kernel: OnceLock::new(),
        }
    }

    /// The same scan under another policy: for measurements. No result changes.
    pub fn with_policy(mut self, policy: ScanPolicy) -> Self {
        self.policy = policy;
        self.kernel = OnceLock::new();
        self
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How it cuts its input on a GPU.
    pub fn policy(&self) -> &ScanPolicy {
        &self.policy
    }

    /// Of each item, the value of all items up to it, in new memory of the input's kind: host memory gives a `Vec`, device
    /// memory a `CudaSlice` of its own stream, in whose order it is written; nobody waits for that.
    ///
    /// # Errors
    ///
    /// What keeps the device from running ([`Error`] lists it). Nothing is lost: the input is untouched, and the next call may
    /// succeed.
    pub fn inclusive<I: Input<M::Item>>(&self, input: I) -> Result<I::Owned, Error> {
        input.made_by(&Scanned { scan: self, prefix: Prefix::Inclusive })
    }

    /// Of each item, the value of all items before it; of the first one, the identity. Otherwise as
    /// [`inclusive`](Self::inclusive).
    ///
    /// # Errors
    ///
    /// As for [`inclusive`](Self::inclusive).
    pub fn exclusive<I: Input<M::Item>>(&self, input: I) -> Result<I::Owned, Error> {
        input.made_by(&Scanned { scan: self, prefix: Prefix::Exclusive })
    }

    /// Writes the [inclusive](Self::inclusive) scan of the input to a place of the same length.
    ///
    /// Where both are in device memory, the call gives the scan to the input's stream, and does not wait for it. Where host
    /// memory takes part, the call returns when the scan is done.
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
    /// As for [`inclusive`](Self::inclusive); [`Error::OutputLength`] unless the output has the length of the input;
    /// [`Error::StreamIsCapturing`] if the stream records a CUDA graph: see
    /// [`record_inclusive_into`](Self::record_inclusive_into). What the output holds after another error is not specified.
    pub fn inclusive_into<I: Input<M::Item>, O: Output<M::Item>>(
        &self,
        input: I,
        output: O,
    ) -> Result<(), Error> {
        self.into(Prefix::Inclusive, input, output)
    }

    /// Writes the [exclusive](Self::exclusive) scan of the input to a place of the same length, as
    /// [`inclusive_into`](Self::inclusive_into) does.
    ///
    /// # Errors
    ///
    /// As for [`inclusive_into`](Self::inclusive_into).
    pub fn exclusive_into<I: Input<M::Item>, O: Output<M::Item>>(
        &self,
        input: I,
        output: O,
    ) -> Result<(), Error> {
        self.into(Prefix::Exclusive, input, output)
    }

    /// Writes the [inclusive](Self::inclusive) scan of some items in their own place; of device memory in the order of its
    /// stream.
    ///
    /// # Errors
    ///
    /// As for [`inclusive`](Self::inclusive). What is in the place after an error is not specified.
    pub fn inclusive_in_place<O: Output<M::Item>>(&self, items: O) -> Result<(), Error> {
        self.in_place(Prefix::Inclusive, items)
    }

    /// Writes the [exclusive](Self::exclusive) scan of some items in their own place; of device memory in the order of its
    /// stream.
    ///
    /// # Errors
    ///
    /// As for [`inclusive_in_place`](Self::inclusive_in_place).
    pub fn exclusive_in_place<O: Output<M::Item>>(&self, items: O) -> Result<(), Error> {
        self.in_place(Prefix::Exclusive, items)
    }

    /// Adds an [inclusive](Self::inclusive) scan to the CUDA graph that the input's stream records: each launch of the graph
    /// scans what the input then holds.
    ///
    /// # Errors
    ///
    /// As for [`inclusive_into`](Self::inclusive_into); [`Error::StreamIsNotCapturing`] if the stream does not record a graph.
    ///
    /// # Safety
    ///
    /// As for [`Reduction::record_into`](crate::Reduction::record_into).
    pub unsafe fn record_inclusive_into<I, O>(&self, input: I, output: O) -> Result<(), Error>
    where
        I: Input<M::Item> + OnDevice<M::Item>,
        O: Output<M::Item> + OnDevice<M::Item>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.record_into(Prefix::Inclusive, input, output) }
    }

    /// Adds an [exclusive](Self::exclusive) scan to the CUDA graph that the input's stream records, as
    /// [`record_inclusive_into`](Self::record_inclusive_into) does.
    ///
    /// # Errors
    ///
    /// As for [`inclusive_into`](Self::inclusive_into); [`Error::StreamIsNotCapturing`] if the stream does not record a graph.
    ///
    /// # Safety
    ///
    /// As for [`Reduction::record_into`](crate::Reduction::record_into).
    pub unsafe fn record_exclusive_into<I, O>(&self, input: I, output: O) -> Result<(), Error>
    where
        I: Input<M::Item> + OnDevice<M::Item>,
        O: Output<M::Item> + OnDevice<M::Item>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.record_into(Prefix::Exclusive, input, output) }
    }

    /// Adds an [inclusive](Self::inclusive) scan of some items in their own place to the CUDA graph that their stream
    /// records.
    ///
    /// # Errors
    ///
    /// As for [`inclusive_into`](Self::inclusive_into); [`Error::StreamIsNotCapturing`] if the stream does not record a graph.
    ///
    /// # Safety
    ///
    /// As for [`Reduction::record_into`](crate::Reduction::record_into), where the items are both input and output.
    pub unsafe fn record_inclusive_in_place<O>(&self, items: O) -> Result<(), Error>
    where
        O: Output<M::Item> + OnDevice<M::Item>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.record_in_place(Prefix::Inclusive, items) }
    }

    /// Adds an [exclusive](Self::exclusive) scan of some items in their own place to the CUDA graph that their stream
    /// records.
    ///
    /// # Errors
    ///
    /// As for [`inclusive_into`](Self::inclusive_into); [`Error::StreamIsNotCapturing`] if the stream does not record a graph.
    ///
    /// # Safety
    ///
    /// As for [`Reduction::record_into`](crate::Reduction::record_into), where the items are both input and output.
    pub unsafe fn record_exclusive_in_place<O>(&self, items: O) -> Result<(), Error>
    where
        O: Output<M::Item> + OnDevice<M::Item>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.record_in_place(Prefix::Exclusive, items) }
    }

    /// Compiles, loads and makes the workspace of the device's stream ahead of time; its device memory is allocated when it is first
    /// needed. On the CPU there is nothing to do.
    ///
    /// # Errors
    ///
    /// What keeps the device from running.
    pub fn compile(&self) -> Result<(), Error> {
        match self.device.backend()? {
            Backend::Cpu => Ok(()),
            Backend::Cuda { stream, .. } => self.kernel(stream)?.reserve::<M>(stream),
        }
    }

    /// The rendered CUDA C++, on any machine: of the kernel for large inputs. The other differs in its constants alone.
    ///
    /// # Errors
    ///
    /// What keeps the operator from being rendered.
    pub fn source(&self) -> Result<Source, Error> {
        Source::of_scan::<M>(&self.policy, Kernel::Large)
    }

    fn into<I: Input<M::Item>, O: Output<M::Item>>(
        &self,
        prefix: Prefix,
        input: I,
        mut output: O,
    ) -> Result<(), Error> {
        let (items, places) = (input.source(), output.target());
        let lengths = (items.len(), places.len());
        if lengths.0 != lengths.1 {
            return Err(Error::OutputLength { expected: lengths.0, length: lengths.1 });
        }
        let operator = &self.operator;
        match (self.device.backend()?, items, places) {
            (Backend::Cpu, InputSource::Host(items), OutputTarget::Host(places)) => {
                cpu::scan_into(operator, prefix, items, places);
                Ok(())
            }
            (Backend::Cpu, ..) => Err(Error::DeviceInputOnCpu),
            (Backend::Cuda { stream, .. }, InputSource::Host(items), OutputTarget::Host(places)) => {
                let (private, scanned) = self.kernel(stream)?.scan_host(operator, prefix, items)?;
                private.download(&scanned, places)
            }
            (Backend::Cuda { stream, .. }, InputSource::Host(items), OutputTarget::Device(places)) => {
                self.kernel(stream)?.scan_host_into(operator, prefix, items, places)
            }
            (Backend::Cuda { stream, .. }, InputSource::Device(items), OutputTarget::Host(places)) => {
                let private = PrivateStream::take(stream.context())?;
                private.download(&self.kernel(stream)?.scan(operator, prefix, items)?, places)
            }
            (Backend::Cuda { stream, .. }, InputSource::Device(items), OutputTarget::Device(places)) => {
                self.kernel(stream)?.scan_into(operator, prefix, Some(items), places)
            }
        }
    }

    fn in_place<O: Output<M::Item>>(&self, prefix: Prefix, mut items: O) -> Result<(), Error> {
        let operator = &self.operator;
        match (self.device.backend()?, items.target()) {
            (Backend::Cpu, OutputTarget::Host(items)) => {
                cpu::scan_in_place(operator, prefix, items);
                Ok(())
            }
            (Backend::Cpu, OutputTarget::Device(_)) => Err(Error::DeviceInputOnCpu),
            (Backend::Cuda { stream, .. }, OutputTarget::Host(items)) => {
                let (private, scanned) = self.kernel(stream)?.scan_host(operator, prefix, items)?;
                private.download(&scanned, items)
            }
            (Backend::Cuda { stream, .. }, OutputTarget::Device(items)) => {
                self.kernel(stream)?.scan_into(operator, prefix, None, items)
            }
        }
    }

    /// # Safety
    ///
    /// As for [`Reduction::record_into`](crate::Reduction::record_into).
    unsafe fn record_into<I: Input<M::Item>, O: Output<M::Item>>(
        &self,
        prefix: Prefix,
        input: I,
        mut output: O,
    ) -> Result<(), Error> {
        let (items, places) = (input.source(), output.target());
        if items.len() != places.len() {
            return Err(Error::OutputLength { expected: items.len(), length: places.len() });
        }
        match (self.device.backend()?, items, places) {
            (Backend::Cuda { stream, .. }, InputSource::Device(items), OutputTarget::Device(places)) => {
                // SAFETY: the caller's promise.
                unsafe { self.kernel(stream)?.record_into(&self.operator, prefix, Some(items), places) }
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
    }

    /// # Safety
    ///
    /// As for [`Reduction::record_into`](crate::Reduction::record_into).
    unsafe fn record_in_place<O: Output<M::Item>>(&self, prefix: Prefix, mut items: O) -> Result<(), Error> {
        match (self.device.backend()?, items.target()) {
            (Backend::Cuda { stream, .. }, OutputTarget::Device(items)) => {
                // SAFETY: the caller's promise.
                unsafe { self.kernel(stream)?.record_into(&self.operator, prefix, None, items) }
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
    }

    fn kernel(&self, stream: &CudaStream) -> Result<&ScanKernel, Error> {
        if let Some(kernel) = self.kernel.get() {
            return Ok(kernel);
        }
        let kernel = ScanKernel::of::<M>(stream.context(), self.policy)?;
        Ok(self.kernel.get_or_init(|| kernel))
    }
}

/// Makes scans, in new memory.
struct Scanned<'a, M> {
    scan: &'a Scan<M>,
    prefix: Prefix,
}

impl<M: DeviceMonoid> Make<M::Item> for Scanned<'_, M> {
    fn host(&self, items: &[M::Item]) -> Result<Vec<M::Item>, Error> {
        let Self { scan, prefix } = *self;
        match scan.device.backend()? {
            Backend::Cpu => Ok(cpu::scan(&scan.operator, prefix, items)),
            Backend::Cuda { stream, .. } => {
                let (private, scanned) = scan.kernel(stream)?.scan_host(&scan.operator, prefix, items)?;
                private.download_all(&scanned)
            }
        }
    }

    fn device(&self, items: &dyn DevicePtr<M::Item>) -> Result<CudaSlice<M::Item>, Error> {
        let Self { scan, prefix } = *self;
        match scan.device.backend()? {
            Backend::Cpu => Err(Error::DeviceInputOnCpu),
            Backend::Cuda { stream, .. } => scan.kernel(stream)?.scan(&scan.operator, prefix, items),
        }
    }
}

impl<M> fmt::Debug for Scan<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("operator", &std::any::type_name::<M>())
            .field("device", &self.device)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
