use std::any::{TypeId, type_name};
use std::marker::PhantomData;

use bytemuck::bytes_of;

use crate::{DeviceType, Field, Kind, Layout, Literal, Value};

/// A type of another crate as a device type, if it is [`bytemuck::Pod`]: `repr(C)`, without padding,
/// and valid with any bits. It needs the feature `bytemuck`.
///
/// A body can copy, choose and return such a value, and cannot read inside it. To read its fields,
/// pass the slice as one of a struct of your own, with the same fields:
/// `bytemuck::cast_slice::<Theirs, Ours>(&items)`.
///
/// ```
/// use warpfold::aggregates::Last;
/// use warpfold::{Device, Pod, Reduction};
///
/// mod other {
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     #[repr(C)]
///     pub struct Event { pub id: u32, pub weight: f32 }
///     // SAFETY: two fields of 4 bytes have no padding.
///     unsafe impl bytemuck::Zeroable for Event {}
///     unsafe impl bytemuck::Pod for Event {}
/// }
///
/// let events = [(7, 0.5), (9, 1.5)].map(|(id, weight)| Pod(other::Event { id, weight }));
/// let last = Reduction::<Last<Pod<other::Event>>>::new(Device::auto()).run(&events)?;
/// assert_eq!(last, Some(events[1]));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Pod<T>(pub T);

#[allow(unsafe_code)]
// SAFETY: `T` has both, and this is a `T`.
unsafe impl<T: bytemuck::Pod> bytemuck::Zeroable for Pod<T> {}
#[allow(unsafe_code)]
// SAFETY: as above.
unsafe impl<T: bytemuck::Pod> bytemuck::Pod for Pod<T> {}
#[allow(unsafe_code)]
// SAFETY: `Pod` types are plain data. A kernel that receives one as an argument copies it.
unsafe impl<T: bytemuck::Pod> cudarc::driver::DeviceRepr for Pod<T> {}

impl<T: bytemuck::Pod + Send + Sync> Value for Pod<T> {
    type Stored = Self;
    fn from_stored(stored: Self) -> Self {
        stored
    }
}

/// Stands for the bytes of a `T`, as integers of its alignment.
struct Words<T>(PhantomData<T>);

/// The integers of a value.
fn words<T: bytemuck::Pod>(value: &T) -> Vec<u64> {
    let size = align_of::<T>().min(8);
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    bytes_of(value).chunks_exact(size).map(word).collect()
}

// SAFETY: the integers are all bytes of the value. A `Pod` type has no padding, and any bits are
// valid.
#[allow(unsafe_code)]
#[diagnostic::do_not_recommend]
unsafe impl<T: bytemuck::Pod + Send + Sync> DeviceType for Pod<T> {
    fn layout() -> Layout {
        const { assert!(size_of::<T>() > 0, "a type without bytes is not a device type") };
        let word = match align_of::<T>() {
            1 => u8::layout(),
            2 => u16::layout(),
            4 => u32::layout(),
            _ => u64::layout(),
        };
        let length = size_of::<T>() / word.size;
        let array = Layout {
            id: TypeId::of::<Words<T>>(),
            name: type_name::<T>(),
            size: size_of::<T>(),
            align: word.align,
            kind: Kind::Array { element: Box::new(word), length },
        };
        Layout::of::<Self>(Kind::Struct { fields: vec![Field { name: "0", offset: 0, layout: array }] })
    }

    fn literal(&self) -> Literal {
        let words = words(&self.0).into_iter().map(Literal::Scalar).collect();
        Literal::Sequence(vec![Literal::Sequence(words)])
    }

    #[inline]
    fn same_bits(a: &Self, b: &Self) -> bool {
        bytes_of(&a.0) == bytes_of(&b.0)
    }
}
