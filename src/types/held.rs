//! How device memory and variables of kernels hold a value: as it is, or, for example a tuple, as
//! another type.

use super::device_type::{DeviceType, Kind, Layout, Literal};
use super::element::{Arrangement, Array};
use super::preparation::{AsTheyAre, Preparation};

/// The type of a value inside a body.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Type {
    /// A device type that is no tuple.
    Value(Layout),
    /// A tuple. Its layout is private to the generated code.
    Tuple(Vec<Type>),
}

impl Type {
    /// The type of a variable that holds what memory has in this layout.
    pub(crate) fn of(layout: &Layout) -> Self {
        match &layout.kind {
            Kind::Tuple { fields } => {
                Self::Tuple(fields.iter().map(|field| Self::of(&field.layout)).collect())
            }
            _ => Self::Value(layout.clone()),
        }
    }

    /// Whether memory of this layout holds it.
    pub(crate) fn is_of(&self, layout: &Layout) -> bool {
        match (self, &layout.kind) {
            (Self::Tuple(parts), Kind::Tuple { fields }) => {
                parts.len() == fields.len()
                    && parts.iter().zip(fields).all(|(part, field)| part.is_of(&field.layout))
            }
            (Self::Value(of), _) => of.id == layout.id,
            _ => false,
        }
    }
}

/// The type that device memory holds in place of a [`Value`](super::Value) `T`, as what it tells of a variable of
/// type `T`.
#[doc(hidden)]
pub trait Describes<T> {
    /// The type of a variable, as data.
    fn described() -> Type;
    /// The value of a variable, as data.
    fn literal_of(value: &T) -> Literal;
}

#[diagnostic::do_not_recommend]
impl<T: DeviceType> Describes<T> for T {
    fn described() -> Type {
        Type::Value(T::layout())
    }
    fn literal_of(value: &T) -> Literal {
        value.literal()
    }
}

/// The type that device memory holds in place of a [`DeviceType`] `T`: `T` itself, or another type.
#[doc(hidden)]
pub trait Held<T: 'static>: Sized {
    /// How elements of type `T` lie where no input says it.
    type Arrangement: Arrangement<Element = T>;
    /// The same for an array among arrays in step.
    type OneArray: Arrangement<Element = T>;
    /// `Same` if device memory holds `T` itself, and `Other` otherwise.
    type Choice<Same: Plain, Other: Plain>: Plain;
    /// How items of type `T` that are elements become items: not at all if device memory holds `T` itself.
    type Preparation<Other: Preparation>: Preparation;

    /// Makes a choice.
    fn choice<Same: Plain, Other: Plain>(
        same: impl FnOnce() -> Same,
        other: impl FnOnce() -> Other,
    ) -> Self::Choice<Same, Other>;

    /// What follows from a choice.
    fn by_choice<Same: Plain, Other: Plain, V>(
        choice: Self::Choice<Same, Other>,
        same: impl FnOnce(Same) -> V,
        other: impl FnOnce(Other) -> V,
    ) -> V;

    /// Changes a choice.
    fn map_choice<Same: Plain, Other: Plain>(
        choice: Self::Choice<Same, Other>,
        same: impl FnOnce(Same) -> Same,
        other: impl FnOnce(Other) -> Other,
    ) -> Self::Choice<Same, Other>;

    /// One of two values.
    fn choose<V>(same: impl FnOnce() -> V, other: impl FnOnce() -> V) -> V;
}

/// The bounds of an operator.
#[doc(hidden)]
pub trait Plain: Copy + Send + Sync + 'static {}
impl<T: Copy + Send + Sync + 'static> Plain for T {}

#[diagnostic::do_not_recommend]
impl<T: DeviceType> Held<T> for T {
    type Arrangement = Array<T>;
    type OneArray = Array<T>;
    type Choice<Same: Plain, Other: Plain> = Same;
    type Preparation<Other: Preparation> = AsTheyAre;

    fn choice<Same: Plain, Other: Plain>(same: impl FnOnce() -> Same, _: impl FnOnce() -> Other) -> Same {
        same()
    }
    #[inline]
    fn by_choice<Same: Plain, Other: Plain, V>(
        choice: Same,
        same: impl FnOnce(Same) -> V,
        _: impl FnOnce(Other) -> V,
    ) -> V {
        same(choice)
    }
    fn map_choice<Same: Plain, Other: Plain>(
        choice: Same,
        same: impl FnOnce(Same) -> Same,
        _: impl FnOnce(Other) -> Other,
    ) -> Same {
        same(choice)
    }
    fn choose<V>(same: impl FnOnce() -> V, _: impl FnOnce() -> V) -> V {
        same()
    }
}

/// The functions of a type that device memory holds as another one.
macro_rules! held_as_another {
    () => {
        type Choice<Same: $crate::types::Plain, Other: $crate::types::Plain> = Other;
        type Preparation<Other: $crate::types::Preparation> = Other;

        fn choice<Same: $crate::types::Plain, Other: $crate::types::Plain>(
            _: impl FnOnce() -> Same,
            other: impl FnOnce() -> Other,
        ) -> Other {
            other()
        }
        #[inline]
        fn by_choice<Same: $crate::types::Plain, Other: $crate::types::Plain, V>(
            choice: Other,
            _: impl FnOnce(Same) -> V,
            other: impl FnOnce(Other) -> V,
        ) -> V {
            other(choice)
        }
        fn map_choice<Same: $crate::types::Plain, Other: $crate::types::Plain>(
            choice: Other,
            _: impl FnOnce(Same) -> Same,
            other: impl FnOnce(Other) -> Other,
        ) -> Other {
            other(choice)
        }
        fn choose<V>(_: impl FnOnce() -> V, other: impl FnOnce() -> V) -> V {
            other()
        }
    };
}
pub(super) use held_as_another;
