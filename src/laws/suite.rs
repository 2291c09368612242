//! The macro that turns laws into tests, and the tiers that its tests need.

use std::io::Write;
use std::sync::Once;

use crate::{Device, Error};

/// The first GPU, for [`laws!`](crate::laws!). Without a GPU, one line per process on standard
/// error says why.
#[doc(hidden)]
pub fn gpu() -> Option<Device> {
    static SAID: Once = Once::new();
    Device::cuda(0).map_err(|reason| missing("gpu", &reason, &SAID)).ok()
}

/// Says in one line on standard error that a tier did not run.
///
/// # Panics
///
/// If the environment variable `WARPFOLD_REQUIRE`, a list such as `nvrtc,gpu`, names the tier.
pub(super) fn missing(tier: &str, reason: &Error, said: &Once) {
    let required = std::env::var("WARPFOLD_REQUIRE").unwrap_or_default();
    let is_required = required.split(',').any(|required| required == tier);
    assert!(!is_required, "{tier}: required, but {reason}");
    // Not `eprintln!`: the test harness captures its output for a passing test.
    said.call_once(|| drop(writeln!(std::io::stderr(), "{tier}: did not run: {reason}")));
}

/// Writes the test suite of operators: see the module [`laws`](mod@crate::laws).
///
/// Each line has a name, `[commutative]` where that is claimed, and a [`Laws`](super::Laws). It becomes a module
/// of tests.
///
/// ```
/// use warpfold::laws::{Laws, proptest::prelude::*};
/// use warpfold::operators::{Matrix2Product, Min};
///
/// warpfold::laws! {
///     min [commutative]: Laws::of(Min::<i16>::new(), any::<i16>());
///     matrices: Laws::of(Matrix2Product::<u32>::new(), any::<[[u32; 2]; 2]>());
/// }
/// ```
#[macro_export]
macro_rules! laws {
    ($($(#[$attribute:meta])* $name:ident $([$($claim:tt)*])? : $laws:expr;)*) => {$(
        $(#[$attribute])*
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            $crate::laws!(@test identity: $laws.identity());
            $crate::laws!(@test associativity: $laws.associativity());
            $crate::laws!(@claim [$($($claim)*)?] $laws);
            $crate::laws!(@test bracket_is_the_fold: $laws.bracket_is_the_fold());
            $crate::laws!(@test cpu_is_the_bracket: $laws.cpu_is_the_bracket());
            $crate::laws!(@test nvrtc_compiles: $laws.compiles());
            $crate::laws!(@test gpu_is_the_cpu: match $crate::laws::gpu() {
                Some(gpu) => $laws.gpu_is_the_cpu(&gpu),
                None => Ok(()),
            });
        }
    )*};
    (@claim [] $laws:expr) => {};
    (@claim [commutative] $laws:expr) => {
        $crate::laws!(@test commutativity: $laws.commutativity());
    };
    (@test $name:ident: $result:expr) => {
        #[test]
        fn $name() {
            $result.unwrap_or_else(|broken: $crate::laws::LawViolation| panic!("{broken}"));
        }
    };
}
