//! The CUDA layer: contexts, streams, memory and launches. All calls of the driver are here, and so
//! is their `unsafe`.
#![allow(unsafe_code)]

mod bitmap;
mod bracket;
mod driver;
mod host;
mod input;
pub mod jit;
mod kernels;
#[cfg(feature = "ladder")]
mod ladder;
mod launch_graph;
mod launch_io;
mod lock;
mod module;
mod rates;
mod read;
mod recording;
mod result_slot;
mod scan;
mod scratch;
mod segments;
mod slices;
mod staging;
mod workspace;
mod workspaces;

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr};

pub(crate) use bracket::BracketKernel;
pub(crate) use host::PrivateStream;
pub(crate) use input::{AllocateOutput, Source as InputSource, Target as OutputTarget};
pub use input::{DeviceInput, DeviceMemory, HostMemory, Input, OnDevice, Output, Place};
pub(crate) use kernels::Kept;
#[cfg(feature = "ladder")]
pub(crate) use ladder::LadderKernels;
pub(crate) use rates::HostPlace;
pub(crate) use read::{Arrays, CopiedArrays, Elements, StreamOrder};
pub(crate) use scan::ScanKernel;
pub(crate) use segments::{Report, SegmentKernel, Segmented, count_of};
pub(crate) use slices::allocate as new_slice;

use crate::{DeviceType, Error, Value};
use driver::RelaxedCapture;

const VARIABLE: &str = "WARPFOLD_DEVICE";

/// The place where a reduction or a scan runs: the CPU, or a GPU.
///
/// A GPU is given by its CUDA context and a stream. Device memory is read in the order of the
/// stream that it was allocated on. Host memory is copied on a private stream.
///
/// ```
/// use warpfold::Device;
///
/// let device = Device::auto();
/// println!("{device}");
/// ```
#[derive(Clone)]
#[must_use = "a device does nothing by itself"]
pub struct Device(Selected);

#[derive(Clone)]
enum Selected {
    /// With the reason why [`Device::auto`] found no GPU, if it made the device.
    Cpu(Option<Arc<Error>>),
    Cuda(Arc<CudaStream>),
    /// A GPU that [`Device::auto`] found. Host memory may be reduced on the CPU.
    Auto(Arc<CudaStream>),
    /// The device that `WARPFOLD_DEVICE` names is not available. The first call returns this error.
    Unavailable(Error),
}

/// The place where a call runs. It is available. A call keeps it until its memory is freed.
pub(crate) struct Backend<'a> {
    /// The stream of a GPU. None for the CPU.
    stream: Option<&'a Arc<CudaStream>>,
    _relaxed: Option<RelaxedCapture>,
}

impl Backend<'_> {
    /// The stream of the device, unless it is the CPU. Borrowed from the backend, so that the
    /// backend lives as long as the stream is used.
    pub(crate) fn gpu(&self) -> Option<&Arc<CudaStream>> {
        self.stream
    }
}

impl Device {
    /// The CPU, with all threads of rayon's current pool.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let sum = Reduction::<Sum<u64>>::new(Device::cpu());
    /// assert_eq!(sum.run(&[1, 2, 3])?, 6);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn cpu() -> Self {
        Self(Selected::Cpu(None))
    }

    /// The GPU of this ordinal, in its primary context, with the default stream.
    ///
    /// # Errors
    ///
    /// - [`Error::NoDriver`] without a driver of CUDA 12.0 or later.
    /// - [`Error::NoDevice`] if there is no GPU of this ordinal.
    /// - [`Error::NoNvrtc`] without NVRTC.
    /// - [`Error::Cuda`] if the driver cannot create the context.
    ///
    /// ```no_run
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// let second = Device::cuda(1)?;
    /// assert!(second.is_gpu());
    /// assert_eq!(Scan::<Sum<u32>>::new(second).inclusive(&[1, 2, 3])?, [1, 3, 6]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn cuda(ordinal: usize) -> Result<Self, Error> {
        driver::present()?;
        let count = driver::device_count()?;
        if ordinal >= count {
            return Err(Error::NoDevice { ordinal, count });
        }
        jit::available().map_err(|error| match error {
            Error::NoNvrtc { reason, source, .. } => {
                Error::NoNvrtc { reason, gpu: Some(named_gpu(driver::device_name(ordinal), ordinal)), source }
            }
            error => error,
        })?;
        Ok(driver::check("creating a context", CudaContext::new(ordinal))?.into())
    }

    /// The first GPU, if both its driver and NVRTC are present. Otherwise the CPU.
    ///
    /// Device memory is reduced and scanned on the GPU. For host memory the place depends on the
    /// call:
    ///
    /// | call | place |
    /// | --- | --- |
    /// | a reduction by an operator that is not [exact](crate::DeviceMonoid::EXACT) | the CPU |
    /// | a reduction of at most 8 KiB | the CPU |
    /// | a reduction whose tuned kernels are not loaded | the CPU |
    /// | any other reduction | the CPU, or the GPU if earlier calls were faster there |
    /// | a scan, or a reduction of rows, columns or segments | the CPU |
    ///
    /// [`compile`](crate::Reduction::compile) loads the tuned kernels, and so do reductions of
    /// device memory: host memory alone compiles nothing. The place changes no bit of a result,
    /// except the sign and payload of a NaN, because it is fixed for inexact operators. Earlier
    /// calls are those with the same operator, and with inputs of the same size up to a factor of
    /// two. The GPU is first used if two calls on the CPU took longer than 15 us and a copy of 50
    /// GB/s. If it fails, the CPU is used from then on. [`cuda`](Self::cuda) always copies host
    /// memory to the GPU.
    ///
    /// The environment variable `WARPFOLD_DEVICE` overrides this choice: `cpu`, or `cuda:N`. If the
    /// named device is not available, the first call, such as [`run`](crate::Reduction::run),
    /// returns [`Error::DeviceOverride`]. The CPU never replaces a named GPU.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Max};
    ///
    /// let device = Device::auto();
    /// let largest = Reduction::<Max<i32>>::new(device.clone()).run(&[3, 9, 4])?;
    /// println!("{largest} on {device}");
    /// assert_eq!(largest, 9);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn auto() -> Self {
        let value = std::env::var_os(VARIABLE).map(|value| value.to_string_lossy().into_owned());
        match value.as_deref() {
            None | Some("") => match Self::cuda(0) {
                Ok(Self(Selected::Cuda(stream))) => Self(Selected::Auto(stream)),
                Ok(device) => device,
                Err(reason) => {
                    log::info!("running on the CPU: {reason}");
                    Self(Selected::Cpu(Some(Arc::new(reason))))
                }
            },
            Some(value) => Self::named(value).unwrap_or_else(|error| Self(Selected::Unavailable(error))),
        }
    }

    /// The device that `WARPFOLD_DEVICE` names.
    fn named(name: &str) -> Result<Self, Error> {
        if name == "cpu" {
            return Ok(Self::cpu());
        }
        let unavailable =
            |reason: String, source| Error::DeviceOverride { value: name.to_owned(), reason, source };
        match name.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok()) {
            Some(ordinal) => {
                Self::cuda(ordinal).map_err(|error| unavailable(error.to_string(), Some(Box::new(error))))
            }
            None => Err(unavailable("the value names no device".to_owned(), None)),
        }
    }

    /// Whether calls with device memory run on a GPU.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto();
    /// let items = if device.is_gpu() { 1 << 28 } else { 1 << 20 };
    /// println!("measuring {items} items on {device}");
    /// assert!(!Device::cpu().is_gpu());
    /// ```
    pub fn is_gpu(&self) -> bool {
        self.stream().is_some()
    }

    /// Why [`auto`](Self::auto) chose the CPU. None if it chose a GPU, and for every other device.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// if let Some(reason) = Device::auto().fallback_reason() {
    ///     eprintln!("no GPU is used: {reason}");
    /// }
    /// ```
    pub fn fallback_reason(&self) -> Option<&Error> {
        match &self.0 {
            Selected::Cpu(fallback) => fallback.as_deref(),
            Selected::Cuda(_) | Selected::Auto(_) | Selected::Unavailable(_) => None,
        }
    }

    /// The stream of the device, on which a caller can allocate and fill device memory. None on the
    /// CPU.
    ///
    /// `compile` creates the workspace of this stream.
    ///
    /// ```no_run
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.stream().expect("the device is a GPU");
    /// let numbers = stream.clone_htod(&vec![2_u32; 1000])?;
    /// assert_eq!(Reduction::<Sum<u32>>::new(device).run(&numbers)?, 2000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stream(&self) -> Option<&Arc<CudaStream>> {
        match &self.0 {
            Selected::Cuda(stream) | Selected::Auto(stream) => Some(stream),
            Selected::Cpu(_) | Selected::Unavailable(_) => None,
        }
    }

    /// Copies items to new device memory, which belongs to the device's [`stream`](Self::stream).
    /// Returns when the copy has ended. It does not wait for the stream.
    ///
    /// This is `clone_htod` of cudarc for every [`DeviceType`], also for those that are types of
    /// other crates.
    ///
    /// # Errors
    ///
    /// - [`Error::DeviceInputOnCpu`] if the device is the CPU.
    /// - [`Error::OutOfMemory`] and [`Error::Cuda`], if device memory cannot be allocated or filled.
    ///
    /// ```no_run
    /// use warpfold::{Device, Reduction, operators::Max};
    ///
    /// let device = Device::cuda(0)?;
    /// let numbers = device.upload(&[3, 9, 4])?;
    /// assert_eq!(Reduction::<Max<i32>>::new(device.clone()).run(&numbers)?, 9);
    /// assert_eq!(device.download::<i32>(&numbers)?, [3, 9, 4]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn upload<T: DeviceType>(&self, items: &[T]) -> Result<CudaSlice<T>, Error> {
        let backend = self.backend()?;
        let stream = backend.gpu().ok_or(Error::DeviceInputOnCpu)?;
        // On a private stream: another thread may begin a capture on the device's stream at any time.
        let private = PrivateStream::take(stream.context())?;
        private.hand_over(private.upload(items)?, stream)
    }

    /// Allocates device memory for `length` values, of the device's [`stream`](Self::stream), with all
    /// bits zero, which is a value of every [`DeviceType`]. Returns when the memory has been written.
    ///
    /// # Errors
    ///
    /// Those of [`upload`](Self::upload), and [`Error::InputLength`] for more bytes than an address
    /// space has.
    ///
    /// ```no_run
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let numbers = device.upload(&[1.0_f32, 2.0, 6.0])?;
    /// let mut sum = device.zeros(1)?;
    /// Reduction::<Sum<f32>>::new(device.clone()).run_into(&numbers, &mut sum)?;
    /// assert_eq!(device.download::<f32>(&sum)?, [9.0]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn zeros<T: DeviceType>(&self, length: usize) -> Result<CudaSlice<T>, Error> {
        let backend = self.backend()?;
        let stream = backend.gpu().ok_or(Error::DeviceInputOnCpu)?;
        let private = PrivateStream::take(stream.context())?;
        private.hand_over(private.zeros(length)?, stream)
    }

    /// Copies results from device memory to host memory, in the order of the memory's stream. Returns
    /// when the copy has ended.
    ///
    /// `V` is the type of the results. Device memory holds [`Value::Stored`] of it.
    ///
    /// # Errors
    ///
    /// - [`Error::DeviceInputOnCpu`] if the device is the CPU.
    /// - [`Error::WrongContext`] if the memory belongs to another context.
    /// - [`Error::StreamIsCapturing`] if the memory's stream captures a graph.
    /// - [`Error::Cuda`], also for an error of earlier work on the stream.
    ///
    /// ```no_run
    /// use warpfold::{Device, Reduction, operators::Max};
    ///
    /// let device = Device::cuda(0)?;
    /// let matrix = device.upload(&[3, 9, 4, 7, 1, 2])?;
    /// let maxima = Reduction::<Max<i32>>::new(device.clone()).rows(&matrix, 3)?;
    /// assert_eq!(device.download::<i32>(&maxima)?, [9, 7]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn download<V: Value>(&self, memory: &impl DevicePtr<V::Stored>) -> Result<Vec<V>, Error> {
        let backend = self.backend()?;
        let stream = backend.gpu().ok_or(Error::DeviceInputOnCpu)?;
        driver::check_context(stream.context(), "input", memory.stream())?;
        PrivateStream::take(stream.context())?.download_all(memory)
    }

    /// Whether the caller left the place of host memory open.
    pub(crate) fn is_auto(&self) -> bool {
        matches!(self.0, Selected::Auto(_))
    }

    /// Whether scans and rows of host memory are computed on the CPU. [`auto`](Self::auto) never
    /// copies both input and output.
    pub(crate) fn keeps_host_on_cpu(&self) -> bool {
        matches!(self.0, Selected::Cpu(_) | Selected::Auto(_))
    }

    pub(crate) fn backend(&self) -> Result<Backend<'_>, Error> {
        match &self.0 {
            Selected::Cpu(_) => Ok(Backend { stream: None, _relaxed: None }),
            Selected::Cuda(stream) | Selected::Auto(stream) => {
                Ok(Backend { stream: Some(stream), _relaxed: Some(RelaxedCapture::enter()?) })
            }
            Selected::Unavailable(error) => Err(error.clone()),
        }
    }
}

/// A GPU's name and ordinal.
fn named_gpu(name: Option<String>, ordinal: usize) -> String {
    format!("{} (cuda:{ordinal})", name.as_deref().unwrap_or("unnamed GPU"))
}

impl From<Arc<CudaContext>> for Device {
    fn from(context: Arc<CudaContext>) -> Self {
        context.default_stream().into()
    }
}

impl From<Arc<CudaStream>> for Device {
    fn from(stream: Arc<CudaStream>) -> Self {
        Self(Selected::Cuda(stream))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Selected::Cpu(_) => f.write_str("Device(cpu)"),
            Selected::Cuda(stream) => write!(f, "Device(cuda:{})", stream.context().ordinal()),
            Selected::Auto(stream) => write!(f, "Device(auto, cuda:{})", stream.context().ordinal()),
            Selected::Unavailable(error) => write!(f, "Device(unavailable: {error})"),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Selected::Cpu(fallback) => {
                write!(f, "CPU ({} threads)", rayon::current_num_threads())?;
                fallback.as_ref().map_or(Ok(()), |reason| write!(f, ", because of {reason}"))
            }
            Selected::Auto(stream) => {
                let gpu = named_gpu(stream.context().name().ok(), stream.context().ordinal());
                write!(f, "{gpu}, or CPU ({} threads) for host memory", rayon::current_num_threads())
            }
            Selected::Cuda(stream) => {
                f.write_str(&named_gpu(stream.context().name().ok(), stream.context().ordinal()))
            }
            Selected::Unavailable(error) => write!(f, "no device ({error})"),
        }
    }
}
