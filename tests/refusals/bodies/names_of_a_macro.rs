use warpfold::device;

macro_rules! sum {
    ($name:ident: $x:ident, $y:ident) => {
        #[device]
        fn $name($x: u32, $y: u32) -> u32 {
            let a = $x + 100;
            $x + $y + a
        }
    };
}

// The macro's `a` is another variable than the caller's.
sum!(refused: a, b);
sum!(right: x, y);

macro_rules! assigned {
    ($name:ident: $x:ident) => {
        #[device]
        fn $name(mut $x: u32) -> u32 {
            let mut a = 1;
            $x = 2;
            a += $x;
            a
        }
    };
}

assigned!(another: a);

fn main() {}
