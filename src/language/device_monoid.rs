use std::any::TypeId;

use super::device_operator::DeviceOperator;
use crate::operators::Monoid;

/// A [`Monoid`] that also has a CUDA C++ form.
///
/// [`#[monoid]`](macro@crate::monoid) derives it from the Rust `combine`.
/// [`device_operator`](Self::device_operator) depends on the type alone: the fields of `&self`
/// reach the kernel as an argument.
///
/// A body may also be written by hand. Then only tests keep it equal to [`Monoid::combine`].
/// `warpfold::laws` generates those tests.
///
/// ```
/// use warpfold::{Device, DeviceMonoid, DeviceOperator, DeviceType, Monoid, Reduction, device_code};
///
/// #[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
/// #[repr(C)]
/// struct Range { low: i32, high: i32 }
///
/// /// The smallest interval that holds both.
/// #[derive(Clone, Copy, Default)]
/// struct Hull;
///
/// impl Monoid for Hull {
///     type Item = Range;
///     fn identity(&self) -> Range { Range { low: i32::MAX, high: i32::MIN } }
///     fn combine(&self, a: Range, b: Range) -> Range {
///         Range { low: a.low.min(b.low), high: a.high.max(b.high) }
///     }
/// }
///
/// impl DeviceMonoid for Hull {
///     const EXACT: bool = true;
///     fn device_operator() -> DeviceOperator {
///         // SAFETY: the body terminates, uses only its parameters and returns a valid `Range`.
///         DeviceOperator::new::<Self::Item>("a", "b", unsafe { device_code!(r"
///             if (b.low < a.low) a.low = b.low;
///             if (b.high > a.high) a.high = b.high;
///             return a;
///         ") })
///     }
/// }
///
/// let hull = Reduction::<Hull>::new(Device::auto());
/// let all = hull.run(&[Range { low: 3, high: 4 }, Range { low: -1, high: 2 }])?;
/// assert_eq!(all, Range { low: -1, high: 4 });
/// # Ok::<(), warpfold::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no CUDA C++ form",
    note = "write `#[warpfold::monoid]` before its `impl Monoid`"
)]
pub trait DeviceMonoid: Monoid {
    /// Whether every operation of `combine` is exact, so that the CPU and every GPU return the same
    /// bits.
    ///
    /// Exact operations are integer arithmetic, comparisons, casts, IEEE `+ - * / sqrt fma` on `f32`
    /// and `f64`, and the other operations that the tables of `docs/OPERATORS.md` mark. An operator
    /// with any other operation, such as `exp` or `sin`, keeps the order and the shape of the tree,
    /// but its bits may differ between devices.
    const EXACT: bool;

    /// The CUDA C++ of `combine` and of the definitions that it uses.
    fn device_operator() -> DeviceOperator;

    /// The Rust type of the operator, for errors and for the check of its fields.
    #[doc(hidden)]
    fn rust_type() -> RustType {
        RustType { id: TypeId::of::<Self>(), name: std::any::type_name::<Self>() }
    }

    /// The operator of a kernel that writes the result of this number of elements. Of a kernel that
    /// writes items: none.
    #[doc(hidden)]
    #[must_use]
    fn presenting(self, _count: Option<u64>) -> Self {
        self
    }
}

/// A Rust type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct RustType {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

/// Most bytes of an operator. A kernel has 4096 bytes of parameters, of which its other arguments
/// take up to 512.
const MAX_STATE_BYTES: usize = 3584;

/// Most bytes of an item.
const MAX_ITEM_BYTES: usize = 256;

/// Stops the compilation of a program whose item or operator is too large for a kernel.
pub(crate) const fn check_sizes<M: DeviceMonoid>() {
    if size_of::<M::Item>() > MAX_ITEM_BYTES {
        let (text, digits) = (b"an item has at most 256 bytes, and this one has ", size_of::<M::Item>());
        let (message, length) = with_number(text, digits);
        let (message, _) = message.split_at(length);
        match std::str::from_utf8(message) {
            Ok(message) => panic!("{}", message),
            Err(_) => unreachable!(),
        }
    }
    assert!(
        size_of::<M>() <= MAX_STATE_BYTES,
        "an operator has at most 3584 bytes, because it is passed as a kernel parameter"
    );
}

/// A text and a number, and their length.
const fn with_number(text: &[u8], number: usize) -> ([u8; 80], usize) {
    let (mut message, mut length) = ([0; 80], text.len());
    let (start, _) = message.split_at_mut(length);
    start.copy_from_slice(text);
    let mut unit = 1;
    while number / unit >= 10 {
        unit *= 10;
    }
    while unit > 0 {
        message[length] = b'0' + (number / unit % 10) as u8;
        length += 1;
        unit /= 10;
    }
    (message, length)
}
