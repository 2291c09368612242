use std::marker::PhantomData;

use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(transparent)]
struct Metres(f32, PhantomData<u8>);

fn main() {}
