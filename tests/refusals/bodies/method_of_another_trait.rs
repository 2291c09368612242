use warpfold::{Monoid, monoid};

trait Fuzzy {
    fn is_zero(&self) -> bool;
    fn total_cmp(self, other: &Self) -> std::cmp::Ordering;
}

impl Fuzzy for f32 {
    fn is_zero(&self) -> bool {
        self.abs() < 1e-3
    }
    fn total_cmp(self, _: &f32) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

#[derive(Clone, Copy, Default)]
struct ByReference;

#[monoid]
impl Monoid for ByReference {
    type Item = f32;
    fn identity(&self) -> f32 {
        0.0
    }
    fn combine(&self, a: f32, b: f32) -> f32 {
        if a.is_zero() { b } else { a }
    }
}

#[derive(Clone, Copy, Default)]
struct ByValue;

#[monoid]
impl Monoid for ByValue {
    type Item = f32;
    fn identity(&self) -> f32 {
        0.0
    }
    fn combine(&self, a: f32, b: f32) -> f32 {
        if a.total_cmp(&b).is_lt() { b } else { a }
    }
}

fn main() {}
