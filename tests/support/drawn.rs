//! Elements of tests: how they are drawn, and stored as arrays.

use std::sync::Arc;

use rand::rngs::SmallRng;
use warpfold::cudarc::driver::{CudaSlice, CudaStream, CudaView};
use warpfold::source::data_of_aggregate;
use warpfold::{
    Aggregate, Bit, Bitmap, Device, DeviceAggregate, DeviceMemory, DeviceType, Element, Error, HostMemory,
    Input, Offsets, OnDevice, Place, Reduction, Rows, Scan, Value,
};

use super::input_bytes::{ArrayBytes, bitmap, bytes};
use super::items::Sample;

/// The result of an aggregate in device memory.
pub type Stored<A> = <<A as Aggregate>::Output as Value>::Stored;

/// Elements that can be drawn, and stored as arrays.
pub trait Drawn: Element {
    /// The number of arrays.
    const COUNT: usize;

    fn draw(random: &mut SmallRng) -> Self;

    /// The arrays in host memory.
    type Host;
    fn split(elements: &[Self]) -> Self::Host;
    fn of_host(host: &Self::Host) -> impl Input<Self, Place = HostMemory>;

    /// The arrays in device memory. Array k lies `start + k` elements past an aligned address.
    type Device;
    fn upload(stream: &Arc<CudaStream>, host: &Self::Host, start: usize) -> Self::Device;

    /// The result of the arrays in device memory.
    fn run<A: DeviceAggregate<Input = Self>>(
        reduction: &Reduction<A>,
        device: &Self::Device,
        start: usize,
    ) -> Result<A::Output, Error>;

    /// The same, as the type of device memory.
    fn run_into<A: DeviceAggregate<Input = Self>>(
        reduction: &Reduction<A>,
        device: &Self::Device,
        start: usize,
        result: &mut CudaSlice<Stored<A>>,
    ) -> Result<(), Error>;

    /// The inclusive or exclusive scan of the arrays in device memory.
    fn scan<A: DeviceAggregate<Input = Self>>(
        scan: &Scan<A>,
        exclusive: bool,
        device: &Self::Device,
        start: usize,
    ) -> Result<CudaSlice<Stored<A>>, Error>;

    /// The results of the rows of the arrays in device memory, or of the columns.
    fn rows<A: DeviceAggregate<Input = Self>>(
        reduction: &Reduction<A>,
        device: &Self::Device,
        start: usize,
        rows: Rows,
        is_rows: bool,
    ) -> Result<CudaSlice<Stored<A>>, Error>;

    /// The results of segments of the arrays in device memory.
    fn segments<A: DeviceAggregate<Input = Self>, O: Offsets, J: Input<O>>(
        reduction: &Reduction<A>,
        device: &Self::Device,
        start: usize,
        offsets: J,
    ) -> Result<CudaSlice<Stored<A>>, Error>;

    /// The bytes of each array.
    fn arrays(elements: &[Self]) -> Vec<ArrayBytes>;
}

/// The bytes of each array that an aggregate reads: one array of tuples if they are its items.
pub fn arrays_of<A: DeviceAggregate<Input: Drawn>>(elements: &[A::Input]) -> Vec<ArrayBytes> {
    match data_of_aggregate::<A>().elements.len() {
        1 if A::Input::COUNT > 1 => vec![ArrayBytes::Values(bytes(elements), align_of::<A::Input>())],
        _ => A::Input::arrays(elements),
    }
}

fn upload<T: DeviceType>(stream: &Arc<CudaStream>, items: &[T], start: usize) -> CudaSlice<T> {
    let before = vec![items.first().copied(); start];
    let padded: Vec<T> = before.into_iter().flatten().chain(items.iter().copied()).collect();
    Device::from(stream.clone()).upload(&padded).expect("copies")
}

fn view<T>(slice: &CudaSlice<T>, start: usize) -> CudaView<'_, T> {
    slice.slice(start.min(slice.len())..)
}

/// The results of the rows of a matrix, or of its columns, in memory of its kind.
fn by_rows<A: DeviceAggregate, I: Input<A::Input>>(
    reduction: &Reduction<A>,
    matrix: I,
    rows: Rows,
    is_rows: bool,
) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
    if is_rows { reduction.rows(matrix, rows) } else { reduction.columns(matrix, rows) }
}

/// The inclusive or exclusive scan of an input, in memory of its kind.
pub fn scanned<A: DeviceAggregate, I: Input<A::Input>>(
    scan: &Scan<A>,
    exclusive: bool,
    input: I,
) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
    if exclusive { scan.exclusive(input) } else { scan.inclusive(input) }
}

impl<T: Sample> Drawn for T {
    const COUNT: usize = 1;
    fn draw(random: &mut SmallRng) -> T {
        T::sample(random)
    }
    type Host = Vec<T>;
    fn split(elements: &[T]) -> Vec<T> {
        elements.to_vec()
    }
    fn of_host(host: &Vec<T>) -> impl Input<T, Place = HostMemory> {
        host
    }
    type Device = CudaSlice<T>;
    fn upload(stream: &Arc<CudaStream>, host: &Vec<T>, start: usize) -> CudaSlice<T> {
        upload(stream, host, start)
    }
    fn run<A: DeviceAggregate<Input = T>>(
        reduction: &Reduction<A>,
        device: &CudaSlice<T>,
        start: usize,
    ) -> Result<A::Output, Error> {
        reduction.run(&view(device, start))
    }
    fn run_into<A: DeviceAggregate<Input = T>>(
        reduction: &Reduction<A>,
        device: &CudaSlice<T>,
        start: usize,
        result: &mut CudaSlice<Stored<A>>,
    ) -> Result<(), Error> {
        reduction.run_into(&view(device, start), result)
    }
    fn scan<A: DeviceAggregate<Input = T>>(
        scan: &Scan<A>,
        exclusive: bool,
        device: &CudaSlice<T>,
        start: usize,
    ) -> Result<CudaSlice<Stored<A>>, Error> {
        scanned(scan, exclusive, &view(device, start))
    }
    fn rows<A: DeviceAggregate<Input = T>>(
        reduction: &Reduction<A>,
        device: &CudaSlice<T>,
        start: usize,
        rows: Rows,
        is_rows: bool,
    ) -> Result<CudaSlice<Stored<A>>, Error> {
        by_rows(reduction, &view(device, start), rows, is_rows)
    }
    fn segments<A: DeviceAggregate<Input = T>, O: Offsets, J: Input<O>>(
        reduction: &Reduction<A>,
        device: &CudaSlice<T>,
        start: usize,
        offsets: J,
    ) -> Result<CudaSlice<Stored<A>>, Error> {
        reduction.segments(&view(device, start), offsets)
    }
    fn arrays(elements: &[T]) -> Vec<ArrayBytes> {
        vec![ArrayBytes::Values(bytes(elements), align_of::<T>())]
    }
}

/// Indices alone are in no memory. A GPU gets them from the host.
impl Drawn for () {
    const COUNT: usize = 0;
    fn draw(_: &mut SmallRng) {}
    type Host = u64;
    fn split(elements: &[()]) -> u64 {
        elements.len() as u64
    }
    fn of_host(&length: &u64) -> impl Input<(), Place = HostMemory> {
        0..length
    }
    type Device = u64;
    fn upload(_: &Arc<CudaStream>, &length: &u64, _: usize) -> u64 {
        length
    }
    fn run<A: DeviceAggregate<Input = ()>>(
        reduction: &Reduction<A>,
        &length: &u64,
        _: usize,
    ) -> Result<A::Output, Error> {
        reduction.run(0..length)
    }
    fn run_into<A: DeviceAggregate<Input = ()>>(
        _: &Reduction<A>,
        _: &u64,
        _: usize,
        _: &mut CudaSlice<Stored<A>>,
    ) -> Result<(), Error> {
        unreachable!("indices are not in device memory")
    }
    fn scan<A: DeviceAggregate<Input = ()>>(
        _: &Scan<A>,
        _: bool,
        _: &u64,
        _: usize,
    ) -> Result<CudaSlice<Stored<A>>, Error> {
        unreachable!("indices are not in device memory")
    }
    fn rows<A: DeviceAggregate<Input = ()>>(
        _: &Reduction<A>,
        _: &u64,
        _: usize,
        _: Rows,
        _: bool,
    ) -> Result<CudaSlice<Stored<A>>, Error> {
        unreachable!("indices are not in device memory")
    }
    fn segments<A: DeviceAggregate<Input = ()>, O: Offsets, J: Input<O>>(
        _: &Reduction<A>,
        _: &u64,
        _: usize,
        _: J,
    ) -> Result<CudaSlice<Stored<A>>, Error> {
        unreachable!("indices are not in device memory")
    }
    fn arrays(_: &[()]) -> Vec<ArrayBytes> {
        Vec::new()
    }
}

/// An element of one of several arrays.
pub trait Column: DeviceType {
    fn draw_one(random: &mut SmallRng) -> Self;

    /// The array in host memory.
    type OnHost;
    fn collected(values: impl Iterator<Item = Self>) -> Self::OnHost;
    fn of_host_column(host: &Self::OnHost) -> impl Input<Self, Place = HostMemory>;
    fn array(host: &Self::OnHost) -> ArrayBytes;

    /// The array in device memory, `start` elements past an aligned address; and the part that has
    /// the elements.
    type OnDevice;
    type View<'a>;
    fn upload_column(stream: &Arc<CudaStream>, host: &Self::OnHost, start: usize) -> Self::OnDevice;
    fn view_column(device: &Self::OnDevice, start: usize) -> Self::View<'_>;
    fn of_view<'v, 'd>(view: &'v Self::View<'d>) -> impl Input<Self, Place = DeviceMemory> + OnDevice<Self>;
}

impl<T: Sample> Column for T {
    fn draw_one(random: &mut SmallRng) -> T {
        T::sample(random)
    }
    type OnHost = Vec<T>;
    fn collected(values: impl Iterator<Item = T>) -> Vec<T> {
        values.collect()
    }
    fn of_host_column(host: &Vec<T>) -> impl Input<T, Place = HostMemory> {
        host
    }
    fn array(host: &Vec<T>) -> ArrayBytes {
        ArrayBytes::Values(bytes(host), align_of::<T>())
    }
    type OnDevice = CudaSlice<T>;
    type View<'a> = CudaView<'a, T>;
    fn upload_column(stream: &Arc<CudaStream>, host: &Vec<T>, start: usize) -> CudaSlice<T> {
        upload(stream, host, start)
    }
    fn view_column(device: &CudaSlice<T>, start: usize) -> CudaView<'_, T> {
        view(device, start)
    }
    fn of_view<'v, 'd>(view: &'v Self::View<'d>) -> impl Input<T, Place = DeviceMemory> + OnDevice<T> {
        view
    }
}

/// Bits begin 5 bits into a byte of host memory.
const FIRST_ON_HOST: usize = 5;

impl Column for Bit {
    fn draw_one(random: &mut SmallRng) -> Bit {
        Bit(bool::sample(random))
    }
    type OnHost = Vec<bool>;
    fn collected(values: impl Iterator<Item = Bit>) -> Vec<bool> {
        values.map(|bit| bit.0).collect()
    }
    fn of_host_column(host: &Vec<bool>) -> impl Input<Bit, Place = HostMemory> {
        // Tests are few, and short: the bytes of a test stay allocated.
        let bytes: &'static [u8] = bitmap(host, FIRST_ON_HOST).leak();
        Bitmap::new(bytes, FIRST_ON_HOST, host.len()).expect("as many bits")
    }
    fn array(host: &Vec<bool>) -> ArrayBytes {
        ArrayBytes::Bits(host.clone())
    }
    type OnDevice = (CudaSlice<u8>, usize);
    type View<'a> = (CudaView<'a, u8>, usize, usize);
    fn upload_column(stream: &Arc<CudaStream>, host: &Vec<bool>, start: usize) -> (CudaSlice<u8>, usize) {
        (upload(stream, &bitmap(host, start), 0), host.len())
    }
    fn view_column(device: &(CudaSlice<u8>, usize), start: usize) -> (CudaView<'_, u8>, usize, usize) {
        (device.0.slice(..), start, device.1)
    }
    fn of_view<'v, 'd>(view: &'v Self::View<'d>) -> impl Input<Bit, Place = DeviceMemory> + OnDevice<Bit> {
        let (bytes, start, length) = view;
        // An empty upload has no bytes.
        Bitmap::new(bytes, if *length == 0 { 0 } else { *start }, *length).expect("as many bits")
    }
}

macro_rules! in_step {
    ($($($part:ident $index:tt),*;)*) => {$(
        impl<$($part: Column),*> Drawn for ($($part,)*) {
            const COUNT: usize = [$($index),*].len();

            fn draw(random: &mut SmallRng) -> Self {
                ($($part::draw_one(random),)*)
            }
            type Host = ($($part::OnHost,)*);
            fn split(elements: &[Self]) -> Self::Host {
                ($($part::collected(elements.iter().map(|element| element.$index)),)*)
            }
            fn of_host(host: &Self::Host) -> impl Input<Self, Place = HostMemory> {
                ($($part::of_host_column(&host.$index),)*)
            }
            type Device = ($($part::OnDevice,)*);
            fn upload(stream: &Arc<CudaStream>, host: &Self::Host, start: usize) -> Self::Device {
                ($($part::upload_column(stream, &host.$index, start + $index),)*)
            }
            fn run<Of: DeviceAggregate<Input = Self>>(
                reduction: &Reduction<Of>,
                device: &Self::Device,
                start: usize,
            ) -> Result<Of::Output, Error> {
                reduction.run(($($part::of_view(&$part::view_column(&device.$index, start + $index)),)*))
            }
            fn run_into<Of: DeviceAggregate<Input = Self>>(
                reduction: &Reduction<Of>,
                device: &Self::Device,
                start: usize,
                result: &mut CudaSlice<Stored<Of>>,
            ) -> Result<(), Error> {
                reduction.run_into(($($part::of_view(&$part::view_column(&device.$index, start + $index)),)*), result)
            }
            fn scan<Of: DeviceAggregate<Input = Self>>(
                scan: &Scan<Of>,
                exclusive: bool,
                device: &Self::Device,
                start: usize,
            ) -> Result<CudaSlice<Stored<Of>>, Error> {
                scanned(scan, exclusive, ($($part::of_view(&$part::view_column(&device.$index, start + $index)),)*))
            }
            fn rows<Of: DeviceAggregate<Input = Self>>(
                reduction: &Reduction<Of>,
                device: &Self::Device,
                start: usize,
                rows: Rows,
                is_rows: bool,
            ) -> Result<CudaSlice<Stored<Of>>, Error> {
                by_rows(reduction, ($($part::of_view(&$part::view_column(&device.$index, start + $index)),)*), rows, is_rows)
            }
            fn segments<Of: DeviceAggregate<Input = Self>, O: Offsets, J: Input<O>>(
                reduction: &Reduction<Of>,
                device: &Self::Device,
                start: usize,
                offsets: J,
            ) -> Result<CudaSlice<Stored<Of>>, Error> {
                reduction.segments(($($part::of_view(&$part::view_column(&device.$index, start + $index)),)*), offsets)
            }
            fn arrays(elements: &[Self]) -> Vec<ArrayBytes> {
                let host = Self::split(elements);
                vec![$($part::array(&host.$index)),*]
            }
        }
    )*};
}
in_step! {
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}
