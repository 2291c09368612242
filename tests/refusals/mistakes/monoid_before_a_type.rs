use warpfold::monoid;

#[monoid]
#[derive(Clone, Copy, Default)]
struct Op;

fn main() {}
