//! The four largest numbers.

use warpfold::{Monoid, monoid};

/// The four largest numbers of two sorted lists of four. All lists have the largest number first.
#[derive(Clone, Copy, Debug, Default)]
pub struct TopFour;

impl TopFour {
    pub fn of(number: i32) -> [i32; 4] {
        [number, i32::MIN, i32::MIN, i32::MIN]
    }
}

#[monoid]
impl Monoid for TopFour {
    type Item = [i32; 4];
    fn identity(&self) -> [i32; 4] {
        [i32::MIN; 4]
    }
    fn combine(&self, a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
        // One list is compared with the other in reverse. The four maxima form a bitonic sequence,
        // which two steps of comparisons sort.
        let (p, q, r, s) = (a[0].max(b[3]), a[1].max(b[2]), a[2].max(b[1]), a[3].max(b[0]));
        let (p, r) = (p.max(r), p.min(r));
        let (q, s) = (q.max(s), q.min(s));
        [p.max(q), p.min(q), r.max(s), r.min(s)]
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};

    use super::*;

    fn lists() -> impl Strategy<Value = [i32; 4]> + Clone {
        let number = || prop_oneof![any::<i32>(), -3..3_i32, Just(i32::MIN)];
        prop::array::uniform4(number()).prop_map(|mut list| {
            list.sort_by(|a, b| b.cmp(a));
            list
        })
    }

    warpfold::laws! {
        top_four [commutative]: Laws::of(TopFour, lists());
    }
}
