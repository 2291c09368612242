//! What to compile for.

use super::image::Form;
use crate::Error;
use crate::types::Architecture;

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
