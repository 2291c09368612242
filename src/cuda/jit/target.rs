//! The target of a compilation.

use super::image::ImageFormat;
use crate::Error;
use crate::types::Architecture;

/// The target of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The architecture of the machine code, or the oldest one that can run the PTX.
    pub architecture: Architecture,
    /// The format of the image.
    pub format: ImageFormat,
}

impl Target {
    /// The target for a GPU of `architecture`.
    ///
    /// If NVRTC knows this architecture, the target is its machine code. Otherwise it is PTX for
    /// the newest known architecture that is not newer than the GPU, and the driver compiles the
    /// PTX.
    pub(super) fn of(
        architecture: Architecture,
        known: &[Architecture],
        version: &str,
    ) -> Result<Self, Error> {
        let newest = known.iter().copied().filter(|&known| known <= architecture).max();
        match newest {
            Some(newest) if newest == architecture => Ok(Self { architecture, format: ImageFormat::Cubin }),
            Some(newest) => Ok(Self { architecture: newest, format: ImageFormat::Ptx }),
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
