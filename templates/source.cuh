// Where a warp's tiles come from: a run of items, taken a tile at a time, in order.

namespace warpfold {

WARPFOLD_DEVICE Size smaller(Size a, Size b) {
    if (b < a) return b;
    return a;
}

// The items of a tile, and whether wide loads reach them.
template <class Item>
struct TileItems {
    const Item* items;
    bool aligned;
};

// Tiles as they lie in the input.
template <class Shape, class Item>
class Direct {
    const Item* next;

  public:
    typedef Global Memory;
    static constexpr unsigned SHARED_BYTES = 0;

    WARPFOLD_DEVICE Direct(unsigned char*, const Item* begin, Size, const Item*) : next(begin) {}

    WARPFOLD_DEVICE TileItems<Item> take() const {
        const TileItems<Item> tile = {next, reinterpret_cast<Size>(next) % Shape::WIDTH == 0};
        return tile;
    }
    WARPFOLD_DEVICE void give_back() { next += Shape::ROWS * WARP_LANES * Shape::GROUP_ITEMS; }
};

// Tiles copied to shared memory ahead of their use: a ring of slots of the warp's own, each refilled as soon as its tile is
// used. Copies are of whole 16-byte words. Those that hold the first bytes of a tile may begin before it; the last bytes
// of an input that does not end with such a word are copied by the lanes. A tile keeps its place within a line of 128
// bytes, which is what makes copies fast.
template <class Shape, class Item>
class Ring {
    static constexpr unsigned STAGES = Shape::STAGES < 1 ? 1 : Shape::STAGES, WORD = 16, LINE = 128;
    static constexpr unsigned TILE_BYTES = Shape::ROWS * WARP_LANES * Shape::GROUP_ITEMS * sizeof(Item);
    static constexpr unsigned SLOT_BYTES = (TILE_BYTES + 2 * LINE - 2) / LINE * LINE;

    unsigned char* slots;
    CopyBarrier* barriers;
    // Addresses: of the tile to take next and the one to copy next, of the end of the run and of the input.
    Size taken, copied, end, input_end;
    unsigned stage, parity;

    WARPFOLD_DEVICE Size end_of(Size tile) const { return smaller(tile + TILE_BYTES, end); }
    // Where the whole words end that the input has of a tile.
    WARPFOLD_DEVICE Size end_of_copy(Size tile) const {
        return smaller((end_of(tile) + WORD - 1) / WORD * WORD, input_end / WORD * WORD);
    }
    // Where the slot keeps what is at an address of its tile, which is `tile`.
    WARPFOLD_DEVICE unsigned char* place(unsigned at, Size tile, Size address) const {
        return slots + at * SLOT_BYTES + (address - tile / LINE * LINE);
    }

    WARPFOLD_DEVICE void fill(unsigned at) {
        if (copied >= end) return;
        if (lane_index() == 0) {
            const Size from = copied / WORD * WORD, until = end_of_copy(copied);
            const unsigned bytes = until > from ? static_cast<unsigned>(until - from) : 0;
            start_copy(barriers + at, place(at, copied, from), reinterpret_cast<const void*>(from), bytes);
        }
        copied += TILE_BYTES;
    }

    // The last bytes of the input, fewer than a word, as a word; none is read that is not an item's.
    WARPFOLD_DEVICE void copy_rest() const {
        const Size first = taken / WORD * WORD, until = end_of_copy(taken);
        const Size at = (until < first ? first : until) + 4 * lane_index();
        if (at < (end_of(taken) + WORD - 1) / WORD * WORD) {
            const First present = {static_cast<unsigned>((end_of(taken) - taken) / sizeof(Item))};
            const int offset = static_cast<int>(static_cast<long long>(at - taken));
            store_shared(place(stage, taken, at),
                         Global::template aligned_word<Item>(reinterpret_cast<const char*>(at), offset, present));
        }
        warp_barrier();
    }

  public:
    typedef Copied Memory;
    static constexpr unsigned SHARED_BYTES = STAGES * (SLOT_BYTES + sizeof(CopyBarrier));

    WARPFOLD_DEVICE Ring(unsigned char* shared, const Item* begin, Size length, const Item* last) {
        slots = shared + warp_index() * (STAGES * SLOT_BYTES);
        barriers = reinterpret_cast<CopyBarrier*>(shared + Shape::WARPS * STAGES * SLOT_BYTES) + warp_index() * STAGES;
        taken = copied = reinterpret_cast<Size>(begin);
        end = reinterpret_cast<Size>(begin + length);
        input_end = reinterpret_cast<Size>(last);
        stage = parity = 0;
        if (lane_index() == 0) begin_copy_barriers(barriers, STAGES);
        warp_barrier();
#pragma unroll 1
        for (unsigned at = 0; at < STAGES; ++at) fill(at);
    }

    WARPFOLD_DEVICE TileItems<Item> take() const {
        wait_for_copy(barriers + stage, parity);
        if (end_of_copy(taken) < end_of(taken)) copy_rest();
        const TileItems<Item> tile = {reinterpret_cast<const Item*>(place(stage, taken, taken)),
                                      taken % Shape::WIDTH == 0};
        return tile;
    }

    // All lanes are done with the tile.
    WARPFOLD_DEVICE void give_back() {
        warp_barrier();
        fill(stage);
        taken += TILE_BYTES;
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
};

}  // namespace warpfold
