//! From a source to its image, by way of the caches.

use std::sync::{Arc, OnceLock};

use super::compiler::Compiler;
use super::image::{Form, Image};
use super::key::Key;
use super::options::options;
use super::remembered::remembered;
use super::target::Target;
use super::{cache, nvrtc};
use crate::Error;
use crate::source::Source;
use crate::types::Architecture;

/// Whether there is an NVRTC, and if not, why. It is opened only if the same program has not found
/// one before that is still there.
pub fn available() -> Result<(), Error> {
    compiler().map(|_| ())
}

/// The version of the NVRTC at hand, such as `13.0`.
pub fn version() -> Result<String, Error> {
    Ok(compiler()?.version.clone())
}

/// The architectures that the NVRTC at hand compiles for, oldest first.
pub fn architectures() -> Result<Vec<Architecture>, Error> {
    Ok(compiler()?.architectures.clone())
}

/// What a GPU of an architecture is to be given by the NVRTC at hand.
pub fn target(architecture: Architecture) -> Result<Target, Error> {
    let of = |compiler: &Compiler| Target::of(architecture, &compiler.architectures, &compiler.version);
    match of(compiler()?) {
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
    let compiler = compiler()?;
    Ok(cache::find(key(source, &options(source, target, compiler), compiler)))
}

/// Compiles a source whose image only stands in for others: no cache is asked, or gets it.
pub(crate) fn compile_once(source: &Source, target: Target) -> Result<Image, Error> {
    let library = nvrtc::library()?;
    let compiled = library.compile(source, target, &options(source, target, library))?;
    Ok(compiled.image)
}

fn key(source: &Source, options: &[String], compiler: &Compiler) -> Key {
    let parts = [source.text(), &compiler.version].into_iter().chain(options.iter().map(String::as_str));
    Key::of(parts.map(str::as_bytes))
}

/// The library that is open, else the one that was last time, else the one that can be opened now.
fn compiler() -> Result<&'static Compiler, Error> {
    static REMEMBERED: OnceLock<Option<Compiler>> = OnceLock::new();
    if !nvrtc::is_open()
        && let Some(compiler) = REMEMBERED.get_or_init(remembered)
    {
        return Ok(compiler);
    }
    nvrtc::library()
}
