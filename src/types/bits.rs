//! Bits as elements, and how a bitmap holds them.

use cudarc::driver::DevicePtr;

use super::bitmap::{Bit, Bitmap};
use super::device_type::{
    Arrangement, Describes, DeviceType, Held, PointerVisitor, Sealed, SliceVisitor, Value, held_as_another,
};
use super::layout::{Kind, Layout, Literal, Scalar, Type};

impl Value for Bit {
    type Stored = bool;
    fn from_stored(stored: bool) -> Self {
        Self(stored)
    }
}

// SAFETY: the layout is that of `Bit` in `templates/core/types.cuh`: a struct with a `bool`.
#[allow(unsafe_code)]
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for Bit {
    const IS_BIT: bool = true;
    fn layout() -> Layout {
        Layout::of::<Self>(Kind::Scalar(Scalar::Bit))
    }
    fn literal(&self) -> Literal {
        self.0.literal()
    }
    fn same_bits(a: &Self, b: &Self) -> bool {
        a == b
    }
}

impl Describes<Bit> for bool {
    fn described() -> Type {
        Type::Value(Bit::layout())
    }
    fn literal_of(bit: &Bit) -> Literal {
        DeviceType::literal(bit)
    }
}

impl Held<Bit> for bool {
    type Arrangement = Bits;
    type OneArray = Bits;
    held_as_another!();
}

/// The bits of a bitmap.
#[doc(hidden)]
#[derive(Debug)]
pub enum Bits {}

impl Sealed for Bits {}
impl Arrangement for Bits {
    type Element = Bit;
    const COUNT: usize = 1;
    const IN_STEP: bool = true;
    type Slices<'a> = Bitmap<&'a [u8]>;
    type Pointers<'a> = Bitmap<&'a dyn DevicePtr<u8>>;
    type Addresses = [u64; 1];

    fn layouts() -> Vec<Layout> {
        vec![Bit::layout()]
    }
    #[inline]
    fn at(bits: Bitmap<&[u8]>, index: usize) -> Bit {
        let bit = bits.offset + index;
        Bit(bits.bytes[bit / 8] >> (bit % 8) & 1 == 1)
    }
    fn visit_slices<'a>(bits: Bitmap<&'a [u8]>, visitor: &mut impl SliceVisitor<'a>) {
        visitor.bitmap(bits);
    }
    fn visit_pointers<'a>(bits: Bitmap<&'a dyn DevicePtr<u8>>, visitor: &mut impl PointerVisitor<'a>) {
        visitor.bitmap(bits);
    }
    fn addresses(list: &[u64]) -> [u64; 1] {
        [list[0]]
    }
}
