use warpfold::{Maybe, Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = Maybe<u32>;
    fn identity(&self) -> Maybe<u32> {
        None.into()
    }
    fn combine(&self, a: Maybe<u32>, b: Maybe<u32>) -> Maybe<u32> {
        if a.get().is_some() { a } else { b }
    }
}

fn main() {}
