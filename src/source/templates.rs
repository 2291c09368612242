//! The templates, each after those that it builds on: readers and rungs have their own.

/// A template's name and its text.
pub(super) type Template = (&'static str, &'static str);

/// What every program stands on. Each template builds on those before it.
pub(super) const TYPES: [Template; 3] = [
    ("core/intrinsics.cuh", include_str!("../../templates/core/intrinsics.cuh")),
    ("core/types.cuh", include_str!("../../templates/core/types.cuh")),
    ("core/program.cuh", include_str!("../../templates/core/program.cuh")),
];
/// And programs that say, or may say, what Rust means where C++ means something else, or has no
/// word: `rust::`. Kernels do not.
pub(super) const MEANINGS: [Template; 4] = [
    ("rust/arrays.cuh", include_str!("../../templates/rust/arrays.cuh")),
    ("rust/integers.cuh", include_str!("../../templates/rust/integers.cuh")),
    ("rust/floats.cuh", include_str!("../../templates/rust/floats.cuh")),
    ("rust/math.cuh", include_str!("../../templates/rust/math.cuh")),
];
/// What every kernel stands on.
pub(super) const WORDS: [Template; 2] = [
    ("core/words.cuh", include_str!("../../templates/core/words.cuh")),
    ("core/packed.cuh", include_str!("../../templates/core/packed.cuh")),
];
/// And those of kernels whose lanes have items in registers, and what readers stand on.
pub(super) const LANES: [Template; 4] = [
    ("core/prepare.cuh", include_str!("../../templates/core/prepare.cuh")),
    ("core/group.cuh", include_str!("../../templates/core/group.cuh")),
    ("core/warp.cuh", include_str!("../../templates/core/warp.cuh")),
    ("core/exchange.cuh", include_str!("../../templates/core/exchange.cuh")),
];
