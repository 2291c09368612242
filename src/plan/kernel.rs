//! The kernels of an operator.

/// Which of an operator's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// [`Policy::small`](super::Policy::small).
    Small,
    /// [`Policy::large`](super::Policy::large): the same template in another shape.
    Large,
    /// [`Policy::baseline`](super::Policy::baseline): a template of its own. Scans have none.
    Baseline,
}

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Small, Self::Large, Self::Baseline];
    /// Those that are not the baseline.
    pub const TUNED: [Self; 2] = [Self::Small, Self::Large];
}
