//! What NVRTC is.

use crate::types::Architecture;

/// Names the library's file, for machines where it is not on the library path.
pub(super) const VARIABLE: &str = "WARPFOLD_NVRTC";

/// What NVRTC says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Compiler {
    pub(super) version: String,
    /// That it compiles for, oldest first.
    pub(super) architectures: Vec<Architecture>,
}

impl Compiler {
    /// The version, to be compared; 0.0 for one that is not two numbers.
    pub(super) fn number(&self) -> (u32, u32) {
        let parts = self.version.split_once('.').map(|(major, minor)| (major.parse(), minor.parse()));
        if let Some((Ok(major), Ok(minor))) = parts { (major, minor) } else { (0, 0) }
    }
}
