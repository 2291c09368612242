#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(f32) == 4, "layout: in Rust f32 has 4 bytes");
static_assert(alignof(f32) == 4, "layout: in Rust f32 is aligned to 4 bytes");

// support::items::Point
struct alignas(4) Point {
    f32 x;
    f32 y;
    f32 z;
};
static_assert(WARPFOLD_OFFSET(Point, x) == 0, "layout: in Rust support::items::Point has the field x at byte 0");
static_assert(WARPFOLD_OFFSET(Point, y) == 4, "layout: in Rust support::items::Point has the field y at byte 4");
static_assert(WARPFOLD_OFFSET(Point, z) == 8, "layout: in Rust support::items::Point has the field z at byte 8");
static_assert(sizeof(Point) == 12, "layout: in Rust support::items::Point has 12 bytes");
static_assert(alignof(Point) == 4, "layout: in Rust support::items::Point is aligned to 4 bytes");

typedef Point Item;

struct Operator {
    WARPFOLD_DEVICE Item combine(Point a, Point b) const {
#line _ "tests/support/operators.rs"
        const f32 na = a.x * a.x + a.y * a.y + a.z * a.z;
        const f32 nb = b.x * b.x + b.y * b.y + b.z * b.z;
        if (nb > na) { return b; } else { return a; }
#line 26 "warpfold/program"
    }
};

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
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 4, ROWS = 4, MERGED_TILES = 4, RUNS = 1, WARPS = 4;
};
WARPFOLD_KERNEL(128, 3) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape, Reader>(arguments, op);
}

}  // namespace program
