use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Span {
    end: (u32,),
}

fn main() {}
