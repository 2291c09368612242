//! GPU architectures.

use std::fmt;

/// A GPU's architecture: its compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
}

impl Architecture {
    /// The architecture `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The number that compilers use, such as 90 for 9.0.
    pub const fn number(self) -> u32 {
        self.major * 10 + self.minor
    }

    pub(crate) const fn from_number(number: u32) -> Self {
        Self { major: number / 10, minor: number % 10 }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number())
    }
}
