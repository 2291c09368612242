//! The driver: its presence, its errors, and the limits of a device.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use cudarc::driver::{CudaContext, CudaStream, DriverError, result, sys};

use crate::Error;
use crate::jit::Architecture;
use crate::plan::Limits;

/// Checks that `libcuda` can be opened and is new enough. Otherwise cudarc panics at its first
/// call.
pub(super) fn present() -> Result<(), Error> {
    static PRESENT: OnceLock<Result<(), Error>> = OnceLock::new();
    let look = || {
        // SAFETY: opening the driver runs its initialisers, which have no preconditions.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDriver { reason: "the library `libcuda` could not be opened".to_owned() });
        }
        // SAFETY: the library is present. The symbol is looked up, but not called.
        let newest = unsafe { sys::culib().get::<unsafe extern "C" fn()>(b"cuStreamGetId\0") };
        newest.map(|_| ()).map_err(|_| Error::NoDriver { reason: "it is older than CUDA 12.0".to_owned() })
    };
    PRESENT.get_or_init(look).clone()
}

/// The number of GPUs. Without a GPU the driver fails to initialise, which counts as 0.
pub(super) fn device_count() -> Result<usize, Error> {
    match CudaContext::device_count() {
        Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => Ok(0),
        counted => Ok(usize::try_from(check("counting devices", counted)?).unwrap_or(0)),
    }
}

/// The name of a GPU, without a context.
pub(super) fn device_name(ordinal: usize) -> Option<String> {
    let device = result::device::get(i32::try_from(ordinal).ok()?).ok()?;
    result::device::get_name(device).ok()
}

/// Converts the result of a driver call. `call` says in the error which operation failed.
pub(super) fn check<T>(call: &'static str, result: Result<T, DriverError>) -> Result<T, Error> {
    result.map_err(|error| failure(call, error))
}

fn failure(call: &'static str, error: DriverError) -> Error {
    let text = |text: Result<&std::ffi::CStr, DriverError>| match text {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => format!("{:?}", error.0),
    };
    Error::Cuda {
        name: text(error.error_name()),
        description: text(error.error_string()),
        call,
        source: error,
    }
}

/// Converts the result of an allocation. [`Error::OutOfMemory`] says how many bytes were requested,
/// and how many are free.
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

/// The limits of a context's device.
pub(super) fn limits(context: &CudaContext) -> Result<Limits, Error> {
    use sys::CUdevice_attribute as Attribute;
    let read = |attribute| Ok(check("reading a limit", context.attribute(attribute))?.unsigned_abs());
    Ok(Limits {
        multiprocessors: read(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        shared_bytes: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize,
    })
}

/// Whether a stream is capturing a CUDA graph. If so, it does not run the work that it gets.
pub(super) fn is_capturing(stream: &CudaStream) -> Result<bool, Error> {
    let status = check("asking for the capture status", stream.capture_status())?;
    Ok(status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
}

/// Returns an error if a stream is capturing a CUDA graph.
pub(super) fn check_not_capturing(stream: &CudaStream) -> Result<(), Error> {
    if is_capturing(stream)? { Err(Error::StreamIsCapturing) } else { Ok(()) }
}

/// Returns an error unless a stream is capturing a CUDA graph.
pub(super) fn check_capturing(stream: &CudaStream) -> Result<(), Error> {
    if is_capturing(stream)? { Ok(()) } else { Err(Error::StreamIsNotCapturing) }
}

/// The id of a stream. Unlike its handle, the id is never reused in a process.
pub(super) fn stream_id(stream: &CudaStream) -> Result<u64, Error> {
    let mut id = 0;
    check("binding the context", stream.context().bind_to_thread())?;
    // SAFETY: the stream is alive, and `id` is valid for writes.
    let result = unsafe { sys::cuStreamGetId(stream.cu_stream(), &mut id) };
    check("asking for the stream's id", result.result())?;
    Ok(id)
}

/// Puts this thread into CUDA's relaxed capture mode until it is dropped.
///
/// The thread may then allocate, load, wait and free while a stream captures, its own or another
/// thread's. These calls do not become part of the graph. The memory of a graph is allocated before
/// the capture, or for this graph alone.
pub(crate) struct RelaxedCapture {
    previous: sys::CUstreamCaptureMode,
    /// Makes the type `!Send`, because the mode belongs to the thread.
    _of_thread: PhantomData<*const ()>,
}

impl RelaxedCapture {
    pub(super) fn enter() -> Result<Self, Error> {
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: `mode` is a valid mode. The call exchanges it with the mode of this thread.
        let exchanged = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) };
        check("relaxing the capture mode", exchanged.result())?;
        Ok(Self { previous: mode, _of_thread: PhantomData })
    }
}

impl Drop for RelaxedCapture {
    fn drop(&mut self) {
        // SAFETY: as above. The call fails only if the driver is gone.
        let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut self.previous) };
    }
}

/// Checks that a stream belongs to a context.
pub(super) fn check_context(
    context: &Arc<CudaContext>,
    what: &'static str,
    stream: &CudaStream,
) -> Result<(), Error> {
    if stream.context() == context {
        return Ok(());
    }
    let device = super::Device::from(context.clone()).to_string();
    Err(Error::WrongContext { what, device })
}
