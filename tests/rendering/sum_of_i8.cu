#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(signed char) == 1, "layout: in Rust i8 has 1 bytes");
static_assert(alignof(signed char) == 1, "layout: in Rust i8 is aligned to 1 bytes");

typedef signed char Item;

struct Operator {
    WARPFOLD_DEVICE Item combine(Item left, Item right) const {
#line _ "src/algebra/operators/sum.rs"
return static_cast<Item>(static_cast<unsigned int>(left) + static_cast<unsigned int>(right));
#line 12 "warpfold/program"
    }
};

typedef ::warpfold::Arguments<Item> Arguments;
static_assert(sizeof(Arguments) == 40, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, identity) == 32, "kernel arguments");

struct Shape {
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 16, ROWS = 8, WARPS = 8;
};
WARPFOLD_KERNEL(256, 1) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape>(arguments, op);
}

}  // namespace program
