//! The driver: whether it is there, and what its errors mean.

use std::ffi::c_void;
use std::sync::OnceLock;

use cudarc::driver::{CudaContext, CudaStream, DriverError, sys};

use crate::Error;
use crate::jit::Architecture;
use crate::policy::Limits;

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

/// The recording that a stream is part of.
#[derive(Clone, Copy)]
pub(super) struct Capture {
    /// A number that no other recording of the process has.
    pub(super) id: u64,
    graph: sys::CUgraph,
}

/// The recording that a stream is part of, if it is.
pub(super) fn capture(stream: &CudaStream) -> Result<Option<Capture>, Error> {
    if !is_capturing(stream)? {
        return Ok(None);
    }
    // By its name: bindings differ in which version of this function they have, and drivers have all.
    type CaptureInfo = unsafe extern "C" fn(
        sys::CUstream,
        *mut sys::CUstreamCaptureStatus,
        *mut u64,
        *mut sys::CUgraph,
        *mut *const sys::CUgraphNode,
        *mut usize,
    ) -> sys::CUresult;
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    let (mut id, mut graph) = (0, std::ptr::null_mut());
    let nowhere = std::ptr::null_mut();
    // SAFETY: the driver, which is present, has the function since CUDA 11.3; the stream is alive, and what is not
    // wanted has nowhere to go.
    let result = unsafe {
        match sys::culib().get::<CaptureInfo>(b"cuStreamGetCaptureInfo_v2\0") {
            Ok(function) => {
                function(stream.cu_stream(), &mut status, &mut id, &mut graph, nowhere, std::ptr::null_mut())
            }
            Err(_) => sys::CUresult::CUDA_ERROR_NOT_SUPPORTED,
        }
    };
    check("asking for the graph that is recorded", result.result())?;
    let is_active = status == sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE;
    Ok(is_active.then_some(Capture { id, graph }))
}

impl Capture {
    /// Drops `kept` once the graph and all its instances are gone. That happens in a thread of the driver, from which no
    /// driver may be called.
    pub(super) fn keep<T: Send + 'static>(&self, kept: T) -> Result<(), Error> {
        unsafe extern "C" fn drop_kept<T>(kept: *mut c_void) {
            // SAFETY: made from a box of this type, and given to this function once.
            drop(unsafe { Box::from_raw(kept.cast::<T>()) });
        }
        let kept: *mut T = Box::into_raw(Box::new(kept));
        let mut object = std::ptr::null_mut();
        let no_sync = sys::CUuserObject_flags_enum::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC as u32;
        // SAFETY: the driver calls the function once, with the box, when nothing refers to the object any more.
        let created =
            unsafe { sys::cuUserObjectCreate(&mut object, kept.cast(), Some(drop_kept::<T>), 1, no_sync) };
        if let Err(error) = check("creating what a graph keeps", created.result()) {
            // SAFETY: nobody else has the box.
            drop(unsafe { Box::from_raw(kept) });
            return Err(error);
        }
        let moved = sys::CUuserObjectRetain_flags_enum::CU_GRAPH_USER_OBJECT_MOVE as u32;
        // SAFETY: the graph is being recorded, and the reference that it takes is the only one.
        let retained = unsafe { sys::cuGraphRetainUserObject(self.graph, object, 1, moved) };
        check("giving it to the graph", retained.result()).inspect_err(|_| {
            // SAFETY: the reference was not taken. With it the box is dropped.
            let _ = unsafe { sys::cuUserObjectRelease(object, 1) };
        })
    }
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
pub(super) struct RelaxedCapture {
    previous: sys::CUstreamCaptureMode,
}

impl RelaxedCapture {
    pub(super) fn enter() -> Result<Self, Error> {
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: `mode` is a valid mode, which the call exchanges with this thread's.
        let exchanged = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) };
        check("relaxing the capture mode", exchanged.result())?;
        Ok(Self { previous: mode })
    }
}

impl Drop for RelaxedCapture {
    fn drop(&mut self) {
        // SAFETY: as above. It can only fail if the driver is gone.
        let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut self.previous) };
    }
}
