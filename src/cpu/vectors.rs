//! Vector instructions: for which of them code is compiled once more, and `combine` with it.

#![allow(unsafe_code)]

use super::rows::may_suit;

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

    /// Runs what is compiled for them. The processor has them.
    pub(super) fn run<C: Compiled>(self, code: C) -> C::Output {
        match self {
            Self::Portable => code.run::<{ Self::Portable.bytes() }>(),
            // SAFETY: the processor has what it is compiled for.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { with_avx2(code) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { with_avx512(code) },
        }
    }
}

/// What is compiled once for each kind of vectors.
pub(super) trait Compiled {
    type Output;
    /// Always inlined. The processor has vector registers of so many `BYTES`.
    fn run<const BYTES: usize>(self) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<C: Compiled>(code: C) -> C::Output {
    code.run::<{ Vectors::Avx2.bytes() }>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512<C: Compiled>(code: C) -> C::Output {
    code.run::<{ Vectors::Avx512.bytes() }>()
}

/// Whether code for registers of so many [bytes](Vectors::bytes) has lanes: on x86-64 no operator is compiled for them without AVX2.
const fn has_lanes(bytes: usize) -> bool {
    bytes > 0 || !cfg!(target_arch = "x86_64")
}

/// Whether items of a type may go in them. Asked in a constant: code for lanes is made for no other.
pub(super) const fn has_lanes_of<T>(bytes: usize) -> bool {
    has_lanes(bytes) && may_suit::<T>()
}
