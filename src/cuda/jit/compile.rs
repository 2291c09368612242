//! Compiles a source to its image, or finds the image in a cache.

use std::sync::{Arc, Once, OnceLock};

use super::compiler::Compiler;
use super::image::{Image, ImageFormat};
use super::key::Key;
use super::options::options;
use super::recorded::recorded;
use super::target::Target;
use super::{cache, nvrtc};
use crate::Error;
use crate::source::Source;
use crate::types::Architecture;

/// Checks that NVRTC is present.
///
/// The library is not opened if an earlier process of the same program found one, and its file is
/// unchanged.
///
/// # Errors
///
/// [`Error::NoNvrtc`] if there is no NVRTC.
pub fn available() -> Result<(), Error> {
    compiler().map(|_| ())
}

/// The version of NVRTC, such as `13.0`.
///
/// # Errors
///
/// [`Error::NoNvrtc`] if there is no NVRTC.
pub fn version() -> Result<String, Error> {
    Ok(compiler()?.version.clone())
}

/// The architectures that NVRTC compiles for, oldest first.
///
/// # Errors
///
/// [`Error::NoNvrtc`] if there is no NVRTC.
pub fn architectures() -> Result<Vec<Architecture>, Error> {
    Ok(compiler()?.architectures.clone())
}

/// The target of a compilation for a GPU of this architecture.
///
/// # Errors
///
/// - [`Error::NoNvrtc`] if there is no NVRTC.
/// - [`Error::ArchitectureTooOld`] if NVRTC supports only newer architectures.
pub fn target(architecture: Architecture) -> Result<Target, Error> {
    let of = |compiler: &Compiler| Target::of(architecture, &compiler.architectures, &compiler.version);
    match of(compiler()?) {
        Ok(target) if target.format == ImageFormat::Cubin => Ok(target),
        // A newer NVRTC that knows this GPU may have replaced the recorded one.
        _ => {
            let compiler = &nvrtc::library()?.compiler;
            let target = of(compiler)?;
            if target.format == ImageFormat::Ptx {
                static SAID: Once = Once::new();
                SAID.call_once(|| {
                    log::warn!(
                        "NVRTC {} is older than the GPU's architecture {architecture}: the driver compiles PTX for \
                         {} instead. Install a newer NVRTC for faster kernels",
                        compiler.version,
                        target.architecture
                    );
                });
            }
            Ok(target)
        }
    }
}

/// Compiles a source, or finds its image in a cache.
///
/// # Errors
///
/// - [`Error::NoNvrtc`] if there is no NVRTC.
/// - [`Error::Compilation`] if the source does not compile.
/// - [`Error::LayoutMismatch`] if Rust and CUDA C++ disagree about the layout of a type.
/// - [`Error::Nvrtc`] if NVRTC fails for another reason.
pub fn compile(source: &Source, target: Target) -> Result<Arc<Image>, Error> {
    if let Some(image) = find(source, target)? {
        return Ok(image);
    }
    let library = nvrtc::library()?;
    let options = options(source, target, &library.compiler);
    let key = key(source, &options, &library.compiler);
    // The open library may be another one than was recorded, which changes the key.
    match cache::find(key) {
        Some(image) => Ok(image),
        None => cache::make(key, || library.compile(source, target, &options).map(|compiled| compiled.image)),
    }
}

/// The image of a source, if a cache has it.
pub(crate) fn find(source: &Source, target: Target) -> Result<Option<Arc<Image>>, Error> {
    let compiler = compiler()?;
    Ok(cache::find(key(source, &options(source, target, compiler), compiler)))
}

/// Compiles a baseline kernel. Does not use the caches.
pub(crate) fn compile_once(source: &Source, target: Target) -> Result<Image, Error> {
    let library = nvrtc::library()?;
    let compiled = library.compile(source, target, &options(source, target, &library.compiler))?;
    Ok(compiled.image)
}

fn key(source: &Source, options: &[String], compiler: &Compiler) -> Key {
    let parts = [source.text(), &compiler.version].into_iter().chain(options.iter().map(String::as_str));
    Key::of(parts.map(str::as_bytes))
}

/// The NVRTC that is open. If none is open, the recorded one. Otherwise opens the library.
fn compiler() -> Result<&'static Compiler, Error> {
    static RECORDED: OnceLock<Option<Compiler>> = OnceLock::new();
    if !nvrtc::is_open()
        && let Some(compiler) = RECORDED.get_or_init(recorded)
    {
        return Ok(compiler);
    }
    Ok(&nvrtc::library()?.compiler)
}
