use warpfold::monoid;

struct Sum;

#[monoid]
impl Default for Sum {
    fn default() -> Self {
        Sum
    }
}

fn main() {}
