//! The elements of the reader of arrays.

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DevicePtr, SyncOnDrop};

use super::elements::{Elements, MAX_ARRAYS, StreamOrder};
use crate::cuda::driver::{check, check_context, check_not_capturing};
use crate::source::{ArrayInput, ArraysOf};
use crate::types::{Arrangement, AsTheyAre, PointerVisitor, Preparation};
use crate::{Bitmap, DeviceType, Error};

/// Arrays in device memory, whose elements become items by `P`.
pub(crate) struct Arrays<'a, R: Arrangement, P = AsTheyAre> {
    pointers: R::Pointers<'a>,
    length: u64,
    /// The stream of the first array.
    stream: &'a Arc<CudaStream>,
    /// The index of the first element.
    first: u64,
    preparation: PhantomData<fn() -> P>,
}

impl<'a, R: Arrangement, P> Arrays<'a, R, P> {
    /// All elements of the arrays.
    pub(crate) fn of(pointers: R::Pointers<'a>) -> Result<Self, Error> {
        Self::from(0, pointers)
    }

    /// A part of an input, which begins with the element of this index.
    pub(crate) fn from(first: u64, pointers: R::Pointers<'a>) -> Result<Self, Error> {
        let mut lengths = Lengths { found: None, count: 0, wrong: None };
        R::visit_pointers(pointers, &mut lengths);
        let Some((length, stream)) = lengths.found else { unreachable!("indices are no device memory") };
        match lengths.wrong {
            Some((array, got)) => Err(Error::UnequalLengths { array, length: got, expected: length }),
            None => Ok(Self { pointers, length: length as u64, stream, first, preparation: PhantomData }),
        }
    }
}

/// The length and the stream of the first array, and the first array of another length.
struct Lengths<'a> {
    found: Option<(usize, &'a Arc<CudaStream>)>,
    count: usize,
    wrong: Option<(usize, usize)>,
}

impl<'a> Lengths<'a> {
    fn next(&mut self, length: usize, stream: &'a Arc<CudaStream>) {
        let (expected, _) = *self.found.get_or_insert((length, stream));
        if length != expected {
            self.wrong.get_or_insert((self.count, length));
        }
        self.count += 1;
    }
}

impl<'a> PointerVisitor<'a> for Lengths<'a> {
    fn pointer<T: DeviceType>(&mut self, pointer: &'a dyn DevicePtr<T>) {
        self.next(pointer.len(), pointer.stream());
    }
    fn bitmap(&mut self, bitmap: Bitmap<&'a dyn DevicePtr<u8>>) {
        self.next(bitmap.length, bitmap.bytes.stream());
    }
}

/// The address of a bit, as `templates/read/bits.cuh` reads it.
pub(super) fn bit_address(bytes: u64, offset: usize) -> u64 {
    8 * bytes + offset as u64
}

/// The addresses of the arrays, while they are in use.
struct Addresses<'a> {
    stream: &'a CudaStream,
    list: [u64; MAX_ARRAYS],
    uses: [Option<SyncOnDrop<'a>>; MAX_ARRAYS],
    count: usize,
}

impl<'p: 'a, 'a> PointerVisitor<'p> for Addresses<'a> {
    fn pointer<T: DeviceType>(&mut self, pointer: &'p dyn DevicePtr<T>) {
        let (address, guard) = pointer.device_ptr(self.stream);
        (self.list[self.count], self.uses[self.count]) = (address, Some(guard));
        self.count += 1;
    }
    fn bitmap(&mut self, bitmap: Bitmap<&'p dyn DevicePtr<u8>>) {
        self.pointer(bitmap.bytes);
        let bits = &mut self.list[self.count - 1];
        *bits = bit_address(*bits, bitmap.offset);
    }
}

/// Checks the context of each array, and orders the streams of the other arrays.
struct Order<'a> {
    context: &'a Arc<CudaContext>,
    stream: &'a CudaStream,
    order: StreamOrder,
    names: &'a [&'static str],
    ordered: Result<(), Error>,
}

/// Whether cudarc records events at the uses of some array.
struct AreTracked(bool);

impl<'a> PointerVisitor<'a> for AreTracked {
    fn pointer<T: DeviceType>(&mut self, pointer: &'a dyn DevicePtr<T>) {
        self.0 |= pointer.stream().context().is_managing_stream_synchronization();
    }
    fn bitmap(&mut self, bitmap: Bitmap<&'a dyn DevicePtr<u8>>) {
        self.pointer(bitmap.bytes);
    }
}

/// What errors call the arrays, if there are several.
const NAMES: [&str; MAX_ARRAYS] = [
    "array 0 of the input",
    "array 1 of the input",
    "array 2 of the input",
    "array 3 of the input",
    "array 4 of the input",
    "array 5 of the input",
    "array 6 of the input",
    "array 7 of the input",
];

impl<'a> PointerVisitor<'a> for Order<'_> {
    fn pointer<T: DeviceType>(&mut self, pointer: &'a dyn DevicePtr<T>) {
        let (name, rest) = self.names.split_first().unwrap_or((&"input", &[]));
        self.names = rest;
        let order = || {
            let other = pointer.stream();
            check_context(self.context, name, other)?;
            match self.order {
                _ if &**other == self.stream => Ok(()),
                StreamOrder::None => Ok(()),
                StreamOrder::Before => {
                    // A wait for a capturing stream would add this stream to the capture.
                    check_not_capturing(other)?;
                    check("waiting for the stream of an array", self.stream.join(other))
                }
                StreamOrder::After => check("letting the stream of an array wait", other.join(self.stream)),
            }
        };
        if self.ordered.is_ok() {
            self.ordered = order();
        }
    }
    fn bitmap(&mut self, bitmap: Bitmap<&'a dyn DevicePtr<u8>>) {
        self.pointer(bitmap.bytes);
    }
}

/// While it lives, work that is enqueued counts as a use of the arrays.
pub(crate) struct Uses<'a>(
    #[expect(dead_code, reason = "held until it is dropped")] [Option<SyncOnDrop<'a>>; MAX_ARRAYS],
);

// SAFETY: the arrays hold `length` elements each, and are borrowed.
unsafe impl<R: Arrangement, P: Preparation> Elements for Arrays<'_, R, P> {
    type Reader = ArraysOf<P>;
    type Guard<'a>
        = Uses<'a>
    where
        Self: 'a;

    fn stream(&self) -> &Arc<CudaStream> {
        self.stream
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn order(&self, context: &Arc<CudaContext>, order: StreamOrder) -> Result<(), Error> {
        let names = if R::COUNT == 1 { &[][..] } else { &NAMES };
        let mut order = Order { context, stream: self.stream, order, names, ordered: Ok(()) };
        R::visit_pointers(self.pointers, &mut order);
        order.ordered
    }

    fn are_tracked(&self) -> bool {
        let mut tracked = AreTracked(false);
        R::visit_pointers(self.pointers, &mut tracked);
        tracked.0
    }

    fn addresses<'a>(&'a self, stream: &'a CudaStream) -> ([u64; MAX_ARRAYS], Uses<'a>) {
        let mut addresses =
            Addresses { stream, list: [0; MAX_ARRAYS], uses: [const { None }; MAX_ARRAYS], count: 0 };
        R::visit_pointers(self.pointers, &mut addresses);
        (addresses.list, Uses(addresses.uses))
    }

    fn read<'a>(&'a self, stream: &'a CudaStream) -> (ArrayInput<P::First, P::Addresses>, Uses<'a>) {
        let (list, uses) = self.addresses(stream);
        let elements = P::addresses(&list[..R::COUNT]);
        (ArrayInput { elements, first: P::first(self.first) }, uses)
    }
}
