//! The graph that a stream captures, and objects that the graph owns.

use std::ffi::c_void;

use cudarc::driver::{CudaStream, sys};

use super::driver::{check, is_capturing};
use crate::Error;

/// The capture that a stream is part of.
#[derive(Clone, Copy)]
pub(super) struct Capture {
    /// Unique among the captures of the process.
    pub(super) id: u64,
    graph: sys::CUgraph,
}

/// The capture that a stream is part of, or None.
pub(super) fn capture(stream: &CudaStream) -> Result<Option<Capture>, Error> {
    // Looked up by name: bindings differ in the version of this function, but drivers have all
    // versions.
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
    // The dependencies of the next launch are not needed.
    let (nodes, count) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the driver is present, and has this function since CUDA 11.3. The stream is alive.
    // All pointers are valid for writes, or null for values that are not needed.
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
    /// Drops `kept` when the graph and all its instances have been destroyed. A thread of the
    /// driver drops it, so its drop must not call the driver.
    ///
    /// # Safety
    ///
    /// The stream is still capturing the graph.
    pub(super) unsafe fn keep<T: Send + 'static>(&self, kept: T) -> Result<(), Error> {
        unsafe extern "C" fn drop_kept<T>(kept: *mut c_void) {
            // SAFETY: the pointer comes from a box of this type. The driver calls this function
            // once.
            drop(unsafe { Box::from_raw(kept.cast::<T>()) });
        }
        let kept: *mut T = Box::into_raw(Box::new(kept));
        let mut object = std::ptr::null_mut();
        let no_sync = sys::CUuserObject_flags_enum::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC as u32;
        // SAFETY: the driver calls the function once, with the box, when no reference to the object
        // is left.
        let created =
            unsafe { sys::cuUserObjectCreate(&mut object, kept.cast(), Some(drop_kept::<T>), 1, no_sync) };
        if let Err(error) = check("creating what a graph keeps", created.result()) {
            // SAFETY: no other code has the box.
            drop(unsafe { Box::from_raw(kept) });
            return Err(error);
        }
        let moved = sys::CUuserObjectRetain_flags_enum::CU_GRAPH_USER_OBJECT_MOVE as u32;
        // SAFETY: the stream is capturing the graph, as the caller guarantees. The graph takes the
        // only reference.
        let retained = unsafe { sys::cuGraphRetainUserObject(self.graph, object, 1, moved) };
        check("giving it to the graph", retained.result()).inspect_err(|_| {
            // SAFETY: the graph did not take the reference. Its release drops the box.
            let _ = unsafe { sys::cuUserObjectRelease(object, 1) };
        })
    }
}
