#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(unsigned short) == 2, "layout: in Rust u16 has 2 bytes");
static_assert(alignof(unsigned short) == 2, "layout: in Rust u16 is aligned to 2 bytes");
static_assert(sizeof(::warpfold::Array<unsigned short, 2>) == 4, "layout: in Rust [u16; 2] has 4 bytes");
static_assert(alignof(::warpfold::Array<unsigned short, 2>) == 2, "layout: in Rust [u16; 2] is aligned to 2 bytes");

typedef ::warpfold::Array<unsigned short, 2> Item;

struct Operator {
    WARPFOLD_DEVICE Item combine(Item left, Item right) const {
#line _ "src/algebra/operators/composition.rs"
typedef unsigned int A;
const A a1 = left[0], b1 = left[1], a2 = right[0], b2 = right[1];
left[0] = a2 * a1;
left[1] = a2 * b1 + b2;
return left;
#line 18 "warpfold/program"
    }
};

typedef ::warpfold::Arguments<Item> Arguments;
static_assert(sizeof(Arguments) == 40, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, identity) == 32, "kernel arguments");

struct Shape {
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 4, ROWS = 8, WARPS = 8;
};
WARPFOLD_KERNEL(256, 1) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape>(arguments, op);
}

}  // namespace program
