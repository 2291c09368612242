//! Where calls run: contexts, streams, memory and launches. The `unsafe` of talking to CUDA is here.
#![allow(unsafe_code)]

mod bracket;
mod chain;
mod driver;
mod host;
mod input;
pub mod jit;
mod kernels;
mod ladder;
mod lock;
mod module;
mod read;
mod recording;
mod result_slot;
mod scan;
mod scratch;
mod slices;
mod workspace;
mod workspaces;

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};

pub(crate) use bracket::BracketKernel;
pub(crate) use host::PrivateStream;
pub use input::{DeviceInput, Input, OnDevice, Output};
pub(crate) use input::{Make, Source as InputSource, Target as OutputTarget};
pub(crate) use ladder::LadderKernels;
pub(crate) use read::Array;
pub(crate) use scan::ScanKernel;

use crate::Error;
use driver::RelaxedCapture;

const VARIABLE: &str = "WARPFOLD_DEVICE";

/// Where a reduction or a scan runs: the CPU, or a GPU, by its CUDA context and a stream.
///
/// Device memory is reduced in the order of the stream that it was allocated on. Host memory is copied on a stream that
/// no other code uses.
///
/// ```
/// use warpfold::Device;
///
/// let device = Device::auto();
/// println!("{device}");
/// ```
#[derive(Clone, Debug)]
pub struct Device(Place);

#[derive(Clone, Debug)]
enum Place {
    Cpu,
    Cuda(Arc<CudaStream>),
    /// What was asked for cannot be had; the first `run` says so.
    Nowhere(Error),
}

/// Where a call runs, once it is known that it can.
pub(crate) enum Backend<'a> {
    Cpu,
    Cuda {
        /// That of the device.
        stream: &'a Arc<CudaStream>,
        /// For the whole call, and what it frees at its end.
        _relaxed: RelaxedCapture,
    },
}

impl Device {
    /// The CPU: every thread of rayon's current pool.
    pub fn cpu() -> Self {
        Self(Place::Cpu)
    }

    /// The GPU of this number, in its primary context, with the default stream.
    ///
    /// # Errors
    ///
    /// [`Error::NoDriver`], [`Error::NoNvrtc`], [`Error::NoDevice`], or what CUDA says.
    pub fn cuda(ordinal: usize) -> Result<Self, Error> {
        driver::present()?;
        let count = driver::device_count()?;
        if ordinal >= count {
            return Err(Error::NoDevice { ordinal, count });
        }
        jit::available()?;
        Ok(driver::check("creating a context", CudaContext::new(ordinal))?.into())
    }

    /// The first GPU, if its driver and NVRTC are both there; else the CPU.
    ///
    /// The environment variable `WARPFOLD_DEVICE` overrides that: `cpu`, or `cuda:N`. If it cannot be honoured, the
    /// first [`run`](crate::Reduction::run) returns [`Error::DeviceOverride`]; the CPU never takes over silently.
    pub fn auto() -> Self {
        let value = std::env::var_os(VARIABLE).map(|value| value.to_string_lossy().into_owned());
        match value.as_deref() {
            None | Some("") => Self::cuda(0).unwrap_or_else(|reason| {
                log::info!("running on the CPU: {reason}");
                Self::cpu()
            }),
            Some(value) => Self::named(value).unwrap_or_else(|reason| {
                Self(Place::Nowhere(Error::DeviceOverride { value: value.to_owned(), reason }))
            }),
        }
    }

    fn named(name: &str) -> Result<Self, String> {
        if name == "cpu" {
            return Ok(Self::cpu());
        }
        let ordinal = name.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok());
        let ordinal = ordinal.ok_or_else(|| "expected `cpu` or `cuda:N`".to_owned())?;
        Self::cuda(ordinal).map_err(|error| error.to_string())
    }

    /// Whether reductions run on a GPU.
    pub fn is_gpu(&self) -> bool {
        matches!(self.0, Place::Cuda(_))
    }

    /// A stream for device memory: to allocate it, and to copy to it; none on the CPU. `compile` makes the workspace of
    /// this stream.
    pub fn stream(&self) -> Option<&Arc<CudaStream>> {
        match &self.0 {
            Place::Cuda(stream) => Some(stream),
            Place::Cpu | Place::Nowhere(_) => None,
        }
    }

    pub(crate) fn backend(&self) -> Result<Backend<'_>, Error> {
        match &self.0 {
            Place::Cpu => Ok(Backend::Cpu),
            Place::Cuda(stream) => Ok(Backend::Cuda { stream, _relaxed: RelaxedCapture::enter()? }),
            Place::Nowhere(error) => Err(error.clone()),
        }
    }
}

impl From<Arc<CudaContext>> for Device {
    fn from(context: Arc<CudaContext>) -> Self {
        context.default_stream().into()
    }
}

impl From<Arc<CudaStream>> for Device {
    fn from(stream: Arc<CudaStream>) -> Self {
        Self(Place::Cuda(stream))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Cpu => write!(f, "CPU ({} threads)", rayon::current_num_threads()),
            Place::Cuda(stream) => {
                let name = stream.context().name().unwrap_or_else(|_| "unnamed GPU".to_owned());
                write!(f, "{name} (cuda:{})", stream.context().ordinal())
            }
            Place::Nowhere(error) => write!(f, "no device ({error})"),
        }
    }
}
