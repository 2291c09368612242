//! Rendered source and architecture to machine code, without a GPU.
//!
//! NVRTC is slow (tens of milliseconds), so an image is kept: in memory for the process, and on
//! disk for the next one, which then does not even open NVRTC. What only stands in for others
//! meanwhile is not kept. The disk cache lives in the user's cache folder, or in
//! `WARPFOLD_CACHE_DIR`; `WARPFOLD_CACHE_DIR=off` disables it.

mod background;
mod cache;
mod compiler;
mod disk;
mod nvrtc;
mod resources;
mod target;

use std::sync::Arc;

pub use crate::types::Architecture;
pub use background::Compilation;
pub use resources::{KernelResources, resources};
pub use target::{Form, Target};

use self::compiler::Compiler;
use crate::Error;
use crate::source::Source;

/// What a source compiles to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// What the bytes are.
    pub form: Form,
    /// A CUBIN, or PTX as text.
    pub bytes: Vec<u8>,
}

/// The options of every compilation: floats as IEEE 754 has them, so that a GPU returns the bits
/// that a CPU does.
const OPTIONS: [&str; 5] =
    ["--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"];

/// What no kernel uses is not declared, where NVRTC knows this: a tenth of the time of the
/// smallest, and the same machine code.
const MINIMAL: &str = "--minimal";
/// CUDA 12.4.
const KNOWS_MINIMAL: (u32, u32) = (12, 4);
/// What is made to be soon compiled is optimised less, where NVRTC knows this: a tenth of its time,
/// for as much more code.
const SOON: &str = "--Ofast-compile=min";
/// CUDA 12.9.
const KNOWS_SOON: (u32, u32) = (12, 9);

fn options(source: &Source, target: Target, compiler: &Compiler) -> Vec<String> {
    let architecture = match target.form {
        Form::Cubin => format!("--gpu-architecture=sm_{}", target.architecture.number()),
        Form::Ptx => format!("--gpu-architecture=compute_{}", target.architecture.number()),
    };
    let minimal = (compiler.number() >= KNOWS_MINIMAL).then_some(MINIMAL);
    let soon = (source.is_soon_compiled() && compiler.number() >= KNOWS_SOON).then_some(SOON);
    let others = OPTIONS.into_iter().chain(minimal).chain(soon).map(str::to_owned);
    std::iter::once(architecture).chain(others).collect()
}

/// Whether there is an NVRTC, and if not, why. It is opened only if the same program has not found
/// one before that is still there.
pub fn available() -> Result<(), Error> {
    compiler::compiler().map(|_| ())
}

/// The version of the NVRTC at hand, such as `13.0`.
pub fn version() -> Result<String, Error> {
    Ok(compiler::compiler()?.version.clone())
}

/// The architectures that the NVRTC at hand compiles for, oldest first.
pub fn architectures() -> Result<Vec<Architecture>, Error> {
    Ok(compiler::compiler()?.architectures.clone())
}

/// What a GPU of an architecture is to be given by the NVRTC at hand.
pub fn target(architecture: Architecture) -> Result<Target, Error> {
    let of = |compiler: &Compiler| Target::of(architecture, &compiler.architectures, &compiler.version);
    match of(compiler::compiler()?) {
        Ok(target) if target.form == Form::Cubin => Ok(target),
        // The one that is remembered may have been replaced by one that knows this GPU.
        _ => of(nvrtc::library()?),
    }
}

/// Compiles a source, or finds the image in a cache.
pub fn compile(source: &Source, target: Target) -> Result<Arc<Image>, Error> {
    if let Some(image) = find(source, target)? {
        return Ok(image);
    }
    let library = nvrtc::library()?;
    let options = options(source, target, library);
    let key = key(source, &options, library);
    // Another library, perhaps, than was remembered.
    match cache::find(key) {
        Some(image) => Ok(image),
        None => cache::make(key, || library.compile(source, target, &options).map(|compiled| compiled.image)),
    }
}

/// The image of a source, if it is in a cache.
pub(crate) fn find(source: &Source, target: Target) -> Result<Option<Arc<Image>>, Error> {
    let compiler = compiler::compiler()?;
    Ok(cache::find(key(source, &options(source, target, compiler), compiler)))
}

/// Compiles a source whose image only stands in for others: no cache is asked, or gets it.
pub(crate) fn compile_once(source: &Source, target: Target) -> Result<Image, Error> {
    let library = nvrtc::library()?;
    let compiled = library.compile(source, target, &options(source, target, library))?;
    Ok(compiled.image)
}

fn key(source: &Source, options: &[String], compiler: &Compiler) -> cache::Key {
    let parts = [source.text(), &compiler.version].into_iter().chain(options.iter().map(String::as_str));
    cache::Key::of(parts.map(str::as_bytes))
}
