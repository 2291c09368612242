//! Finds and opens NVRTC. The library stays open. Its functions are called by `nvrtc.rs`.
//!
//! cudarc opens the first NVRTC on the library path, and cannot open a file by its path. So this
//! module opens the library itself.
#![allow(unsafe_code)]

use std::error::Error as _;
#[cfg(unix)]
use std::ffi::CStr;
use std::ffi::{OsStr, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

use libloading::Library;

use super::compiler::VARIABLE;
use crate::Error;
use crate::error::LoaderError;

/// NVRTC's handle of a program.
pub(super) type Program = *mut c_void;

/// The names under which the system's library path may have NVRTC, newest version first.
#[cfg(not(windows))]
const NAMES: [&str; 4] = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"];
#[cfg(windows)]
const NAMES: [&str; 3] = ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"];

macro_rules! functions {
    ($($field:ident: $symbol:literal ($($argument:ty),*) -> $result:ty;)*) => {
        /// The functions of NVRTC that this crate calls. A function that returns `c_int` returns
        /// one of NVRTC's codes, 0 for success.
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// # Safety
            ///
            /// The library is NVRTC, and is never closed.
            unsafe fn of(library: &Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of NVRTC's header.
                Ok(Self { $($field: *unsafe { library.get($symbol) }?,)* })
            }
        }
    };
}
functions! {
    version: b"nvrtcVersion\0" (*mut c_int, *mut c_int) -> c_int;
    architecture_count: b"nvrtcGetNumSupportedArchs\0" (*mut c_int) -> c_int;
    architectures: b"nvrtcGetSupportedArchs\0" (*mut c_int) -> c_int;
    error_string: b"nvrtcGetErrorString\0" (c_int) -> *const c_char;
    create: b"nvrtcCreateProgram\0"
        (*mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> c_int;
    compile: b"nvrtcCompileProgram\0" (Program, c_int, *const *const c_char) -> c_int;
    destroy: b"nvrtcDestroyProgram\0" (*mut Program) -> c_int;
    log_size: b"nvrtcGetProgramLogSize\0" (Program, *mut usize) -> c_int;
    log: b"nvrtcGetProgramLog\0" (Program, *mut c_char) -> c_int;
    cubin_size: b"nvrtcGetCUBINSize\0" (Program, *mut usize) -> c_int;
    cubin: b"nvrtcGetCUBIN\0" (Program, *mut c_char) -> c_int;
    ptx_size: b"nvrtcGetPTXSize\0" (Program, *mut usize) -> c_int;
    ptx: b"nvrtcGetPTX\0" (Program, *mut c_char) -> c_int;
}

/// Opens the library that `WARPFOLD_NVRTC` names. If the variable is not set, searches the library
/// path, and then CUDA toolkits.
pub(super) fn open() -> Result<Functions, Error> {
    if let Some(name) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) {
        let named = |Unusable { reason, source }| Error::NoNvrtc {
            gpu: None,
            reason: format!("{VARIABLE} names `{}`, but {reason}", name.display()),
            source,
        };
        return open_file(&name).map_err(named);
    }
    let mut unusable = None;
    for name in NAMES.into_iter().map(OsString::from).chain(toolkit_libraries()) {
        match open_file(&name) {
            Ok(functions) => return Ok(functions),
            // A library that exists but cannot be used explains more than one that is missing.
            Err(error) if error.source.is_none() || Path::new(&name).exists() => {
                unusable = unusable.or(Some((name, error)));
            }
            Err(_) => {}
        }
    }
    Err(match unusable {
        Some((name, Unusable { reason, source })) => Error::NoNvrtc {
            reason: format!("`{}` cannot be used: {reason}", name.display()),
            gpu: None,
            source,
        },
        None => Error::NoNvrtc {
            gpu: None,
            reason: format!(
                "no `{}` on the library path, in CUDA_PATH, in CUDA_HOME or in /usr/local/cuda",
                NAMES[0]
            ),
            source: None,
        },
    })
}

/// Why a file cannot be used, and the error of the loader if it could not be opened.
struct Unusable {
    reason: String,
    source: Option<LoaderError>,
}

/// Opens a library by its path, or by a name on the library path.
///
/// First opens the built-ins, a library in the same folder. Some versions of NVRTC search for them
/// on the library path only.
fn open_file(name: &OsStr) -> Result<Functions, Unusable> {
    let beside = Path::new(name).parent().and_then(|folder| folder.read_dir().ok());
    let is_builtins = |name: &OsStr| name.to_string_lossy().starts_with("libnvrtc-builtins.so");
    for builtins in beside.into_iter().flatten().flatten().filter(|entry| is_builtins(&entry.file_name())) {
        // The built-ins of another version are not used, and do no harm.
        let _ = open_and_leak(builtins.path().as_os_str());
    }
    let library = open_and_leak(name).map_err(|error| {
        // The loader's own message, which names the file, is the source of libloading's error.
        let said = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        Unusable { reason: format!("the loader says: {said}"), source: Some(LoaderError(said)) }
    })?;
    // SAFETY: the symbol is looked up, but not called.
    let has = |symbol: &[u8]| unsafe { library.get::<unsafe extern "C" fn()>(symbol) }.is_ok();
    let unusable = |reason: &str| Unusable { reason: reason.to_owned(), source: None };
    if !has(b"nvrtcVersion\0") {
        return Err(unusable("it is another library than NVRTC"));
    }
    if !has(b"nvrtcGetNumSupportedArchs\0") {
        return Err(unusable("it is older than CUDA 11.2"));
    }
    // SAFETY: the library has NVRTC's functions, and is never closed.
    unsafe { Functions::of(library) }.map_err(|error| unusable(&format!("it lacks a function: {error}")))
}

fn open_and_leak(name: &OsStr) -> Result<&'static Library, libloading::Error> {
    // SAFETY: the library is NVRTC or its built-ins, whose initialisers have no preconditions. The
    // user or a toolkit names it.
    let library = unsafe { Library::new(name)? };
    Ok(Box::leak(Box::new(library)))
}

/// The paths of NVRTC in CUDA toolkits that are not on the library path.
fn toolkit_libraries() -> impl Iterator<Item = OsString> {
    let named = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    named
        .chain([PathBuf::from("/usr/local/cuda")])
        .map(|toolkit| toolkit.join("lib64"))
        .flat_map(|folder| NAMES.map(|name| folder.join(name).into_os_string()))
}

impl Functions {
    /// The file of the library. None if the system does not tell.
    #[cfg(not(unix))]
    pub(super) fn path(&self) -> Option<PathBuf> {
        None
    }

    /// The file of the library. None if the system does not tell.
    #[cfg(unix)]
    pub(super) fn path(&self) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStrExt;
        let address: *const c_void = self.version as *const c_void;
        // SAFETY: all fields of the structure may be zeros.
        let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: `found` is valid for writes. The name that it receives is a string of the loader,
        // which exists as long as the library is open.
        let name = unsafe {
            if libc::dladdr(address, &mut found) == 0 || found.dli_fname.is_null() {
                return None;
            }
            CStr::from_ptr(found.dli_fname)
        };
        Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
    }
}
