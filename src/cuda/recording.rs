//! What a stream records: a graph, and what that keeps.

use std::ffi::c_void;

use cudarc::driver::{CudaStream, sys};

use super::driver::{check, is_capturing};
use crate::Error;

/// The recording that a stream is part of.
#[derive(Clone, Copy)]
pub(super) struct Capture {
    /// A number that no other recording of the process has.
    pub(super) id: u64,
    graph: sys::CUgraph,
}

/// The recording that a stream is part of, if it is.
pub(super) fn capture(stream: &CudaStream) -> Result<Option<Capture>, Error> {
    // By its name: bindings differ in which version of this function they have, and drivers have all.
    type CaptureInfo = unsafe extern "C" fn(
        sys::CUstream,
        *mut sys::CUstreamCaptureStatus,
        *mut u64,
        *mut sys::CUgraph,
        *mut *const sys::CUgraphNode,
        *mut usize,
    ) -> sys::CUresult;
    if !is_capturing(stream)? {
        return Ok(None);
    }
    let mut capture = Capture { id: 0, graph: std::ptr::null_mut() };
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // The nodes that the next work comes after are not asked for.
    let (nodes, count) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the driver, which is present, has the function since CUDA 11.3; the stream is alive, and all other
    // addresses are places to write to, or null where nothing is to be written.
    let result = unsafe {
        match sys::culib().get::<CaptureInfo>(b"cuStreamGetCaptureInfo_v2\0") {
            Ok(function) => {
                function(stream.cu_stream(), &mut status, &mut capture.id, &mut capture.graph, nodes, count)
            }
            Err(_) => sys::CUresult::CUDA_ERROR_NOT_SUPPORTED,
        }
    };
    check("asking for the graph that is recorded", result.result())?;
    Ok((status == sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE).then_some(capture))
}

impl Capture {
    /// Drops `kept` once the graph and all its instances are gone. That happens in a thread of the driver, from which no
    /// driver may be called.
    ///
    /// # Safety
    ///
    /// The stream still records the graph.
    pub(super) unsafe fn keep<T: Send + 'static>(&self, kept: T) -> Result<(), Error> {
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
        // SAFETY: the graph is being recorded, as was promised, and the reference that it takes is the only one.
        let retained = unsafe { sys::cuGraphRetainUserObject(self.graph, object, 1, moved) };
        check("giving it to the graph", retained.result()).inspect_err(|_| {
            // SAFETY: the reference was not taken. With it the box is dropped.
            let _ = unsafe { sys::cuUserObjectRelease(object, 1) };
        })
    }
}
