//! Compiles rendered source to machine code for an architecture. Needs no GPU.
//!
//! NVRTC takes tens of milliseconds, so images are cached: in memory for this process, and on disk
//! for later ones. A process whose images are all on disk does not open NVRTC. Baseline kernels are
//! not cached.
//!
//! The disk cache is in the user's cache folder, or in `WARPFOLD_CACHE_DIR`. The value `off`
//! disables it.

mod background;
mod cache;
mod compile;
mod compiler;
mod disk;
mod image;
mod key;
mod library;
mod nvrtc;
mod options;
mod recorded;
mod resources;
mod target;

pub use background::Compilation;
pub use compile::{architectures, available, compile, target, version};
pub(crate) use compile::{compile_once, find};
pub use image::{Image, ImageFormat};
pub use resources::{KernelResources, resources};
pub use target::Target;

pub use crate::types::Architecture;
