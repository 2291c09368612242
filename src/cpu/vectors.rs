//! Vector instructions. Code, and `combine` with it, is compiled once for each kind of them.
//!
//! The crate `pulp` has the same dispatch, as part of a vector library with its own dependencies.
//! The forty lines here need none.

#![allow(unsafe_code)]

use super::rows::may_fit_lanes;

/// The vector instructions that this processor has. A value of this type proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vectors(Kind);

/// Kinds of vector instructions. Each kind includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The instructions that every processor of the architecture has.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Also the parts of AVX-512 that all server processors with AVX-512 have.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Bytes of a vector register, for each kind. 0 for code that is compiled for the target alone.
pub(super) const PORTABLE: usize = 0;
#[cfg(target_arch = "x86_64")]
pub(super) const AVX2: usize = 32;
#[cfg(target_arch = "x86_64")]
pub(super) const AVX512: usize = 64;

/// Proves that this processor has the vector instructions with registers of `BYTES` bytes.
#[derive(Clone, Copy)]
pub(super) struct Registers<const BYTES: usize>(());

impl<const BYTES: usize> Registers<BYTES> {
    /// # Safety
    ///
    /// The processor has these instructions.
    unsafe fn new() -> Self {
        Self(())
    }

    /// Returns the proof if the processor has these instructions.
    #[cfg(test)]
    pub(super) fn detected() -> Option<Self> {
        (BYTES <= Vectors::detected().bytes()).then_some(Self(()))
    }
}

impl Vectors {
    /// All vector instructions that the processor has.
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

    /// All kinds that the processor has, except the best one.
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

    /// Bytes of a register.
    pub(super) const fn bytes(self) -> usize {
        match self.0 {
            Kind::Portable => PORTABLE,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => AVX2,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => AVX512,
        }
    }

    /// Whether items are processed in lanes.
    pub(super) fn have_lanes(self) -> bool {
        has_lanes(self.bytes())
    }

    /// Runs the code that is compiled for these instructions.
    pub(super) fn run<C: Compiled>(self, code: C) -> C::Output {
        match self.0 {
            // SAFETY: every processor has the portable instructions.
            Kind::Portable => code.run::<PORTABLE>(unsafe { Registers::new() }),
            // SAFETY: the processor has them, as `self` proves.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { with_avx2(code) },
            // SAFETY: the processor has them, as `self` proves.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { with_avx512(code) },
        }
    }
}

/// Code that is compiled once for each kind of vector instructions.
pub(super) trait Compiled {
    type Output;
    /// Must be `#[inline(always)]`.
    fn run<const BYTES: usize>(self, registers: Registers<BYTES>) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<C: Compiled>(code: C) -> C::Output {
    // SAFETY: only a caller that has proved AVX2 and FMA may call this function.
    code.run::<AVX2>(unsafe { Registers::new() })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512<C: Compiled>(code: C) -> C::Output {
    // SAFETY: only a caller that has proved these instructions may call this function.
    code.run::<AVX512>(unsafe { Registers::new() })
}

/// Whether code for registers of `bytes` bytes uses lanes. On x86-64 this needs AVX2: no operator
/// is compiled for lanes without it.
///
/// Lanes are fast only in optimised code. The generic code of this crate is compiled with the
/// user's crate, so a debug build of that crate takes a path without lanes.
const fn has_lanes(bytes: usize) -> bool {
    !cfg!(debug_assertions) && (bytes > 0 || !cfg!(target_arch = "x86_64"))
}

/// Whether items of type `T` may be processed in lanes. Callers evaluate it in a constant, so that
/// code for lanes is compiled for no other type.
pub(super) const fn has_lanes_of<T>(bytes: usize) -> bool {
    has_lanes(bytes) && may_fit_lanes::<T>()
}
