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
}

/// Most bytes of an operator. A kernel has 4096 bytes of parameters, of which its other arguments
/// take up to 512.
const MAX_STATE_BYTES: usize = 3584;

/// Stops the compilation of a program whose item or operator is too large for a kernel.
pub(crate) const fn check_sizes<M: DeviceMonoid>() {
    assert!(size_of::<M::Item>() <= 256, "an item has at most 256 bytes");
    assert!(
        size_of::<M>() <= MAX_STATE_BYTES,
        "an operator has at most 3584 bytes, because it is passed as a kernel parameter"
    );
}
