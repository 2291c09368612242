//! What the suites that run on a device give it.

use cudarc::driver::CudaSlice;
use warpfold::{Device, DeviceType, cudarc};

/// Inputs in the memory that a device reads best, of which any part can be taken.
pub enum Inputs<T> {
    Host(Vec<T>),
    Device(CudaSlice<T>),
}

impl<T: DeviceType> Inputs<T> {
    pub fn on(device: &Device, items: &[T]) -> Self {
        match device.stream() {
            None => Self::Host(items.to_vec()),
            Some(stream) => Self::Device(stream.clone_htod(items).expect("room for the items")),
        }
    }
}
