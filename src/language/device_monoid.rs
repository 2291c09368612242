use super::device_operator::DeviceOperator;
use crate::operators::Monoid;

/// A [`Monoid`] that also exists as CUDA C++.
///
/// [`#[monoid]`](macro@crate::monoid) derives it from the Rust `combine`. [`device_operator`](Self::device_operator) is a
/// function of the type alone: what `&self` holds reaches the kernel as an argument.
///
/// A body may be written by hand, as an escape hatch; then nothing but tests keeps it equal to [`Monoid::combine`], and
/// [`laws`](mod@crate::laws) writes those tests.
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
///         // SAFETY: the body only reads its parameters.
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
    /// Whether every operation of `combine` is exact, so that the CPU and every GPU return the same bits: integer
    /// arithmetic, comparisons, casts, and IEEE `+ - * / sqrt fma` on `f32` and `f64`. An operator that calls
    /// anything else (`exp`, `sin`, ...) keeps the shape of the tree and the order, and promises no bits.
    const EXACT: bool;

    /// The CUDA C++ of `combine`, in parts.
    fn device_operator() -> DeviceOperator;
}
