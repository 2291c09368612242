use std::fmt;

use crate::Error;

/// A GPU's architecture: its compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    /// The generation.
    pub major: u32,
    /// Within the generation.
    pub minor: u32,
}

impl Architecture {
    /// The architecture `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The number that compilers use: 90 for 9.0.
    pub const fn number(self) -> u32 {
        self.major * 10 + self.minor
    }

    pub(super) const fn from_number(number: u32) -> Self {
        Self { major: number / 10, minor: number % 10 }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number())
    }
}

/// What an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Machine code.
    Cubin,
    /// NVIDIA's intermediate language, which the driver finishes.
    Ptx,
}

/// What to compile for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The architecture of the machine code, or the one that the PTX asks for at least.
    pub architecture: Architecture,
    /// What to make.
    pub form: Form,
}

impl Target {
    /// For a GPU of `architecture`: its own machine code, where NVRTC knows it; for a GPU newer than that, PTX for the
    /// newest architecture that is not newer than the GPU, which the driver finishes.
    pub(super) fn of(
        architecture: Architecture,
        known: &[Architecture],
        version: &str,
    ) -> Result<Self, Error> {
        let newest = known.iter().copied().filter(|&known| known <= architecture).max();
        match newest {
            Some(newest) if newest == architecture => Ok(Self { architecture, form: Form::Cubin }),
            Some(newest) => Ok(Self { architecture: newest, form: Form::Ptx }),
            None => Err(Error::ArchitectureTooOld {
                architecture,
                oldest: known.iter().copied().min().unwrap_or(architecture),
                version: version.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
