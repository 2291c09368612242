#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(float) == 4, "layout: in Rust f32 has 4 bytes");
static_assert(alignof(float) == 4, "layout: in Rust f32 is aligned to 4 bytes");

// rendering::support::items::Point
struct alignas(4) Point {
    float x;
    float y;
    float z;
};
static_assert(WARPFOLD_OFFSET(Point, x) == 0, "layout: in Rust rendering::support::items::Point has the field x at byte 0");
static_assert(WARPFOLD_OFFSET(Point, y) == 4, "layout: in Rust rendering::support::items::Point has the field y at byte 4");
static_assert(WARPFOLD_OFFSET(Point, z) == 8, "layout: in Rust rendering::support::items::Point has the field z at byte 8");
static_assert(sizeof(Point) == 12, "layout: in Rust rendering::support::items::Point has 12 bytes");
static_assert(alignof(Point) == 4, "layout: in Rust rendering::support::items::Point is aligned to 4 bytes");

typedef Point Item;

WARPFOLD_DEVICE float norm(Point p) {
#line _ "tests/support/operators.rs"
return p.x * p.x + p.y * p.y + p.z * p.z;
#line 23 "warpfold/program"
}

struct Operator {
    WARPFOLD_DEVICE Item combine(Item a, Item b) const {
#line _ "tests/support/operators.rs"
if (norm(b) > norm(a)) return b;
return a;
#line 31 "warpfold/program"
    }
};

typedef ::warpfold::Arguments<Item> Arguments;
static_assert(sizeof(Arguments) == 48, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, identity) == 32, "kernel arguments");

struct Shape {
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 4, ROWS = 4, WARPS = 8;
};
WARPFOLD_KERNEL(256, 1) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape>(arguments, op);
}

}  // namespace program
