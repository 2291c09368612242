//! Vector instructions: for which of them code is compiled once more, and `combine` with it.

/// Those of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vectors {
    /// What every processor of the architecture has.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// And the parts of AVX-512 that all server processors with it have.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Vectors {
    /// Each has what those before it have.
    #[cfg(test)]
    pub(super) const ALL: &[Self] = &[
        Self::Portable,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
    ];

    /// Those that this processor has.
    pub(super) fn detected() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            return if has_avx512 { Self::Avx512 } else { Self::Avx2 };
        }
        Self::Portable
    }

    /// Whether items go in lanes.
    pub(super) fn have_lanes(self) -> bool {
        has_lanes(self != Self::Portable)
    }
}

/// Whether code with AVX2, or without it, has lanes: on x86-64 no operator is compiled for lanes without it.
pub(super) const fn has_lanes(avx2: bool) -> bool {
    avx2 || !cfg!(target_arch = "x86_64")
}
