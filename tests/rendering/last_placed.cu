#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(bool) == 1, "layout: in Rust bool has 1 bytes");
static_assert(alignof(bool) == 1, "layout: in Rust bool is aligned to 1 bytes");
static_assert(sizeof(u64) == 8, "layout: in Rust u64 has 8 bytes");
static_assert(alignof(u64) == 8, "layout: in Rust u64 is aligned to 8 bytes");
static_assert(sizeof(i32) == 4, "layout: in Rust i32 has 4 bytes");
static_assert(alignof(i32) == 4, "layout: in Rust i32 is aligned to 4 bytes");

// support::items::Placed
struct alignas(8) Placed {
    bool found;
    u64 place;
    i32 value;
};
static_assert(WARPFOLD_OFFSET(Placed, found) == 0, "layout: in Rust support::items::Placed has the field found at byte 0");
static_assert(WARPFOLD_OFFSET(Placed, place) == 8, "layout: in Rust support::items::Placed has the field place at byte 8");
static_assert(WARPFOLD_OFFSET(Placed, value) == 16, "layout: in Rust support::items::Placed has the field value at byte 16");
static_assert(sizeof(Placed) == 24, "layout: in Rust support::items::Placed has 24 bytes");
static_assert(alignof(Placed) == 8, "layout: in Rust support::items::Placed is aligned to 8 bytes");

typedef Placed Item;

struct Operator {
    WARPFOLD_DEVICE Item combine(Placed a, Placed b) const {
#line _ "tests/support/operators.rs"
        i32 value; if (b.found) { value = b.value; } else { value = a.value; }
        return Placed{bool(a.found | b.found), rust::wrapping_add(a.place, b.place), value};
#line 29 "warpfold/program"
    }
};

}  // namespace program

namespace program {

typedef ::warpfold::ArrayReader<Item, ::warpfold::NoPrepare> Reader;
typedef ::warpfold::Arguments<Reader::Input, Item> Arguments;
static_assert(sizeof(Arguments) == 80, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, input) == 0, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, length) == 8, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, output) == 16, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, tickets) == 24, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, runs) == 32, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, row_level) == 36, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, epoch) == 40, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, whole) == 44, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, gathers) == 48, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, identity) == 56, "kernel arguments");

struct Shape {
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 2, ROWS = 4, MERGED_TILES = 4, RUNS = 1, WARPS = 4;
};
WARPFOLD_KERNEL(128, 3) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape, Reader>(arguments, op);
}

}  // namespace program
