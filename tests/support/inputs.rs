//! What the suites that run on a device give it.

use cudarc::driver::CudaSlice;
use warpfold::{Device, DeviceMonoid, DeviceType, Reduction, Scan, cudarc};

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

    /// The bracket of a part.
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

    /// Both scans, from `from` on, and to `to` items past an aligned address; the exclusive one in
    /// place if it can be.
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
                let items = items.slice(from..from + length);
                // More than is written, so that what is written beside it shows.
                let room = vec![items_of_nothing::<T>(); to + length + 9];
                let mut apart = stream.clone_htod(&room).expect("copies");
                scan.inclusive_into(&items, &mut apart.slice_mut(to..to + length)).expect("runs");
                let mut in_place = stream.clone_htod(&room).expect("copies");
                stream.memcpy_dtod(&items, &mut in_place.slice_mut(to..to + length)).expect("copies");
                scan.exclusive_in_place(&mut in_place.slice_mut(to..to + length)).expect("runs");
                [apart, in_place].map(|scanned| {
                    let scanned = stream.clone_dtoh(&scanned).expect("copies");
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

/// A value with some bits set.
fn items_of_nothing<T: DeviceType>() -> T {
    // SAFETY: device types are plain old data, of which those of the tests take these bits.
    unsafe { std::mem::transmute_copy(&[0x01_u8; 256]) }
}
