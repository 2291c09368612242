//! The options of NVRTC.

use super::compiler::Compiler;
use super::image::Form;
use super::target::Target;
use crate::source::Source;

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

pub(super) fn options(source: &Source, target: Target, compiler: &Compiler) -> Vec<String> {
    let architecture = match target.form {
        Form::Cubin => format!("--gpu-architecture=sm_{}", target.architecture.number()),
        Form::Ptx => format!("--gpu-architecture=compute_{}", target.architecture.number()),
    };
    let minimal = (compiler.number() >= KNOWS_MINIMAL).then_some(MINIMAL);
    let soon = (source.is_soon_compiled() && compiler.number() >= KNOWS_SOON).then_some(SOON);
    let others = OPTIONS.into_iter().chain(minimal).chain(soon).map(str::to_owned);
    std::iter::once(architecture).chain(others).collect()
}
