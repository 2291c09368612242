//! The hash of a text, from the hashes of its parts.

use warpfold::{DeviceType, Monoid, monoid};

/// The hash of a text t of n letters: the sum of t[k] base^(n-1-k), and base^n. Both are modulo the
/// operator's modulus.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Hash {
    pub value: u64,
    pub power: u64,
}

/// The hash of two adjacent texts, modulo a number below 2^32.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct PolynomialHash {
    pub base: u64,
    pub modulus: u64,
}

impl PolynomialHash {
    pub fn of(&self, letter: u8) -> Hash {
        Hash { value: u64::from(letter) % self.modulus, power: self.base % self.modulus }
    }
}

#[monoid]
impl Monoid for PolynomialHash {
    type Item = Hash;
    fn identity(&self) -> Hash {
        Hash { value: 0, power: 1 % self.modulus }
    }
    fn combine(&self, a: Hash, b: Hash) -> Hash {
        Hash { value: (a.value * b.power + b.value) % self.modulus, power: a.power * b.power % self.modulus }
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};

    use super::*;

    const OPERATOR: PolynomialHash = PolynomialHash { base: 263, modulus: 4_294_967_291 };

    fn hashes() -> impl Strategy<Value = Hash> + Clone {
        (0..OPERATOR.modulus, 0..OPERATOR.modulus).prop_map(|(value, power)| Hash { value, power })
    }

    warpfold::laws! {
        polynomial_hash: Laws::of(OPERATOR, hashes());
    }
}
