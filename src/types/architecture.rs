//! GPU architectures.

use std::fmt;

/// A GPU's architecture: its compute capability.
///
/// ```
/// use warpfold::Architecture;
///
/// let hopper = Architecture { major: 9, minor: 0 };
/// assert_eq!(hopper.to_string(), "sm_90");
/// assert!(hopper > Architecture::new(8, 6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
}

impl Architecture {
    /// The architecture `major.minor`.
    ///
    /// ```
    /// use warpfold::Architecture;
    ///
    /// assert_eq!(Architecture::new(7, 5).to_string(), "sm_75");
    /// ```
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The number that compilers use, such as 90 for 9.0.
    ///
    /// ```
    /// use warpfold::Architecture;
    ///
    /// assert_eq!(Architecture::new(12, 0).number(), 120);
    /// ```
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
