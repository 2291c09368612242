
namespace program {

typedef ::warpfold::Arguments<Item> Arguments;
static_assert(sizeof(Arguments) == 64, "kernel arguments");
static_assert(WARPFOLD_OFFSET(Arguments, identity) == 52, "kernel arguments");

struct Shape {
    static constexpr unsigned WIDTH = 1, GROUP_ITEMS = 1, ROWS = 1, MERGED_TILES = 1, RUNS = 1, WARPS = 32;
};
WARPFOLD_KERNEL(1024, 1) warpfold_baseline(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {
    ::warpfold::baseline<Shape>(arguments, op);
}

}  // namespace program
