//! Types of other crates as device types. Each crate is a feature.

#[cfg(feature = "bytemuck")]
mod bytemuck;
#[cfg(feature = "glam")]
mod glam;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "num-complex")]
mod num_complex;
mod wrapping;

#[cfg(feature = "bytemuck")]
pub use bytemuck::Pod;

use super::device_type::DeviceType;
use super::layout::Field;

/// A field of a value, under a name that the value's type or its `Deref` has for it.
fn field<S, T: DeviceType>(name: &'static str, value: &S, part: &T) -> Field {
    let offset = std::ptr::from_ref(part).addr().wrapping_sub(std::ptr::from_ref(value).addr());
    assert!(offset + size_of::<T>() <= size_of::<S>(), "`{name}` is a part of the value");
    Field { name, offset, layout: T::layout() }
}

/// Implements `DeviceType` for types with a default value and named fields, and without an invariant
/// of their own. The fields may be those of the type that `Deref` gives.
macro_rules! structs {
    ($($(#[generics($($generics:tt)*)])? $type:ty { $($field:tt)* })*) => {$(
        impl$(<$($generics)*>)? crate::Value for $type {
            type Stored = Self;
            fn from_stored(stored: Self) -> Self {
                stored
            }
        }
        structs! { @impl [$($($generics)*)?] $type { $($field)* } }
    )*};
    (@impl [$($generics:tt)*] $type:ty { $($field:tt),* $(,)? }) => {
        // SAFETY: the layout lists all fields at their offsets. All bits that the layouts of the fields
        // allow are a valid value. A SIMD register may have more than the fields, such as the fourth
        // lane of `Vec3A`. That is padding of the layout, in which any bits are valid.
        #[allow(unsafe_code)]
        #[diagnostic::do_not_recommend]
        unsafe impl<$($generics)*> crate::DeviceType for $type {
            fn layout() -> crate::Layout {
                let value = Self::default();
                let fields = vec![$(super::field(stringify!($field), &value, &value.$field)),*];
                crate::Layout::of::<Self>(crate::Kind::Struct { fields })
            }
            fn literal(&self) -> crate::Literal {
                crate::Literal::Sequence(vec![$(crate::DeviceType::literal(&self.$field)),*])
            }
            #[inline]
            fn same_bits(a: &Self, b: &Self) -> bool {
                true $(&& crate::DeviceType::same_bits(&a.$field, &b.$field))*
            }
        }
    };
}
use structs;
