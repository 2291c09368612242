#line 1 "warpfold/program"
namespace program {
static_assert(sizeof(u16) == 2, "layout: in Rust u16 has 2 bytes");
static_assert(alignof(u16) == 2, "layout: in Rust u16 is aligned to 2 bytes");
static_assert(sizeof(i8) == 1, "layout: in Rust i8 has 1 bytes");
static_assert(alignof(i8) == 1, "layout: in Rust i8 is aligned to 1 bytes");
static_assert(sizeof(Array<i8, 3>) == 3, "layout: in Rust [i8; 3] has 3 bytes");
static_assert(alignof(Array<i8, 3>) == 1, "layout: in Rust [i8; 3] is aligned to 1 bytes");
static_assert(sizeof(f64) == 8, "layout: in Rust f64 has 8 bytes");
static_assert(alignof(f64) == 8, "layout: in Rust f64 is aligned to 8 bytes");

// support::items::class
struct alignas(32) Reserved_ {
    u16 new_;
    Array<i8, 3> struct_;
    f64 linux_;
};
static_assert(WARPFOLD_OFFSET(Reserved_, new_) == 0, "layout: in Rust support::items::class has the field new at byte 0");
static_assert(WARPFOLD_OFFSET(Reserved_, struct_) == 2, "layout: in Rust support::items::class has the field struct at byte 2");
static_assert(WARPFOLD_OFFSET(Reserved_, linux_) == 8, "layout: in Rust support::items::class has the field linux at byte 8");
static_assert(sizeof(Reserved_) == 32, "layout: in Rust support::items::class has 32 bytes");
static_assert(alignof(Reserved_) == 32, "layout: in Rust support::items::class is aligned to 32 bytes");

typedef Reserved_ Item;

struct Operator {
    WARPFOLD_DEVICE Item combine(Reserved_ a, Reserved_ b) const {
        const Reserved_ LEAST = Reserved_{u16(7), Array<i8, 3>{{i8(-1), i8(0), i8(1)}}, ::warpfold::from_bits<f64>(0xfff0000000000000ull)}; (void)LEAST;
#line _ "tests/support/operators.rs"
Reserved_ c = b;
             c.new_ = static_cast<unsigned short>(a.new_ + b.new_);
             if (b.struct_[0] == 0 && b.struct_[1] == 0 && b.struct_[2] == 0) c.struct_ = a.struct_;
             c.linux_ = warpfold::maximum(warpfold::maximum(a.linux_, LEAST.linux_), b.linux_);
             return c;
#line 35 "warpfold/program"
    }
};

}  // namespace program

namespace program {

typedef ::warpfold::ArrayReader<Item, ::warpfold::NoPrepare> Reader;
typedef ::warpfold::Arguments<Reader::Input, Item> Arguments;
static_assert(sizeof(Arguments) == 96, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, input) == 0, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, length) == 8, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, output) == 16, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, tickets) == 24, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, runs) == 32, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, row_level) == 36, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, epoch) == 40, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, whole) == 44, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, gathers) == 48, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, identity) == 64, "kernel arguments");

struct Shape {
    static constexpr unsigned WIDTH = 16, GROUP_ITEMS = 1, ROWS = 8, MERGED_TILES = 4, RUNS = 32, WARPS = 4;
};
WARPFOLD_KERNEL(128, 2) warpfold_bracket(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::bracket<Shape, Reader>(arguments, op);
}

}  // namespace program
