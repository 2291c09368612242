//! The kernels of an operator.

/// One of the kernels of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// The kernel of shape [`Policy::small`](super::Policy::small).
    Small,
    /// The kernel of shape [`Policy::large`](super::Policy::large). The same template as `Small`.
    Large,
    /// The kernel of shape [`Policy::baseline`](super::Policy::baseline). It has its own template.
    /// Scans have no baseline.
    Baseline,
}

impl Kernel {
    /// All kernels.
    pub const ALL: [Self; 3] = [Self::Small, Self::Large, Self::Baseline];
    /// All kernels but the baseline.
    pub const TUNED: [Self; 2] = [Self::Small, Self::Large];
}
