//! The longest run of wanted values.

use warpfold::{DeviceType, Monoid, monoid};

/// The length of a stretch of values, and the lengths of three runs of wanted values: at its start,
/// at its end, and the longest.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Run {
    pub length: u32,
    pub prefix: u32,
    pub suffix: u32,
    pub longest: u32,
}

impl Run {
    pub fn of(wanted: bool) -> Self {
        let run = u32::from(wanted);
        Self { length: 1, prefix: run, suffix: run, longest: run }
    }
}

/// The runs of two adjacent stretches.
#[derive(Clone, Copy, Debug, Default)]
pub struct LongestRun;

#[monoid]
impl Monoid for LongestRun {
    type Item = Run;
    fn identity(&self) -> Run {
        Run { length: 0, prefix: 0, suffix: 0, longest: 0 }
    }
    fn combine(&self, a: Run, b: Run) -> Run {
        Run {
            length: a.length.wrapping_add(b.length),
            prefix: if a.prefix == a.length { a.length.wrapping_add(b.prefix) } else { a.prefix },
            suffix: if b.suffix == b.length { b.length.wrapping_add(a.suffix) } else { b.suffix },
            longest: a.longest.max(b.longest).max(a.suffix.wrapping_add(b.prefix)),
        }
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};
    use warpfold::tree;

    use super::*;

    fn runs() -> impl Strategy<Value = Run> + Clone {
        prop::collection::vec(prop::bool::weighted(0.8), 0..12).prop_map(|wanted| {
            tree::bracket(&LongestRun, &wanted.into_iter().map(Run::of).collect::<Vec<_>>())
        })
    }

    warpfold::laws! {
        longest_run: Laws::of(LongestRun, runs());
    }
}
