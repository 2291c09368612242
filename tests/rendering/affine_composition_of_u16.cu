#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(u16) == 2, "layout: in Rust u16 has 2 bytes");
static_assert(alignof(u16) == 2, "layout: in Rust u16 is aligned to 2 bytes");
static_assert(sizeof(Array<u16, 2>) == 4, "layout: in Rust [u16; 2] has 4 bytes");
static_assert(alignof(Array<u16, 2>) == 2, "layout: in Rust [u16; 2] is aligned to 2 bytes");

typedef Array<u16, 2> Item;

struct Operator {
    WARPFOLD_DEVICE Item combine(Array<u16, 2> left, Array<u16, 2> right) const {
#line _ "src/operators/composition.rs"
        const u16 a1 = left[0]; const u16 b1 = left[1]; const u16 a2 = right[0]; const u16 b2 = right[1];
        return Array<u16, 2>{{rust::wrapping_mul(a2, a1), rust::wrapping_add(rust::wrapping_mul(a2, b1), b2)}};
#line 15 "warpfold/program"
    }
};

}  // namespace program

namespace program {

typedef ::warpfold::ArrayReader<Item, ::warpfold::NoPrepare> Reader;
typedef ::warpfold::Arguments<Reader::Input, Item> Arguments;
static_assert(sizeof(Arguments) == 56, "kernel arguments");
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
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 8, ROWS = 4, MERGED_TILES = 4, RUNS = 32, WARPS = 4;
};
WARPFOLD_KERNEL(128, 4) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape, Reader>(arguments, op);
}

}  // namespace program
