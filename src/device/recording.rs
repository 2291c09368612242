//! What a stream records: a graph, what that keeps, and what its last reduction writes.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use cudarc::driver::{CudaStream, DriverError, sys};

use super::driver::{check, is_capturing};
use super::workspace::lock;
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
    if !is_capturing(stream)? {
        return Ok(None);
    }
    let mut capture = Capture { id: 0, graph: std::ptr::null_mut() };
    let asked = ask(stream, &mut capture, None);
    let status = check("asking for the graph that is recorded", asked.map_err(DriverError))?;
    Ok((status == sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE).then_some(capture))
}

/// Asks for a recording, and for the nodes that the stream's next work comes after.
fn ask(
    stream: &CudaStream,
    capture: &mut Capture,
    nodes: Option<(&mut *const sys::CUgraphNode, &mut usize)>,
) -> Result<sys::CUstreamCaptureStatus, sys::CUresult> {
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
    let (first, count): (*mut _, *mut _) = match nodes {
        Some((first, count)) => (first, count),
        None => (std::ptr::null_mut(), std::ptr::null_mut()),
    };
    // SAFETY: the driver, which is present, has the function since CUDA 11.3; the stream is alive, and what is not
    // wanted has nowhere to go.
    let result = unsafe {
        match sys::culib().get::<CaptureInfo>(b"cuStreamGetCaptureInfo_v2\0") {
            Ok(function) => {
                function(stream.cu_stream(), &mut status, &mut capture.id, &mut capture.graph, first, count)
            }
            Err(_) => sys::CUresult::CUDA_ERROR_NOT_SUPPORTED,
        }
    };
    match result {
        sys::CUresult::CUDA_SUCCESS => Ok(status),
        error => Err(error),
    }
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

/// Held while a call is recorded: what it then notes as the last node of a stream is its own, whoever else records.
pub(super) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    lock(&TURN)
}

/// The last reduction of a recording.
struct Recorded {
    /// Of its last launch, as a number: it is compared, and not used.
    node: usize,
    /// Device memory of the caller's that it writes.
    written: Range<u64>,
}

/// Of each recording whose graph is there.
static RECORDED: Mutex<Option<HashMap<u64, Recorded>>> = Mutex::new(None);

/// The only node that the next work of a stream comes after, if it is one.
fn last_node(stream: &CudaStream) -> Option<(u64, usize)> {
    let mut capture = Capture { id: 0, graph: std::ptr::null_mut() };
    let (mut nodes, mut count) = (std::ptr::null(), 0);
    let status = ask(stream, &mut capture, Some((&mut nodes, &mut count))).ok()?;
    let is_active = status == sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE;
    // SAFETY: the driver has said that there is one, and nothing was recorded since.
    (is_active && count == 1 && !nodes.is_null()).then(|| (capture.id, unsafe { *nodes } as usize))
}

/// Notes that what a stream has recorded last is a reduction that writes this memory.
pub(super) fn note_reduction(stream: &CudaStream, written: Range<u64>) {
    if let Some((id, node)) = last_node(stream) {
        lock(&RECORDED).get_or_insert_default().insert(id, Recorded { node, written });
    }
}

/// Whether all that the next work of a stream comes after is a reduction that writes none of this memory. Only that reduction may still
/// run when such work begins: its last launch lets it begin when all that was before the reduction has ended, and launches of its own before
/// that one write nothing but a workspace.
pub(super) fn follows_reduction_beside(stream: &CudaStream, read: Range<u64>) -> bool {
    let Some((id, node)) = last_node(stream) else { return false };
    let recorded = lock(&RECORDED);
    let last = recorded.as_ref().and_then(|recorded| recorded.get(&id));
    last.is_some_and(|Recorded { node: last, written }| {
        *last == node && (written.end <= read.start || read.end <= written.start)
    })
}

/// A graph is gone.
pub(super) fn forget(id: u64) {
    if let Some(recorded) = lock(&RECORDED).as_mut() {
        recorded.remove(&id);
    }
}
