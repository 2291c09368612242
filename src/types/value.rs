//! Options and tuples: as results, and how device memory holds them. Tuples as device types.

use std::cmp::Ordering;
use std::mem::offset_of;

use super::device_type::{Described, Describes, DeviceType, Held, Value, held_as_another};
use super::element::{Array, InStep, Nowhere};
use super::layout::{Field, Kind, Layout, Literal, Scalar, Type};

/// `Option<T>` in device memory.
///
/// ```
/// use warpfold::Maybe;
///
/// assert_eq!(Maybe::from(Some(2.5_f32)).get(), Some(2.5));
/// assert_eq!(Maybe::<f32>::from(None).get(), None);
/// ```
#[derive(Clone, Copy, Debug, crate::DeviceType)]
#[repr(C)]
pub struct Maybe<T: DeviceType> {
    /// The value. All its bits are zero if there is none.
    pub(crate) value: T,
    pub(crate) is_some: bool,
}

impl<T: DeviceType> Maybe<T> {
    /// The option.
    ///
    /// ```
    /// let nothing: warpfold::Maybe<u8> = None.into();
    /// assert_eq!(nothing.get(), None);
    /// ```
    pub fn get(self) -> Option<T> {
        self.is_some.then_some(self.value)
    }
}

impl<T: DeviceType> From<Option<T>> for Maybe<T> {
    #[allow(unsafe_code)]
    fn from(option: Option<T>) -> Self {
        // SAFETY: bits of zero are a valid value of every device type.
        let value = option.unwrap_or_else(|| unsafe { std::mem::zeroed() });
        Self { value, is_some: option.is_some() }
    }
}

impl<T: DeviceType> From<Maybe<T>> for Option<T> {
    fn from(maybe: Maybe<T>) -> Self {
        maybe.get()
    }
}

impl<V: Value> Value for Option<V> {
    type Stored = Maybe<V::Stored>;
    fn from_stored(stored: Self::Stored) -> Self {
        stored.get().map(V::from_stored)
    }
}

// The value is stored as in device memory: a tuple is a struct, of which each part has the literal of the
// tuple's part.
impl<V: Described> Describes<Option<V>> for Maybe<V::Stored> {
    fn described() -> Type {
        Type::Value(Self::layout())
    }
    fn literal_of(option: &Option<V>) -> Literal {
        match option {
            Some(value) => Literal::Sequence(vec![V::By::literal_of(value), true.literal()]),
            None => DeviceType::literal(&Self::from(None)),
        }
    }
}

// No input has options as elements. The impl is there so that rustc reports one error for an item that is an
// option, and not two.
impl<V: Value> Held<Option<V>> for Maybe<V::Stored> {
    type Arrangement = Nowhere<Option<V>>;
    type OneArray = Nowhere<Option<V>>;
    held_as_another!();
}

impl Value for Ordering {
    type Stored = i8;
    fn from_stored(stored: i8) -> Self {
        stored.cmp(&0)
    }
}

impl Describes<Ordering> for i8 {
    fn described() -> Type {
        Type::Value(Layout::of::<Ordering>(Kind::Scalar(Scalar::I8)))
    }
    fn literal_of(order: &Ordering) -> Literal {
        (*order as i8).literal()
    }
}

macro_rules! stored_as_they_are {
    ($($type:ty)*) => {$(
        impl Value for $type {
            type Stored = Self;
            fn from_stored(stored: Self) -> Self {
                stored
            }
        }
    )*};
}
stored_as_they_are! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool f32 f64 }
#[cfg(feature = "half")]
stored_as_they_are! { half::f16 half::bf16 }

impl<T: DeviceType, const N: usize> Value for [T; N] {
    type Stored = Self;
    fn from_stored(stored: Self) -> Self {
        stored
    }
}

macro_rules! tuples {
    ($($tuple:ident($($part:ident $index:tt),*);)*) => {$(
        #[doc = concat!("A tuple among the results in device memory: the parts in order, at the offsets of `#[repr(C)]`.\n\n```\nuse warpfold::DeviceType;\n\nassert!(warpfold::", stringify!($tuple), "::<", $(stringify!($part), ", ",)* ">::layout().size > 0);\n# ", $("type ", stringify!($part), " = u8; ",)* "\n```")]
        #[derive(Clone, Copy, Debug, PartialEq, crate::DeviceType)]
        #[repr(C)]
        pub struct $tuple<$($part: DeviceType),*>($(
            #[doc = concat!("Part ", stringify!($index), ".")]
            pub $part
        ),*);

        impl<$($part: Value),*> Value for ($($part,)*) {
            type Stored = $tuple<$($part::Stored),*>;
            fn from_stored(stored: Self::Stored) -> Self {
                ($($part::from_stored(stored.$index),)*)
            }
        }

        impl<$($part: Described),*> Describes<($($part,)*)> for $tuple<$($part::Stored),*> {
            fn described() -> Type {
                Type::Tuple(vec![$($part::By::described()),*])
            }
            fn literal_of(tuple: &($($part,)*)) -> Literal {
                Literal::Sequence(vec![$($part::By::literal_of(&tuple.$index)),*])
            }
        }

        impl<$($part: DeviceType),*> Held<($($part,)*)> for $tuple<$($part::Stored),*> {
            type Arrangement = InStep<($(<$part::Holder as Held<$part>>::OneArray,)*)>;
            type OneArray = Array<($($part,)*)>;
            held_as_another!();
        }

        // SAFETY: the layout has each part, at its offset. All bits that the parts allow are valid.
        #[allow(unsafe_code)]
        #[diagnostic::do_not_recommend]
        unsafe impl<$($part: DeviceType),*> DeviceType for ($($part,)*) {
            fn layout() -> Layout {
                let fields = vec![$(Field {
                    name: stringify!($index),
                    offset: offset_of!(Self, $index),
                    layout: $part::layout(),
                }),*];
                Layout::of::<Self>(Kind::Tuple { fields })
            }
            fn literal(&self) -> Literal {
                Literal::Sequence(vec![$(self.$index.literal()),*])
            }
            #[inline]
            fn same_bits(a: &Self, b: &Self) -> bool {
                $($part::same_bits(&a.$index, &b.$index))&&*
            }
        }

        impl<$($part: DeviceType),*> From<($($part,)*)> for $tuple<$($part),*> {
            fn from(tuple: ($($part,)*)) -> Self {
                Self($(tuple.$index),*)
            }
        }

        impl<$($part: DeviceType),*> From<$tuple<$($part),*>> for ($($part,)*) {
            fn from(tuple: $tuple<$($part),*>) -> Self {
                ($(tuple.$index,)*)
            }
        }
    )*};
}
tuples! {
    Tuple2(A 0, B 1);
    Tuple3(A 0, B 1, C 2);
    Tuple4(A 0, B 1, C 2, D 3);
    Tuple5(A 0, B 1, C 2, D 3, E 4);
    Tuple6(A 0, B 1, C 2, D 3, E 4, F 5);
    Tuple7(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    Tuple8(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}
