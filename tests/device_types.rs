//! Tests of `#[derive(DeviceType)]`: the layout, the literal, and which values have the same bits.

use std::marker::PhantomData;
use std::mem::offset_of;

use warpfold::{Device, DeviceType, Kind, Layout, Literal, Monoid, Reduction, Scalar, monoid};

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Padded {
    flag: bool,
    wide: f64,
    small: i16,
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C, align(32))]
struct Aligned(u8, [Padded; 2]);

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(transparent)]
struct Wrapper(f32);

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Pair<A: DeviceType, B: DeviceType> {
    r#type: A,
    second: B,
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Lanes<const N: usize> {
    lane: [u16; N],
}

/// The crate under another name.
mod renamed {
    pub use warpfold as folding;

    #[derive(Clone, Copy, Debug, folding::DeviceType)]
    #[device_type(crate = folding)]
    #[repr(C)]
    pub struct Point {
        pub x: f32,
    }
}

/// The types of the fields, and what they are called, come from the caller of a macro.
macro_rules! declared {
    ($name:ident { $($field:ident: $type:ty),* }) => {
        #[derive(Clone, Copy, Debug, DeviceType)]
        #[repr(C)]
        struct $name {
            $($field: $type),*
        }
    };
}
declared! { Declared { first: u8, second: [f32; 2] } }

/// Names that the macros use, too.
#[allow(non_camel_case_types, clippy::init_numbered_fields)]
mod names {
    use warpfold::{DeviceType, Monoid, device, monoid};

    const BODY: f32 = 0.5;

    #[derive(Clone, Copy, Debug, DeviceType)]
    #[repr(C)]
    pub struct left(pub this, pub result);
    #[derive(Clone, Copy, Debug, DeviceType)]
    #[repr(transparent)]
    pub struct this(pub f32);
    #[derive(Clone, Copy, Debug, DeviceType)]
    #[repr(transparent)]
    pub struct result(pub u32);
    #[derive(Clone, Copy, Debug, DeviceType)]
    #[repr(C)]
    pub struct translation(pub f32);

    #[device]
    fn scaled(x: this) -> this {
        this { 0: BODY * x.0 }
    }

    #[monoid]
    impl Monoid for translation {
        type Item = left;
        fn identity(&self) -> left {
            left(this(0.0), result(0))
        }
        fn combine(&self, x: left, y: left) -> left {
            let depth = y.1.0.wrapping_sub(1);
            left { 0: scaled(this { 0: x.0.0 + BODY + self.0 }), 1: result { 0: x.1.0.min(depth) } }
        }
    }
}

fn fields(layout: &Layout) -> Vec<(&str, usize, &str)> {
    let Kind::Struct { fields } = &layout.kind else { panic!("{layout:?} is a struct") };
    fields.iter().map(|field| (field.name, field.offset, field.layout.name)).collect()
}

#[test]
fn a_layout_is_the_rust_compilers_own() {
    let layout = Padded::layout();
    assert_eq!((layout.size, layout.align), (size_of::<Padded>(), align_of::<Padded>()));
    let offsets = [offset_of!(Padded, flag), offset_of!(Padded, wide), offset_of!(Padded, small)];
    assert_eq!(offsets, [0, 8, 16]);
    assert_eq!(fields(&layout), [("flag", 0, "bool"), ("wide", 8, "f64"), ("small", 16, "i16")]);
}

#[test]
fn tuple_nested_and_aligned_structs_work() {
    let layout = Aligned::layout();
    assert_eq!((layout.size, layout.align), (64, 32));
    let Kind::Struct { fields } = &layout.kind else { panic!("a struct") };
    assert_eq!((fields[0].name, fields[1].name, fields[1].offset), ("0", "1", 8));
    let Kind::Array { element, length } = &fields[1].layout.kind else { panic!("an array") };
    assert_eq!((element.name, *length), (Padded::layout().name, 2));
}

#[test]
fn transparent_and_generic_structs_work() {
    assert_eq!(Wrapper::layout().size, 4);
    let layout = Pair::<u8, Wrapper>::layout();
    assert_eq!(fields(&layout), [("type", 0, "u8"), ("second", 4, Wrapper::layout().name)]);
    assert_ne!(layout.id, Pair::<i8, Wrapper>::layout().id);
    assert_eq!(Lanes::<3>::layout().size, 6);
    assert_eq!(renamed::Point::layout().size, 4);
    assert_eq!(fields(&Declared::layout()), [("first", 0, "u8"), ("second", 4, "[f32; 2]")]);
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Length<U: Copy + Send + Sync + 'static> {
    in_units: f32,
    unit: PhantomData<U>,
    parts: u8,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Scaled<U: Copy + Send + Sync + 'static> {
    of: std::marker::PhantomData<U>,
    scale: f32,
}

#[monoid]
impl<U: Copy + Send + Sync + 'static> Monoid for Scaled<U> {
    type Item = Length<U>;
    fn identity(&self) -> Length<U> {
        Length { in_units: 0.0, unit: PhantomData, parts: 0 }
    }
    fn combine(&self, left: Length<U>, right: Length<U>) -> Length<U> {
        let Length { in_units, unit: _, parts } = right;
        let in_units = left.in_units + in_units * self.scale;
        Length { in_units, unit: PhantomData, parts: left.parts + parts }
    }
}

#[test]
fn a_marker_is_no_part_of_a_layout() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Metre;
    let layout = Length::<Metre>::layout();
    assert_eq!((layout.size, layout.align), (8, 4));
    assert_eq!(fields(&layout), [("in_units", 0, "f32"), ("parts", 4, "u8")]);
    let length = |in_units, parts| Length { in_units, unit: PhantomData::<Metre>, parts };
    assert_eq!(length(1.0, 2).literal(), Literal::Sequence(vec![1.0_f32.literal(), Literal::Scalar(2)]));
    assert!(!Length::same_bits(&length(1.0, 2), &length(1.0, 3)));
    let scaled = Reduction::with(Device::cpu(), Scaled { of: PhantomData, scale: 2.0 });
    assert_eq!(scaled.run(&[length(1.0, 1); 3]).expect("runs"), length(5.0, 3));
    let source = scaled.source().expect("is rendered");
    assert!(!source.definitions().contains(" unit") && source.definitions().contains("f32 in_units"));
}

#[test]
fn a_literal_has_every_bit() {
    let value = Padded { flag: true, wide: -0.0, small: -2 };
    let expected = [1, 1 << 63, 0xfffe].map(Literal::Scalar).to_vec();
    assert_eq!(value.literal(), Literal::Sequence(expected));
    assert_eq!(f32::from_bits(0x7fc0_1234).literal(), Literal::Scalar(0x7fc0_1234));
    assert_eq!([1_u8, 2].literal(), Literal::Sequence(vec![Literal::Scalar(1), Literal::Scalar(2)]));
}

#[test]
fn same_bits_tells_zeros_apart_and_no_nan_from_another() {
    let value = Padded { flag: true, wide: 0.0, small: 1 };
    assert!(Padded::same_bits(&value, &value));
    assert!(!Padded::same_bits(&value, &Padded { wide: -0.0, ..value }));
    assert!(!Padded::same_bits(&value, &Padded { small: 2, ..value }));
    let nan = |bits| Padded { wide: f64::from_bits(bits), ..value };
    assert!(Padded::same_bits(&nan(0x7ff8_0000_0000_0000), &nan(0xfff8_0000_0000_0001)));
    assert!(!Padded::same_bits(&nan(0x7ff8_0000_0000_0000), &value));
    assert!(f32::same_bits(&f32::NAN, &-f32::NAN));
    assert!(!f32::same_bits(&0.0, &-0.0));
}

#[test]
fn users_may_have_the_names_of_the_macros() {
    let value = names::left(names::this(1.0), names::result(7));
    assert!(names::left::same_bits(&value, &value));
    let operator = names::translation(2.0);
    let combined = operator.combine(value, value);
    assert_eq!((combined.0.0, combined.1.0), (1.75, 6));
    let source = Reduction::with(Device::cpu(), operator).source().expect("renders");
    assert!(source.program().contains("0.5"), "{}", source.program());
}

#[test]
fn half_floats_are_device_types() {
    use half::{bf16, f16};
    assert!(matches!(f16::layout().kind, Kind::Scalar(Scalar::F16)));
    assert!(matches!(bf16::layout().kind, Kind::Scalar(Scalar::BF16)));
    assert_eq!(f16::ONE.literal(), Literal::Scalar(0x3c00));
    assert!(bf16::same_bits(&bf16::NAN, &-bf16::NAN) && !f16::same_bits(&f16::ZERO, &f16::NEG_ZERO));
}

#[test]
fn integers_of_the_machine_are_those_of_their_width() {
    assert!(matches!(usize::layout().kind, Kind::Scalar(Scalar::U64 | Scalar::U32)));
    assert_eq!((-1_isize).literal(), Literal::Scalar(usize::MAX as u64));
}
