//! Calls of `#[device]` functions by every kind of path.

use warpfold::{DeviceType, Monoid, device, monoid};

use super::{Edge, Visitor};

/// A module with the name of the function that it exports.
mod weight {
    #[warpfold::device]
    pub fn weight(x: i32) -> i32 {
        x * 3 + 1
    }

    /// A function of the same name as one in another module, with the same body.
    #[warpfold::device]
    pub fn raised(x: i32) -> i32 {
        x + 7
    }

    #[warpfold::device]
    pub(super) fn of_the_parent(x: i32) -> i32 {
        x ^ 5
    }

    #[warpfold::device]
    pub(in super::super) fn of_the_corpus(x: i32) -> i32 {
        x & 0x7f7f
    }
}
use weight::weight as gravity;
pub use weight::weight;
use weight::{of_the_corpus, of_the_parent};

/// A module beside a function of its name.
mod raised {
    #[warpfold::device]
    pub fn least(a: i32, b: i32) -> i32 {
        if a < b { a } else { b }
    }
}
#[device]
fn raised(x: i32) -> i32 {
    x + 7
}

#[device]
fn hidden(x: i32) -> i32 {
    x - 9
}
mod child {
    #[warpfold::device]
    pub fn by_path(x: i32) -> i32 {
        super::hidden(x) * 2
    }
}
mod children {
    pub use super::child::*;
    use super::*;

    #[device]
    pub fn by_glob(x: i32) -> i32 {
        hidden(x) * 4
    }
}

/// Functions that differ by their generic arguments only.
#[device]
fn times<const N: i32, const NEGATED: bool>(x: i32) -> i32 {
    if NEGATED { -x * N } else { x * N }
}
#[device]
fn least_of<T: DeviceType + num_traits::Bounded>(x: i32) -> T {
    if x > 300 { T::max_value() } else { T::min_value() }
}
type Lanes = usize;
#[device]
fn first<const N: Lanes>(list: [i32; N]) -> i32 {
    list[0] + N as i32
}

macro_rules! functions {
    ($($name:ident $by:literal)*) => {$(
        #[device]
        pub(crate) fn $name(x: i32) -> i32 {
            x.rotate_left($by)
        }
    )*};
}
functions! { by_one 1 by_two 2 }

/// Functions with the names of standard macros and attributes, and of a crate.
mod standard {
    #[warpfold::device]
    pub fn line<T: warpfold::DeviceType, const N: usize>(x: [T; N]) -> T {
        x[N - 1]
    }
    #[warpfold::device]
    pub fn vec(x: i32) -> i32 {
        x / 3
    }
    #[warpfold::device]
    pub fn path(x: i32) -> i32 {
        line([1, vec(x)]) - line::<i32, 1>([x])
    }
    #[warpfold::device]
    pub fn test(x: i32) -> i32 {
        if matches!(x, 1..=9) { x } else { -x }
    }
}
use standard::*;

#[device]
fn half(x: i32) -> i32 {
    x / 2
}

corpus! { callees:
    function_of_a_module_of_its_name: i32 = |a, b| { weight(a) - self::weight(b) + weight::weight(a ^ b) + gravity(3) }
    functions_of_the_same_name: i32 = |a, b| { raised(a) - weight::raised(b) * raised::least(a, b) }
    functions_of_other_modules: i32 = |a, b| { of_the_corpus(a) + of_the_parent(b) + hidden(a) }
    functions_that_call_up: i32 = |a, b| { children::by_glob(a) - children::by_path(b) + child::by_path(b) }
    functions_by_their_arguments: i32 = |a, b| { times::<3, false>(a) + times::<{ 2 + 3 }, true>(b) }
    functions_by_their_result: [u16; 2] = |a, b| { [least_of(a[0] as i32), least_of::<u8>(b[1] as i32) as u16] }
    function_of_an_alias: [i32; 4] = |a, b| { [first(a), first::<4>(b), first([a[0]]), first::<2>([b[0], b[1]])] }
    functions_of_a_macro: i32 = |a, b| { by_one(a) ^ by_two(b) }
    functions_with_standard_names: i32 = |a, b| { path(a) + standard::vec(b) + vec(a) + half(test(b)) }
}

/// Functions and an operator inside a function.
pub(super) fn inside_a_function(visitor: &mut impl Visitor) {
    #[device]
    fn doubled(x: i32) -> i32 {
        x + x
    }
    #[device]
    fn quadrupled(x: i32) -> i32 {
        doubled(doubled(x))
    }

    #[derive(Clone, Copy)]
    struct Quadrupled;

    #[monoid]
    impl Monoid for Quadrupled {
        type Item = i32;
        fn identity(&self) -> i32 {
            0
        }
        fn combine(&self, a: i32, b: i32) -> i32 {
            quadrupled(a) ^ doubled(b)
        }
    }
    visitor.visit("functions_inside_a_function", Quadrupled);
}
