//! The driver: whether it is there, and what its errors mean.

use std::marker::PhantomData;
use std::sync::OnceLock;

use cudarc::driver::{CudaContext, CudaStream, DriverError, sys};

use crate::Error;
use crate::jit::Architecture;
use crate::plan::Limits;

/// Whether `libcuda` can be opened and is new enough: cudarc panics at the first call if not.
pub(super) fn present() -> Result<(), Error> {
    static PRESENT: OnceLock<Result<(), Error>> = OnceLock::new();
    let look = || {
        // SAFETY: opening the driver runs its initialisers, which have no preconditions.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDriver { reason: "the library `libcuda` could not be opened".to_owned() });
        }
        // SAFETY: the library is there; the symbol is looked up and not called.
        let newest = unsafe { sys::culib().get::<unsafe extern "C" fn()>(b"cuStreamGetId\0") };
        newest.map(|_| ()).map_err(|_| Error::NoDriver { reason: "it is older than CUDA 12.0".to_owned() })
    };
    PRESENT.get_or_init(look).clone()
}

/// How many GPUs there are; a driver without any refuses even to start.
pub(super) fn device_count() -> Result<usize, Error> {
    match CudaContext::device_count() {
        Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => Ok(0),
        counted => Ok(usize::try_from(check("counting devices", counted)?).unwrap_or(0)),
    }
}

/// A driver call's result, with what was being done.
pub(super) fn check<T>(call: &'static str, result: Result<T, DriverError>) -> Result<T, Error> {
    result.map_err(|error| {
        let text = |text: Result<&std::ffi::CStr, DriverError>| match text {
            Ok(text) => text.to_string_lossy().into_owned(),
            Err(_) => format!("{:?}", error.0),
        };
        Error::Cuda { name: text(error.error_name()), description: text(error.error_string()), call }
    })
}

/// An allocation's result: where memory ran out, how much was asked for and how much there is.
pub(super) fn check_allocation<T>(
    context: &CudaContext,
    requested: usize,
    result: Result<T, DriverError>,
) -> Result<T, Error> {
    match result {
        Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
            let (free, _) = check("asking for free memory", context.mem_get_info())?;
            Err(Error::OutOfMemory { requested, free })
        }
        result => check("allocating memory", result),
    }
}

pub(super) fn architecture(context: &CudaContext) -> Result<Architecture, Error> {
    let (major, minor) = check("reading the compute capability", context.compute_capability())?;
    Ok(Architecture::new(major.unsigned_abs(), minor.unsigned_abs()))
}

/// What a launch may have of the device of a context.
pub(super) fn limits(context: &CudaContext) -> Result<Limits, Error> {
    use sys::CUdevice_attribute as Attribute;
    let read = |attribute| Ok(check("reading a limit", context.attribute(attribute))?.unsigned_abs());
    Ok(Limits {
        multiprocessors: read(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        shared_bytes: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize,
    })
}

/// Whether a stream records a CUDA graph instead of running what it is given.
pub(super) fn is_capturing(stream: &CudaStream) -> Result<bool, Error> {
    let status = check("asking for the capture status", stream.capture_status())?;
    Ok(status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
}

/// Refuses a stream that records a CUDA graph.
pub(super) fn check_not_capturing(stream: &CudaStream) -> Result<(), Error> {
    if is_capturing(stream)? { Err(Error::StreamIsCapturing) } else { Ok(()) }
}

/// Refuses a stream that does not record a CUDA graph.
pub(super) fn check_capturing(stream: &CudaStream) -> Result<(), Error> {
    if is_capturing(stream)? { Ok(()) } else { Err(Error::StreamIsNotCapturing) }
}

/// A number that no other stream of the process ever has, unlike its handle.
pub(super) fn stream_id(stream: &CudaStream) -> Result<u64, Error> {
    let mut id = 0;
    check("binding the context", stream.context().bind_to_thread())?;
    // SAFETY: the stream is alive, and `id` is a place to write to.
    let result = unsafe { sys::cuStreamGetId(stream.cu_stream(), &mut id) };
    check("asking for the stream's id", result.result())?;
    Ok(id)
}

/// Lets this thread allocate, load, wait and free while some stream records a graph, its own or another thread's,
/// until dropped. Those calls take no part in the graph: what a graph uses is made before, or for it alone.
pub(crate) struct RelaxedCapture {
    previous: sys::CUstreamCaptureMode,
    /// The mode is a thread's: no other one may drop this.
    _of_thread: PhantomData<*const ()>,
}

impl RelaxedCapture {
    pub(super) fn enter() -> Result<Self, Error> {
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: `mode` is a valid mode, which the call exchanges with this thread's.
        let exchanged = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) };
        check("relaxing the capture mode", exchanged.result())?;
        Ok(Self { previous: mode, _of_thread: PhantomData })
    }
}

impl Drop for RelaxedCapture {
    fn drop(&mut self) {
        // SAFETY: as above. It can only fail if the driver is gone.
        let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut self.previous) };
    }
}
