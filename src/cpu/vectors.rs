//! Vector instructions: for which of them code is compiled once more, and `combine` with it.

#![allow(unsafe_code)]

use super::rows::may_suit;

/// Vector instructions that this processor has: a value of this type proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vectors(Kind);

/// Each has what those before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// What every processor of the architecture has.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// And the parts of AVX-512 that all server processors with it have.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Bytes of a register for which code is compiled once more; none, if it is not.
pub(super) const PORTABLE: usize = 0;
#[cfg(target_arch = "x86_64")]
pub(super) const AVX2: usize = 32;
#[cfg(target_arch = "x86_64")]
pub(super) const AVX512: usize = 64;

/// Proves that this processor has the vector instructions whose registers have so many bytes.
#[derive(Clone, Copy)]
pub(super) struct Registers<const BYTES: usize>(());

impl<const BYTES: usize> Registers<BYTES> {
    /// # Safety
    ///
    /// The processor has them.
    unsafe fn new() -> Self {
        Self(())
    }

    /// If the processor has them.
    #[cfg(test)]
    pub(super) fn detected() -> Option<Self> {
        (BYTES <= Vectors::detected().bytes()).then_some(Self(()))
    }
}

impl Vectors {
    /// All that the processor has.
    pub(super) fn detected() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            return Self(if has_avx512 { Kind::Avx512 } else { Kind::Avx2 });
        }
        Self(Kind::Portable)
    }

    /// What the processor has, but for the last of it.
    #[cfg(test)]
    pub(super) fn lesser() -> impl Iterator<Item = Self> {
        let all = [
            Kind::Portable,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512,
        ];
        let Self(detected) = Self::detected();
        all.into_iter().take_while(move |&kind| kind != detected).map(Self)
    }

    /// Of a register.
    pub(super) const fn bytes(self) -> usize {
        match self.0 {
            Kind::Portable => PORTABLE,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => AVX2,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => AVX512,
        }
    }

    /// Whether items go in lanes.
    pub(super) fn have_lanes(self) -> bool {
        has_lanes(self.bytes())
    }

    /// Runs what is compiled for them.
    pub(super) fn run<C: Compiled>(self, code: C) -> C::Output {
        match self.0 {
            // SAFETY: every processor has what is portable.
            Kind::Portable => code.run::<PORTABLE>(unsafe { Registers::new() }),
            // SAFETY: the processor has them, as this value proves.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { with_avx2(code) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { with_avx512(code) },
        }
    }
}

/// What is compiled once for each kind of vectors.
pub(super) trait Compiled {
    type Output;
    /// Always inlined.
    fn run<const BYTES: usize>(self, registers: Registers<BYTES>) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<C: Compiled>(code: C) -> C::Output {
    // SAFETY: whoever calls this knows that the processor has them.
    code.run::<AVX2>(unsafe { Registers::new() })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512<C: Compiled>(code: C) -> C::Output {
    // SAFETY: as above.
    code.run::<AVX512>(unsafe { Registers::new() })
}

/// Whether code for registers of so many bytes has lanes: on x86-64 no operator is compiled for them without AVX2.
const fn has_lanes(bytes: usize) -> bool {
    bytes > 0 || !cfg!(target_arch = "x86_64")
}

/// Whether items of a type may go in them. Asked in a constant: code for lanes is made for no other.
pub(super) const fn has_lanes_of<T>(bytes: usize) -> bool {
    has_lanes(bytes) && may_suit::<T>()
}
