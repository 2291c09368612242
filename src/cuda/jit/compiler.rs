//! The version and the architectures of NVRTC.

use crate::types::Architecture;

/// The environment variable with the path of the library, if it is not on the library path.
pub(super) const VARIABLE: &str = "WARPFOLD_NVRTC";

/// The properties that NVRTC reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Compiler {
    pub(super) version: String,
    /// The architectures that it compiles for, oldest first.
    pub(super) architectures: Vec<Architecture>,
}

impl Compiler {
    /// The version as numbers that compare in order. 0.0 if it does not consist of two numbers.
    pub(super) fn number(&self) -> (u32, u32) {
        let parts = self.version.split_once('.').map(|(major, minor)| (major.parse(), minor.parse()));
        if let Some((Ok(major), Ok(minor))) = parts { (major, minor) } else { (0, 0) }
    }
}
