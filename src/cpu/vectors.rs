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

    /// Of a register for which code is compiled once more, if it is.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::Portable => 0,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 32,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 64,
        }
    }

    /// Whether items go in lanes.
    pub(super) fn have_lanes(self) -> bool {
        has_lanes(self.bytes())
    }
}

/// Whether code for registers of so many [bytes](Vectors::bytes) has lanes: on x86-64 no operator is compiled for them without AVX2.
pub(super) const fn has_lanes(bytes: usize) -> bool {
    bytes > 0 || !cfg!(target_arch = "x86_64")
}
