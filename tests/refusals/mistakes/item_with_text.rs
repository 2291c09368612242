use warpfold::{DeviceType, Monoid, monoid};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Named {
    name: &'static str,
}

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = Named;
    fn identity(&self) -> Named {
        Named { name: "" }
    }
    fn combine(&self, a: Named, b: Named) -> Named {
        a
    }
}

fn main() {}
