//! The kernels of an operator.

/// One of the kernels of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// Of a reduction or a scan: the kernel of the policy's shape `small`.
    Small,
    /// Of a reduction or a scan: the kernel of the policy's shape `large`, of the same template.
    Large,
    /// Of a reduction: the kernel of shape [`Policy::baseline`](super::Policy::baseline). It has its
    /// own template.
    Baseline,
    /// Of segments: a part of a warp reduces a segment.
    ByLanes,
    /// Of segments: a warp reduces a segment, or a chunk of it.
    ByWarps,
    /// Of segments: a lane reduces a column, or a part of it.
    ByColumns,
    /// Of segments: a warp reduces segments that offsets give.
    ByOffsets,
}

impl Kernel {
    /// How many kernels there are.
    pub(crate) const COUNT: usize = 7;
    /// All kernels of a reduction.
    pub const ALL: [Self; 3] = [Self::Small, Self::Large, Self::Baseline];
    /// All kernels of a reduction but the baseline.
    pub const TUNED: [Self; 2] = [Self::Small, Self::Large];
    /// All kernels of segments.
    pub const OF_SEGMENTS: [Self; 4] = [Self::ByLanes, Self::ByWarps, Self::ByColumns, Self::ByOffsets];
}
