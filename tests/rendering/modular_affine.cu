#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(unsigned int) == 4, "layout: in Rust u32 has 4 bytes");
static_assert(alignof(unsigned int) == 4, "layout: in Rust u32 is aligned to 4 bytes");
static_assert(sizeof(::warpfold::Array<unsigned int, 2>) == 8, "layout: in Rust [u32; 2] has 8 bytes");
static_assert(alignof(::warpfold::Array<unsigned int, 2>) == 4, "layout: in Rust [u32; 2] is aligned to 4 bytes");
static_assert(sizeof(unsigned long long) == 8, "layout: in Rust u64 has 8 bytes");
static_assert(alignof(unsigned long long) == 8, "layout: in Rust u64 is aligned to 8 bytes");
static_assert(sizeof(unsigned char) == 1, "layout: in Rust u8 has 1 bytes");
static_assert(alignof(unsigned char) == 1, "layout: in Rust u8 is aligned to 1 bytes");

// rendering::support::operators::ModularAffine
struct alignas(8) ModularAffine {
    unsigned long long modulus;
    unsigned char padding;
};
static_assert(WARPFOLD_OFFSET(ModularAffine, modulus) == 0, "layout: in Rust rendering::support::operators::ModularAffine has the field modulus at byte 0");
static_assert(WARPFOLD_OFFSET(ModularAffine, padding) == 8, "layout: in Rust rendering::support::operators::ModularAffine has the field padding at byte 8");
static_assert(sizeof(ModularAffine) == 16, "layout: in Rust rendering::support::operators::ModularAffine has 16 bytes");
static_assert(alignof(ModularAffine) == 8, "layout: in Rust rendering::support::operators::ModularAffine is aligned to 8 bytes");

typedef ::warpfold::Array<unsigned int, 2> Item;

WARPFOLD_DEVICE unsigned long long factor(unsigned long long a, unsigned long long m) {
#line _ "tests/support/operators.rs"
a %= m;
if (a == 0) return 1;
return a;
#line 29 "warpfold/program"
}

struct Operator {
    ModularAffine self;
    WARPFOLD_DEVICE Item combine(Item left, Item right) const {
#line _ "tests/support/operators.rs"
const unsigned long long m = self.modulus;
             const unsigned long long a1 = factor(left[0], m), b1 = left[1] % m;
             const unsigned long long a2 = factor(right[0], m), b2 = right[1] % m;
             left[0] = static_cast<unsigned>(a2 * a1 % m);
             left[1] = static_cast<unsigned>((a2 * b1 + b2) % m);
             return left;
#line 42 "warpfold/program"
    }
};

typedef ::warpfold::Arguments<Item> Arguments;
static_assert(sizeof(Arguments) == 40, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, identity) == 32, "kernel arguments");
static_assert(sizeof(Operator) == sizeof(Operator::self), "operator state");

struct Shape {
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 2, ROWS = 8, WARPS = 8;
};
WARPFOLD_KERNEL(256, 1) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape>(arguments, op);
}

}  // namespace program
