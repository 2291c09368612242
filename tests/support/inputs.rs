//! Inputs for the suites that run on a device.

use cudarc::driver::CudaSlice;
use warpfold::{Device, DeviceMonoid, DeviceType, Reduction, Scan, Value, cudarc};

/// Items in the memory that a device reads fastest. A test can use any part of them.
pub enum Inputs<T> {
    Host(Vec<T>),
    Device(CudaSlice<T>),
}

impl<T: DeviceType + Value<Stored = T>> Inputs<T> {
    pub fn on(device: &Device, items: &[T]) -> Self {
        match device.is_gpu() {
            false => Self::Host(items.to_vec()),
            true => Self::Device(device.upload(items).expect("room for the items")),
        }
    }

    /// Reduces a part.
    pub fn reduce<M: DeviceMonoid<Item = T>>(
        &self,
        reduction: &Reduction<M>,
        part: std::ops::Range<usize>,
    ) -> T {
        let result = match self {
            Self::Host(items) => reduction.run(&items[part]),
            Self::Device(items) => reduction.run(&items.slice(part)),
        };
        result.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The inclusive and the exclusive scan of `length` items from `from` on. The exclusive scan is
    /// in place. In device memory the results lie `to` items past an aligned address.
    pub fn scan<M: DeviceMonoid<Item = T>>(
        &self,
        scan: &Scan<M>,
        from: usize,
        length: usize,
        to: usize,
    ) -> [Vec<T>; 2] {
        match self {
            Self::Host(items) => {
                let items = &items[from..from + length];
                let mut in_place = items.to_vec();
                scan.exclusive_in_place(&mut in_place).expect("runs");
                [scan.inclusive(items).expect("runs"), in_place]
            }
            Self::Device(items) => {
                let stream = items.stream();
                let device = Device::from(stream.clone());
                let items = items.slice(from..from + length);
                // Memory with room around the result, so that a write outside of it shows.
                let room = vec![items_of_nothing::<T>(); to + length + 9];
                let mut apart = device.upload(&room).expect("copies");
                scan.inclusive_into(&items, &mut apart.slice_mut(to..to + length)).expect("runs");
                let mut in_place = device.upload(&room).expect("copies");
                stream.memcpy_dtod(&items, &mut in_place.slice_mut(to..to + length)).expect("copies");
                scan.exclusive_in_place(&mut in_place.slice_mut(to..to + length)).expect("runs");
                [apart, in_place].map(|scanned| {
                    let scanned = device.download::<T>(&scanned).expect("copies");
                    for (at, around) in scanned.iter().enumerate() {
                        let inside = (to..to + length).contains(&at);
                        assert!(inside || T::same_bits(around, &room[at]), "place {at} is not of the scan");
                    }
                    scanned[to..to + length].to_vec()
                })
            }
        }
    }
}

/// A value whose bytes are all 1.
fn items_of_nothing<T: DeviceType>() -> T {
    // SAFETY: device types are plain data, at most 256 bytes in these tests. These bits are valid
    // for the types of the tests.
    unsafe { std::mem::transmute_copy(&[0x01_u8; 256]) }
}
