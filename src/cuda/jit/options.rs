//! The options of NVRTC.

use super::compiler::Compiler;
use super::image::ImageFormat;
use super::target::Target;
use crate::source::Source;

/// The options of every compilation. Floating-point operations follow IEEE 754, so that a GPU
/// returns the same bits as a CPU.
const OPTIONS: [&str; 5] =
    ["--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"];

/// Omits declarations that no kernel uses. This saves a tenth of the compile time of the smallest
/// kernel. The machine code is the same.
const MINIMAL: &str = "--minimal";
/// The first version of NVRTC that has [`MINIMAL`]: CUDA 12.4.
const HAS_MINIMAL: (u32, u32) = (12, 4);
/// Optimises less. This saves a tenth of the compile time of a baseline kernel, and makes its code
/// a tenth longer.
const FAST_COMPILE: &str = "--Ofast-compile=min";
/// The first version of NVRTC that has [`FAST_COMPILE`]: CUDA 12.9.
const HAS_FAST_COMPILE: (u32, u32) = (12, 9);

pub(super) fn options(source: &Source, target: Target, compiler: &Compiler) -> Vec<String> {
    let architecture = match target.format {
        ImageFormat::Cubin => format!("--gpu-architecture=sm_{}", target.architecture.number()),
        ImageFormat::Ptx => format!("--gpu-architecture=compute_{}", target.architecture.number()),
    };
    let minimal = (compiler.number() >= HAS_MINIMAL).then_some(MINIMAL);
    let soon = (source.compiles_fast() && compiler.number() >= HAS_FAST_COMPILE).then_some(FAST_COMPILE);
    let others = OPTIONS.into_iter().chain(minimal).chain(soon).map(str::to_owned);
    std::iter::once(architecture).chain(others).collect()
}
