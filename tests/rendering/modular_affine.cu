#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(u32) == 4, "layout: in Rust u32 has 4 bytes");
static_assert(alignof(u32) == 4, "layout: in Rust u32 is aligned to 4 bytes");
static_assert(sizeof(Array<u32, 2>) == 8, "layout: in Rust [u32; 2] has 8 bytes");
static_assert(alignof(Array<u32, 2>) == 4, "layout: in Rust [u32; 2] is aligned to 4 bytes");
static_assert(sizeof(u64) == 8, "layout: in Rust u64 has 8 bytes");
static_assert(alignof(u64) == 8, "layout: in Rust u64 is aligned to 8 bytes");
static_assert(sizeof(u8) == 1, "layout: in Rust u8 has 1 bytes");
static_assert(alignof(u8) == 1, "layout: in Rust u8 is aligned to 1 bytes");

// support::operators::ModularAffine
struct alignas(8) ModularAffine {
    u64 modulus;
    u8 padding;
};
static_assert(WARPFOLD_OFFSET(ModularAffine, modulus) == 0, "layout: in Rust support::operators::ModularAffine has the field modulus at byte 0");
static_assert(WARPFOLD_OFFSET(ModularAffine, padding) == 8, "layout: in Rust support::operators::ModularAffine has the field padding at byte 8");
static_assert(sizeof(ModularAffine) == 16, "layout: in Rust support::operators::ModularAffine has 16 bytes");
static_assert(alignof(ModularAffine) == 8, "layout: in Rust support::operators::ModularAffine is aligned to 8 bytes");
static_assert(sizeof(u64) == 8, "layout: in Rust usize has 8 bytes");
static_assert(alignof(u64) == 8, "layout: in Rust usize is aligned to 8 bytes");

typedef Array<u32, 2> Item;

WARPFOLD_DEVICE u64 factor(u32 a, u64 modulus) {
#line _ "tests/support/operators.rs"
        return rust::max(rust::wrapping_rem(u64(a), modulus), 1ull);
#line 29 "warpfold/program"
}

struct Operator {
    ModularAffine self;
    WARPFOLD_DEVICE Item combine(Array<u32, 2> left, Array<u32, 2> right) const {
#line _ "tests/support/operators.rs"
        const u64 m = self.modulus;
        const u64 a1 = factor(left[0], m); const u64 a2 = factor(right[0], m);
        const u64 b1 = rust::wrapping_rem(u64(left[1]), m); const u64 b2 = rust::wrapping_rem(u64(right[1]), m);
        return Array<u32, 2>{{u32(rust::wrapping_rem(a2 * a1, m)), u32(rust::wrapping_rem(a2 * b1 + b2, m))}};
#line 40 "warpfold/program"
    }
};
static_assert(sizeof(Operator) == sizeof(Operator::self), "operator state");

}  // namespace program

namespace program {

typedef ::warpfold::ArrayReader<Item, ::warpfold::NoPrepare> Reader;
typedef ::warpfold::Arguments<Reader::Input, Item> Arguments;
static_assert(sizeof(Arguments) == 64, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, input) == 0, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, length) == 8, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, output) == 16, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, tickets) == 24, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, runs) == 32, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, row_level) == 36, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, epoch) == 40, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, whole) == 44, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, gathers) == 48, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, identity) == 52, "kernel arguments");

struct Shape {
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 4, ROWS = 4, MERGED_TILES = 4, RUNS = 32, WARPS = 4;
};
WARPFOLD_KERNEL(128, 4) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape, Reader>(arguments, op);
}

}  // namespace program
