#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(f64) == 8, "layout: in Rust f64 has 8 bytes");
static_assert(alignof(f64) == 8, "layout: in Rust f64 is aligned to 8 bytes");
static_assert(sizeof(Array<f64, 2>) == 16, "layout: in Rust [f64; 2] has 16 bytes");
static_assert(alignof(Array<f64, 2>) == 8, "layout: in Rust [f64; 2] is aligned to 8 bytes");
static_assert(sizeof(Array<Array<f64, 2>, 2>) == 32, "layout: in Rust [[f64; 2]; 2] has 32 bytes");
static_assert(alignof(Array<Array<f64, 2>, 2>) == 8, "layout: in Rust [[f64; 2]; 2] is aligned to 8 bytes");

typedef Array<Array<f64, 2>, 2> Item;

WARPFOLD_DEVICE f64 sum_of_products(f64 a, f64 b, f64 c, f64 d) {
#line _ "src/operators/composition.rs"
        return a * b + c * d;
#line 15 "warpfold/program"
}

struct Operator {
    WARPFOLD_DEVICE Item combine(Array<Array<f64, 2>, 2> left, Array<Array<f64, 2>, 2> right) const {
#line _ "src/operators/composition.rs"
        const f64 a = left[0][0]; const f64 b = left[0][1]; const f64 c = left[1][0]; const f64 d = left[1][1];
        const f64 e = right[0][0]; const f64 f = right[0][1]; const f64 g = right[1][0]; const f64 h = right[1][1];
        return Array<Array<f64, 2>, 2>{{Array<f64, 2>{{sum_of_products(a, e, b, g), sum_of_products(a, f, b, h)}}, Array<f64, 2>{{sum_of_products(c, e, d, g), sum_of_products(c, f, d, h)}}}};
#line 24 "warpfold/program"
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
