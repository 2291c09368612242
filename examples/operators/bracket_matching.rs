//! Tests whether the brackets of a text match.

use warpfold::{DeviceType, Monoid, monoid};

/// The number of closing and opening brackets that have no partner in a stretch of text. The
/// brackets match if both numbers are 0.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Unmatched {
    pub closing: u32,
    pub opening: u32,
}

impl Unmatched {
    pub fn of(letter: u8) -> Self {
        Self { closing: u32::from(letter == b')'), opening: u32::from(letter == b'(') }
    }
}

/// The unmatched brackets of two adjacent stretches.
#[derive(Clone, Copy, Debug, Default)]
pub struct BracketMatching;

#[monoid]
impl Monoid for BracketMatching {
    type Item = Unmatched;
    fn identity(&self) -> Unmatched {
        Unmatched { closing: 0, opening: 0 }
    }
    fn combine(&self, a: Unmatched, b: Unmatched) -> Unmatched {
        let matched = a.opening.min(b.closing);
        Unmatched { closing: a.closing + (b.closing - matched), opening: b.opening + (a.opening - matched) }
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};

    use super::*;

    fn unmatched() -> impl Strategy<Value = Unmatched> + Clone {
        (0..9_u32, 0..9_u32).prop_map(|(closing, opening)| Unmatched { closing, opening })
    }

    warpfold::laws! {
        bracket_matching: Laws::of(BracketMatching, unmatched());
    }
}
