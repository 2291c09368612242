//! A hash of a sequence.

use super::{Aggregate, Monoid};
use crate::{DeviceType, aggregate, device, monoid};

/// 2^61 - 1, a prime.
const MODULUS: u64 = (1 << 61) - 1;

/// The item of [`PolynomialHash`]. Both parts are below 2^61 - 1.
///
/// ```
/// use warpfold::{Aggregate, aggregates::PolynomialHash};
///
/// let item = PolynomialHash::new(1000).prepare(0, 7);
/// assert_eq!((item.hash, item.power), (8, 1000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct PolynomialHashItem {
    /// The hash of a sequence of n elements.
    pub hash: u64,
    /// The base to the power n.
    pub power: u64,
}

/// A sum below 2^64, modulo 2^61 - 1.
#[device]
#[inline]
fn reduced(sum: u64) -> u64 {
    let rest = (sum >> 61) + (sum & MODULUS);
    if rest >= MODULUS { rest - MODULUS } else { rest }
}

/// The product of two numbers below 2^61 - 1, modulo 2^61 - 1.
#[device]
#[inline]
fn product(a: u64, b: u64) -> u64 {
    // Halves of 31 bits. The product is high 2^62 + middle 2^31 + low, and 2^61 is 1.
    let (a_high, a_low) = (a >> 31, a & 0x7fff_ffff);
    let (b_high, b_low) = (b >> 31, b & 0x7fff_ffff);
    let middle = a_low * b_high + a_high * b_low;
    let (middle_high, middle_low) = (middle >> 30, middle & 0x3fff_ffff);
    reduced(a_high * b_high * 2 + middle_high + (middle_low << 31) + a_low * b_low)
}

/// Joins hashes: the operator of [`PolynomialHash`].
///
/// The identity is the hash of the empty sequence. Associative on all items. Does not commute.
///
/// ```
/// use warpfold::Monoid;
/// use warpfold::aggregates::{PolynomialHashItem, PolynomialHashOperator};
///
/// let [a, b] = [2, 3].map(|hash| PolynomialHashItem { hash, power: 1000 });
/// let both = PolynomialHashOperator.combine(a, b);
/// assert_eq!(both, PolynomialHashItem { hash: 2003, power: 1_000_000 });
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PolynomialHashOperator;

#[monoid]
impl Monoid for PolynomialHashOperator {
    type Item = PolynomialHashItem;
    fn identity(&self) -> PolynomialHashItem {
        PolynomialHashItem { hash: 0, power: 1 }
    }
    #[inline]
    fn combine(&self, left: PolynomialHashItem, right: PolynomialHashItem) -> PolynomialHashItem {
        PolynomialHashItem {
            hash: reduced(product(left.hash, right.power) + right.hash),
            power: product(left.power, right.power),
        }
    }
}

/// The polynomial hash of a sequence of bytes, `u64`: the sum of `(x[k] + 1) base^(n - 1 - k)`,
/// modulo 2^61 - 1.
///
/// The hash depends on the order. Two different sequences of at most n bytes have the same hash for
/// at most n of the 2^61 bases. So choose the base at random, if others choose the sequences. This
/// is no cryptographic hash.
///
/// - Item: [`PolynomialHashItem`], 16 bytes. Exact.
/// - Empty input: 0.
/// - Source: Karp and Rabin, "Efficient randomized pattern-matching algorithms" (1987).
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::PolynomialHash};
///
/// let hash = Reduction::with(Device::auto(), PolynomialHash::new(1_000_003));
/// assert_eq!(hash.run(&[1, 2])?, 2 * 1_000_003 + 3);
/// assert_ne!(hash.run(b"warp")?, hash.run(b"wrap")?);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct PolynomialHash {
    base: u64,
}

/// [`PolynomialHash`] of a sequence of `u64`.
///
/// Elements are taken modulo 2^61 - 1. So two elements that differ by a multiple of it count as
/// equal, and `2^61 - 2` at the front counts as no element. Other sequences collide as bytes do.
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::PolynomialHashOfWords};
///
/// let hash = Reduction::with(Device::auto(), PolynomialHashOfWords::new(1_000_003));
/// assert_eq!(hash.run(&[1, 2])?, 2 * 1_000_003 + 3);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct PolynomialHashOfWords {
    base: u64,
}

macro_rules! of_base {
    ($name:ident) => {
        impl $name {
            /// The hash with this base, which is taken modulo 2^61 - 1.
            ///
            /// # Panics
            ///
            /// If the base is 0 or 1 modulo 2^61 - 1. Most of the hash would not depend on the
            /// order.
            ///
            #[doc = concat!("```\nlet hash = warpfold::aggregates::", stringify!($name), "::new(0x9e37_79b9_7f4a_7c15);\n```")]
            pub const fn new(base: u64) -> Self {
                let base = base % MODULUS;
                assert!(base > 1, "the base of a polynomial hash is not 0 or 1 modulo 2^61 - 1");
                Self { base }
            }
        }
    };
}
of_base!(PolynomialHash);
of_base!(PolynomialHashOfWords);

#[aggregate]
impl Aggregate for PolynomialHash {
    type Input = u8;
    type Monoid = PolynomialHashOperator;
    type Output = u64;
    #[inline]
    fn prepare(&self, _: u64, element: u8) -> PolynomialHashItem {
        PolynomialHashItem { hash: element as u64 + 1, power: self.base }
    }
    #[inline]
    fn present(&self, item: PolynomialHashItem, _: u64) -> u64 {
        item.hash
    }
}

#[aggregate]
impl Aggregate for PolynomialHashOfWords {
    type Input = u64;
    type Monoid = PolynomialHashOperator;
    type Output = u64;
    #[inline]
    fn prepare(&self, _: u64, element: u64) -> PolynomialHashItem {
        PolynomialHashItem { hash: reduced(reduced(element) + 1), power: self.base }
    }
    #[inline]
    fn present(&self, item: PolynomialHashItem, _: u64) -> u64 {
        item.hash
    }
}
