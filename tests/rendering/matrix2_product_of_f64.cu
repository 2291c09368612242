#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(double) == 8, "layout: in Rust f64 has 8 bytes");
static_assert(alignof(double) == 8, "layout: in Rust f64 is aligned to 8 bytes");
static_assert(sizeof(::warpfold::Array<double, 2>) == 16, "layout: in Rust [f64; 2] has 16 bytes");
static_assert(alignof(::warpfold::Array<double, 2>) == 8, "layout: in Rust [f64; 2] is aligned to 8 bytes");
static_assert(sizeof(::warpfold::Array<::warpfold::Array<double, 2>, 2>) == 32, "layout: in Rust [[f64; 2]; 2] has 32 bytes");
static_assert(alignof(::warpfold::Array<::warpfold::Array<double, 2>, 2>) == 8, "layout: in Rust [[f64; 2]; 2] is aligned to 8 bytes");

typedef ::warpfold::Array<::warpfold::Array<double, 2>, 2> Item;

struct Operator {
    WARPFOLD_DEVICE Item combine(Item left, Item right) const {
#line _ "src/algebra/operators/composition.rs"
typedef double A;
const A a = left[0][0], b = left[0][1], c = left[1][0], d = left[1][1];
const A e = right[0][0], f = right[0][1], g = right[1][0], h = right[1][1];
left[0][0] = a * e + b * g;
left[0][1] = a * f + b * h;
left[1][0] = c * e + d * g;
left[1][1] = c * f + d * h;
return left;
#line 23 "warpfold/program"
    }
};

typedef ::warpfold::Arguments<Item> Arguments;
static_assert(sizeof(Arguments) == 64, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, identity) == 32, "kernel arguments");

struct Shape {
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 1, ROWS = 4, WARPS = 8;
};
WARPFOLD_KERNEL(256, 1) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape>(arguments, op);
}

}  // namespace program
