#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(f32) == 4, "layout: in Rust f32 has 4 bytes");
static_assert(alignof(f32) == 4, "layout: in Rust f32 is aligned to 4 bytes");

// rendering::near::Point
struct alignas(4) Point {
    f32 _0;
    f32 _1;
};
static_assert(WARPFOLD_OFFSET(Point, _0) == 0, "layout: in Rust rendering::near::Point has the field 0 at byte 0");
static_assert(WARPFOLD_OFFSET(Point, _1) == 4, "layout: in Rust rendering::near::Point has the field 1 at byte 4");
static_assert(sizeof(Point) == 8, "layout: in Rust rendering::near::Point has 8 bytes");
static_assert(alignof(Point) == 4, "layout: in Rust rendering::near::Point is aligned to 4 bytes");
static_assert(sizeof(f64) == 8, "layout: in Rust f64 has 8 bytes");
static_assert(alignof(f64) == 8, "layout: in Rust f64 is aligned to 8 bytes");

// rendering::far::Point
struct alignas(8) Point_2 {
    f64 _0;
};
static_assert(WARPFOLD_OFFSET(Point_2, _0) == 0, "layout: in Rust rendering::far::Point has the field 0 at byte 0");
static_assert(sizeof(Point_2) == 8, "layout: in Rust rendering::far::Point has 8 bytes");
static_assert(alignof(Point_2) == 8, "layout: in Rust rendering::far::Point is aligned to 8 bytes");
static_assert(sizeof(Array<Point_2, 2>) == 16, "layout: in Rust [rendering::far::Point; 2] has 16 bytes");
static_assert(alignof(Array<Point_2, 2>) == 8, "layout: in Rust [rendering::far::Point; 2] is aligned to 8 bytes");

// rendering::Segment
struct alignas(8) Segment {
    Point start;
    Point end;
    Array<Point_2, 2> vanishing;
};
static_assert(WARPFOLD_OFFSET(Segment, start) == 0, "layout: in Rust rendering::Segment has the field start at byte 0");
static_assert(WARPFOLD_OFFSET(Segment, end) == 8, "layout: in Rust rendering::Segment has the field end at byte 8");
static_assert(WARPFOLD_OFFSET(Segment, vanishing) == 16, "layout: in Rust rendering::Segment has the field vanishing at byte 16");
static_assert(sizeof(Segment) == 32, "layout: in Rust rendering::Segment has 32 bytes");
static_assert(alignof(Segment) == 8, "layout: in Rust rendering::Segment is aligned to 8 bytes");

typedef Segment Item;

struct Operator {
    WARPFOLD_DEVICE Item combine(Segment left, Segment right) const {
#line _ "tests/rendering.rs"
return left;
#line 46 "warpfold/program"
    }
};

}  // namespace program

namespace program {

typedef ::warpfold::ArrayReader<Item, ::warpfold::NoPrepare> Reader;
typedef ::warpfold::Arguments<Reader::Input, Item> Arguments;
static_assert(sizeof(Arguments) == 88, "kernel arguments");
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
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 1, ROWS = 8, MERGED_TILES = 4, RUNS = 32, WARPS = 4;
};
WARPFOLD_KERNEL(128, 2) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape, Reader>(arguments, op);
}

}  // namespace program
