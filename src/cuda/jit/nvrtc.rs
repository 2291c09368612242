//! Finds, opens and calls NVRTC. The library stays open. The `unsafe` of its calls is here.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder};

use cudarc::nvrtc::result::{self, NvrtcError};
use cudarc::nvrtc::sys;

use super::compiler::{Compiler, VARIABLE};
use super::image::{Image, ImageFormat};
use super::recorded::record;
use super::target::Target;
use crate::Error;
use crate::error::Excerpt;
use crate::source::{LAYOUT_ASSERTION, Source};
use crate::types::Architecture;

/// The stack of a compilation, in bytes. It takes only the memory that is touched.
///
/// NVRTC 13.5 needs 0.15 MiB for a kernel of this crate, and 0.01 MiB more for each nested
/// parenthesis of an operator. So 200 of them would overflow the 2 MiB stack of a Rust thread.
const STACK_BYTES: usize = 64 << 20;

static HAS_COMPILED: AtomicBool = AtomicBool::new(false);
static LIBRARY: OnceLock<Result<Compiler, Error>> = OnceLock::new();

/// An image, and the log of its compilation.
pub(super) struct Compiled {
    pub(super) image: Image,
    pub(super) log: String,
}

/// The library, which is opened at the first call and never closed.
pub(super) fn library() -> Result<&'static Compiler, Error> {
    LIBRARY.get_or_init(open).as_ref().map_err(Error::clone)
}

pub(super) fn is_open() -> bool {
    matches!(LIBRARY.get(), Some(Ok(_)))
}

/// Whether this process has compiled a source successfully.
pub(super) fn has_compiled() -> bool {
    HAS_COMPILED.load(Ordering::Acquire)
}

fn open() -> Result<Compiler, Error> {
    log::debug!("opening NVRTC");
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        preload(&path).map_err(|error| Error::NoNvrtc { reason: format!("{VARIABLE}: {error}") })?;
    }
    if !is_present() && !toolkit_libraries().iter().any(|path| preload(path).is_ok()) {
        return Err(Error::NoNvrtc { reason: "the library `libnvrtc` could not be opened".to_owned() });
    }
    if !is_present() {
        return Err(Error::NoNvrtc { reason: "no version of `libnvrtc` that cudarc knows".to_owned() });
    }
    // SAFETY: the library is present. The symbol is looked up, but not called.
    let newest = unsafe { sys::culib().get::<unsafe extern "C" fn()>(b"nvrtcGetNumSupportedArchs\0") };
    if newest.is_err() {
        return Err(Error::NoNvrtc { reason: "the one that was found is older than CUDA 11.2".to_owned() });
    }
    let (mut major, mut minor, mut count) = (0, 0, 0);
    // SAFETY: the library is present, all pointers are valid for writes, and the list has `count`
    // entries.
    let numbers = unsafe {
        sys::nvrtcVersion(&mut major, &mut minor).result().map_err(nvrtc_error)?;
        sys::nvrtcGetNumSupportedArchs(&mut count).result().map_err(nvrtc_error)?;
        let mut numbers = vec![0; usize::try_from(count).unwrap_or(0)];
        sys::nvrtcGetSupportedArchs(numbers.as_mut_ptr()).result().map_err(nvrtc_error)?;
        numbers
    };
    let mut architectures: Vec<Architecture> = numbers
        .into_iter()
        .filter_map(|number| u32::try_from(number).ok())
        .map(Architecture::from_number)
        .collect();
    architectures.sort();
    let compiler = Compiler { version: format!("{major}.{minor}"), architectures };
    record(&compiler);
    Ok(compiler)
}

fn is_present() -> bool {
    // SAFETY: opening NVRTC runs its initialisers, which have no preconditions.
    unsafe { sys::is_culib_present() }
}

/// Opens a library by its path and keeps it open, so that cudarc finds it by its name.
///
/// First opens the built-ins, a library in the same folder. Some versions of NVRTC search for them
/// on the library path only.
fn preload(path: &Path) -> Result<(), libloading::Error> {
    let beside = path.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    let is_builtins = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("libnvrtc-builtins.so");
    for builtins in beside.filter(|entry| is_builtins(&entry.file_name())) {
        // The built-ins of another version are not used, and do no harm.
        let _ = open_and_leak(&builtins.path());
    }
    open_and_leak(path)
}

fn open_and_leak(path: &Path) -> Result<(), libloading::Error> {
    // SAFETY: as above. The path comes from the user or from a toolkit.
    let library = unsafe { libloading::Library::new(path)? };
    std::mem::forget(library);
    Ok(())
}

/// The paths of NVRTC in CUDA toolkits that are not on the library path.
fn toolkit_libraries() -> Vec<PathBuf> {
    let named = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    named
        .chain([PathBuf::from("/usr/local/cuda")])
        .map(|toolkit| toolkit.join("lib64").join("libnvrtc.so"))
        .flat_map(|path| [path.clone(), path.with_extension("so.13"), path.with_extension("so.12")])
        .collect()
}

fn nvrtc_error(error: NvrtcError) -> Error {
    Error::Nvrtc { name: format!("{:?}", error.0), source: error }
}

impl Compiler {
    /// Compiles a source with these options, without the caches, in a thread with a large stack.
    /// The library is open.
    pub(super) fn compile(
        &self,
        source: &Source,
        target: Target,
        options: &[String],
    ) -> Result<Compiled, Error> {
        let compile = || self.compile_here(source, target, options);
        thread::scope(|scope| {
            let builder = Builder::new().name("warpfold compilation".to_owned()).stack_size(STACK_BYTES);
            match builder.spawn_scoped(scope, compile) {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // The thread could not be started.
                Err(_) => compile(),
            }
        })
    }

    fn compile_here(&self, source: &Source, target: Target, options: &[String]) -> Result<Compiled, Error> {
        // A zero byte in the source is an error here. No earlier step checks names and bodies for
        // it.
        let text = CString::new(source.text()).map_err(|error| Error::Compilation {
            operator: source.operator(),
            architecture: target.architecture,
            options: options.to_vec(),
            excerpt: String::new(),
            log: error.to_string(),
        })?;
        let program = Program(result::create_program(&text, Some(c"warpfold.cu")).map_err(nvrtc_error)?);
        // SAFETY: the program was created above. `program` destroys it after its last use.
        let compiled = unsafe { result::compile_program(program.0, options) };
        let log = program.log()?;
        match compiled {
            Ok(()) => {
                HAS_COMPILED.store(true, Ordering::Release);
                Ok(Compiled { image: program.image(target.format)?, log })
            }
            Err(NvrtcError(sys::nvrtcResult::NVRTC_ERROR_COMPILATION)) => {
                Err(compilation_error(source, target, options, log))
            }
            Err(error) => Err(nvrtc_error(error)),
        }
    }
}

fn compilation_error(source: &Source, target: Target, options: &[String], log: String) -> Error {
    // Matches the message of the assertion, not the source line that the log repeats.
    if let Some((_, message)) = log.split_once(&format!("failed with \"{LAYOUT_ASSERTION}")) {
        let expected = message.split('"').next().unwrap_or(message);
        return Error::LayoutMismatch { mismatch: format!("in Rust {expected}, but not in CUDA C++") };
    }
    Error::Compilation {
        operator: source.operator(),
        architecture: target.architecture,
        options: options.to_vec(),
        excerpt: Excerpt { source: source.text(), log: &log }.to_string(),
        log,
    }
}

struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: `create_program` created the program, and it is not used again. An error here has
        // no consequence.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

impl Program {
    fn log(&self) -> Result<String, Error> {
        // SAFETY: the program is alive.
        let log = unsafe { result::get_program_log(self.0) }.map_err(nvrtc_error)?;
        let bytes: Vec<u8> = log.into_iter().map(|byte: c_char| byte as u8).collect();
        let text = CStr::from_bytes_until_nul(&bytes).map(CStr::to_string_lossy);
        Ok(text.map(|text| text.into_owned()).unwrap_or_default())
    }

    fn image(&self, format: ImageFormat) -> Result<Image, Error> {
        let (size_of, get): (SizeOf, Get) = match format {
            ImageFormat::Cubin => (sys::nvrtcGetCUBINSize, sys::nvrtcGetCUBIN),
            ImageFormat::Ptx => (sys::nvrtcGetPTXSize, sys::nvrtcGetPTX),
        };
        let mut size = 0;
        // SAFETY: the program is alive and compiled to this format, and the buffer has the size
        // that NVRTC reports.
        let bytes = unsafe {
            size_of(self.0, &mut size).result().map_err(nvrtc_error)?;
            let mut bytes = vec![0_u8; size];
            get(self.0, bytes.as_mut_ptr().cast()).result().map_err(nvrtc_error)?;
            bytes
        };
        Ok(Image { format, bytes })
    }
}

type SizeOf = unsafe fn(sys::nvrtcProgram, *mut usize) -> sys::nvrtcResult;
type Get = unsafe fn(sys::nvrtcProgram, *mut c_char) -> sys::nvrtcResult;
