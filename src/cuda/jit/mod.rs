//! Rendered source and architecture to machine code, without a GPU.
//!
//! NVRTC is slow (tens of milliseconds), so an image is kept: in memory for the process, and on
//! disk for the next one, which then does not even open NVRTC. What only stands in for others
//! meanwhile is not kept. The disk cache lives in the user's cache folder, or in
//! `WARPFOLD_CACHE_DIR`; `WARPFOLD_CACHE_DIR=off` disables it.

mod background;
mod cache;
mod compile;
mod compiler;
mod disk;
mod image;
mod key;
mod nvrtc;
mod options;
mod remembered;
mod resources;
mod target;

pub use background::Compilation;
pub use compile::{architectures, available, compile, target, version};
pub(crate) use compile::{compile_once, find};
pub use image::{Form, Image};
pub use resources::{KernelResources, resources};
pub use target::Target;

pub use crate::types::Architecture;
