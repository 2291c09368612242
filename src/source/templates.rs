//! The templates that sources share, each after the templates that it uses. Readers and primitives
//! add their own.

/// A template's name and its text.
pub(super) type Template = (&'static str, &'static str);

/// The templates of every program. Each uses those before it.
pub(super) const TYPES: [Template; 3] = [
    ("core/intrinsics.cuh", include_str!("../../templates/core/intrinsics.cuh")),
    ("core/types.cuh", include_str!("../../templates/core/types.cuh")),
    ("core/program.cuh", include_str!("../../templates/core/program.cuh")),
];
/// The namespace `rust`: Rust's meaning where C++ has another one or no operation. For programs
/// that use or may use it; kernels do not.
pub(super) const RUST_SEMANTICS: [Template; 5] = [
    ("rust/arrays.cuh", include_str!("../../templates/rust/arrays.cuh")),
    ("rust/integers.cuh", include_str!("../../templates/rust/integers.cuh")),
    ("rust/floats.cuh", include_str!("../../templates/rust/floats.cuh")),
    ("rust/math.cuh", include_str!("../../templates/rust/math.cuh")),
    ("rust/halves.cuh", include_str!("../../templates/rust/halves.cuh")),
];
/// Arithmetic of 16-bit floats. It stands in the programs that have it.
pub(super) const ROUNDING: Template =
    ("rust/rounding.cuh", include_str!("../../templates/rust/rounding.cuh"));
/// The templates of every kernel.
pub(super) const WORDS: [Template; 2] = [
    ("core/words.cuh", include_str!("../../templates/core/words.cuh")),
    ("core/packed.cuh", include_str!("../../templates/core/packed.cuh")),
];
/// The templates of readers, and of kernels whose lanes hold items in registers.
pub(super) const LANES: [Template; 4] = [
    ("core/prepare.cuh", include_str!("../../templates/core/prepare.cuh")),
    ("core/group.cuh", include_str!("../../templates/core/group.cuh")),
    ("core/warp.cuh", include_str!("../../templates/core/warp.cuh")),
    ("core/exchange.cuh", include_str!("../../templates/core/exchange.cuh")),
];
