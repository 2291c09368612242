//! Calls NVRTC. The `unsafe` of its calls is here.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder};

use super::compiler::Compiler;
use super::image::{Image, ImageFormat};
use super::library::{self, Functions};
use super::recorded::record;
use super::target::Target;
use crate::Error;
use crate::error::Excerpt;
use crate::source::{LAYOUT_ASSERTION, Source};
use crate::types::Architecture;

/// NVRTC's code for a source that does not compile.
const COMPILATION: c_int = 6;
/// NVRTC's code for built-ins that cannot be opened, among others.
const BUILTIN_OPERATION_FAILURE: c_int = 7;

/// The stack of a compilation, in bytes. It takes only the memory that is touched.
///
/// NVRTC 13.5 needs 0.15 MiB for a kernel of this crate, and 0.01 MiB more for each nested
/// parenthesis of an operator. So 200 of them would overflow the 2 MiB stack of a Rust thread.
const STACK_BYTES: usize = 64 << 20;

static HAS_COMPILED: AtomicBool = AtomicBool::new(false);
static NVRTC: OnceLock<Result<Nvrtc, Error>> = OnceLock::new();

/// The open library.
pub(super) struct Nvrtc {
    pub(super) compiler: Compiler,
    functions: Functions,
}

/// An image, and the log of its compilation.
pub(super) struct Compiled {
    pub(super) image: Image,
    pub(super) log: String,
}

/// The library, which is opened at the first call and never closed.
pub(super) fn library() -> Result<&'static Nvrtc, Error> {
    NVRTC.get_or_init(Nvrtc::open).as_ref().map_err(Error::clone)
}

pub(super) fn is_open() -> bool {
    matches!(NVRTC.get(), Some(Ok(_)))
}

/// Whether this process has compiled a source successfully.
pub(super) fn has_compiled() -> bool {
    HAS_COMPILED.load(Ordering::Acquire)
}

impl Nvrtc {
    fn open() -> Result<Self, Error> {
        log::debug!("opening NVRTC");
        let functions = library::open()?;
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: all pointers are valid for writes, and the list has `count` entries.
        let numbers = unsafe {
            functions.check((functions.version)(&mut major, &mut minor))?;
            functions.check((functions.architecture_count)(&mut count))?;
            let mut numbers = vec![0; usize::try_from(count).unwrap_or(0)];
            functions.check((functions.architectures)(numbers.as_mut_ptr()))?;
            numbers
        };
        let mut architectures: Vec<Architecture> = numbers
            .into_iter()
            .filter_map(|number| u32::try_from(number).ok())
            .map(Architecture::from_number)
            .collect();
        architectures.sort();
        let compiler = Compiler { version: format!("{major}.{minor}"), architectures };
        if let Some(path) = functions.path() {
            log::debug!("NVRTC {} is {}", compiler.version, path.display());
            record(&compiler, &path);
        }
        Ok(Self { compiler, functions })
    }

    /// Compiles a source with these options, without the caches, in a thread with a large stack.
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
        let program = Program::new(&self.functions, &text)?;
        let code = program.compile(options);
        let log = program.log()?;
        match code {
            0 => {
                HAS_COMPILED.store(true, Ordering::Release);
                Ok(Compiled { image: program.image(target.format)?, log })
            }
            COMPILATION => Err(compilation_error(source, target, options, log)),
            BUILTIN_OPERATION_FAILURE => Err(self.no_builtins(&log)),
            code => Err(self.functions.error(code)),
        }
    }

    /// The error of an NVRTC whose library of built-ins cannot be opened.
    fn no_builtins(&self, log: &str) -> Error {
        let path = self.functions.path().unwrap_or_else(|| "libnvrtc.so".into());
        let reason = format!(
            "`{}` cannot open `libnvrtc-builtins.so.{}`, a file of the same package that belongs into the same \
             folder ({})",
            path.display(),
            self.compiler.version,
            log.trim()
        );
        Error::NoNvrtc { reason, gpu: None, source: None }
    }
}

impl Functions {
    fn check(&self, code: c_int) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(self.error(code)) }
    }

    fn error(&self, code: c_int) -> Error {
        // SAFETY: the function accepts any code, and returns a string that is never freed.
        let name = unsafe { CStr::from_ptr((self.error_string)(code)) };
        Error::Nvrtc { name: name.to_string_lossy().into_owned(), code }
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

/// A program of NVRTC: one source.
struct Program<'a> {
    functions: &'a Functions,
    handle: library::Program,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` created the program, and it is not used again. An error here has no
        // consequence.
        let _ = unsafe { (self.functions.destroy)(&mut self.handle) };
    }
}

impl<'a> Program<'a> {
    fn new(functions: &'a Functions, text: &CStr) -> Result<Self, Error> {
        let (mut handle, none) = (std::ptr::null_mut(), std::ptr::null());
        // SAFETY: the strings end with a zero byte, and there are no headers.
        let code =
            unsafe { (functions.create)(&mut handle, text.as_ptr(), c"warpfold.cu".as_ptr(), 0, none, none) };
        functions.check(code)?;
        Ok(Self { functions, handle })
    }

    /// Compiles the program. Returns NVRTC's code.
    fn compile(&self, options: &[String]) -> c_int {
        // No option contains a zero byte.
        let options: Vec<CString> =
            options.iter().map(|option| CString::new(option.as_str()).unwrap_or_default()).collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the program is alive, and the strings live until the call returns.
        unsafe { (self.functions.compile)(self.handle, pointers.len() as c_int, pointers.as_ptr()) }
    }

    fn log(&self) -> Result<String, Error> {
        let bytes = self.bytes(self.functions.log_size, self.functions.log)?;
        let text = CStr::from_bytes_until_nul(&bytes).map(CStr::to_string_lossy);
        Ok(text.map(|text| text.into_owned()).unwrap_or_default())
    }

    /// The image. The program has been compiled to this format.
    fn image(&self, format: ImageFormat) -> Result<Image, Error> {
        let bytes = match format {
            ImageFormat::Cubin => self.bytes(self.functions.cubin_size, self.functions.cubin),
            ImageFormat::Ptx => self.bytes(self.functions.ptx_size, self.functions.ptx),
        }?;
        Ok(Image { format, bytes })
    }

    /// The bytes that `get` writes, of which there are as many as `size_of` says.
    fn bytes(&self, size_of: SizeOf, get: Get) -> Result<Vec<u8>, Error> {
        let mut size = 0;
        // SAFETY: the program is alive, and the buffer has the size that NVRTC reports.
        unsafe {
            self.functions.check(size_of(self.handle, &mut size))?;
            let mut bytes = vec![0_u8; size];
            self.functions.check(get(self.handle, bytes.as_mut_ptr().cast()))?;
            Ok(bytes)
        }
    }
}

type SizeOf = unsafe extern "C" fn(library::Program, *mut usize) -> c_int;
type Get = unsafe extern "C" fn(library::Program, *mut c_char) -> c_int;
