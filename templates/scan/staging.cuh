// The items of a warp in shared memory: loaded from the input, and stored to the output.
//
// Each lane copies adjacent words of global memory, or prepares items of elements. It then owns a run
// of items in shared memory.

namespace warpfold {

// The items of a warp in a tile, as rows of 32 runs in shared memory.
template <class Shape, class Item>
class WarpStaging {
    using Layout = Exchange<Shape::RUN_ITEMS * sizeof(Item), Shape::ROWS>;
    static constexpr unsigned ITEMS = WARP_LANES * Shape::ROWS * Shape::RUN_ITEMS, CHUNK = Layout::CHUNK;
    // The narrowest copy: the width that the address of every item allows, at most a word.
    static constexpr unsigned WORD_WIDTH = alignof(Item) < 4 ? alignof(Item) : 4;
    static constexpr unsigned ITEM_WIDTH = WORD_WIDTH < CHUNK ? WORD_WIDTH : CHUNK;
    // The width in which one item is moved. A run has no gaps, so neither has an item.
    static constexpr unsigned PLACE_WIDTH = lowest_bit(sizeof(Item)) < CHUNK ? lowest_bit(sizeof(Item)) : CHUNK;
    static constexpr unsigned AHEAD = 8;

    unsigned char* bytes;

    static WARPFOLD_DEVICE unsigned place(unsigned byte) { return Layout::of_byte(byte); }

    WARPFOLD_DEVICE Words<Item> get(unsigned index) const {
        Group<Item, 1> one;
        one.template read_from<PLACE_WIDTH>(bytes + place(index * sizeof(Item)));
        return one.get(0);
    }
    WARPFOLD_DEVICE void set(unsigned index, const Words<Item>& item) const {
        const Words<Item> items[1] = {item};
        Group<Item, 1> one;
        one.set(items);
        one.template write_to<PLACE_WIDTH>(bytes + place(index * sizeof(Item)));
    }

    // Loads the elements that exist, and sets the items that they become. The other places get the
    // item of the last element. The loads of AT_ONCE elements are in flight together.
    template <class Reader, class Operator>
    WARPFOLD_DEVICE void prepare_items(const Operator& op, typename Reader::Cursor from, Size present,
                                       typename Reader::Cursor last) const {
        constexpr unsigned STEPS = ITEMS / WARP_LANES, AT_ONCE = Words<Item>::LARGE ? 1 : 4;
        const typename Reader::Cursor begin = from.after_grid_dependency(), end = last.after_grid_dependency();
        const auto element = [&](unsigned index) {
            if (index < present) return begin + index;
            return end;
        };
#pragma unroll 1
        for (unsigned step = 0; step < STEPS; step += AT_ONCE) {
            Words<Item> item[AT_ONCE];
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; ++k) {
                if (STEPS % AT_ONCE != 0 && step + k >= STEPS) break;
                item[k] = Reader::item(op, element(WARP_LANES * (step + k) + lane_index()));
            }
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; ++k) {
                if (STEPS % AT_ONCE != 0 && step + k >= STEPS) break;
                set(WARP_LANES * (step + k) + lane_index(), item[k]);
            }
        }
    }

    template <unsigned WIDTH>
    WARPFOLD_DEVICE void store_whole(char* to) const {
        constexpr unsigned STEPS = Layout::CHUNKS * CHUNK / (WARP_LANES * WIDTH);
#pragma unroll(AHEAD)
        for (unsigned step = 0; step < STEPS; ++step) {
            const unsigned at = WIDTH * (WARP_LANES * step + lane_index());
            const Load<WIDTH> loaded = read<WIDTH>(bytes + place(at));
            write<WIDTH>(to + at, loaded.word);
        }
    }

    // Stores the bytes from `begin` to `end`.
    template <unsigned WIDTH>
    WARPFOLD_DEVICE void store_words(char* to, unsigned begin, unsigned end) const {
#pragma unroll(AHEAD / 2)
        for (unsigned at = begin + WIDTH * lane_index(); at < end; at += WIDTH * WARP_LANES)
            write<WIDTH>(to + at, read<WIDTH>(bytes + place(at)).word);
    }

  public:
    static constexpr unsigned BYTES = Layout::BYTES;

    // Whether it is useful to prefetch the items at `from`.
    template <class Reader>
    static WARPFOLD_DEVICE bool prefetches(typename Reader::Cursor from) {
        if constexpr (Reader::COPIES_ITEMS)
            return Reader::template copies_chunks<Layout>(from);
        else
            return true;
    }

    WARPFOLD_DEVICE explicit WarpStaging(unsigned char* shared) : bytes(shared + warp_index() * BYTES) {}

    // The lane's run in the first row.
    WARPFOLD_DEVICE unsigned char* run() const { return bytes + Layout::place(lane_index() * Layout::RUN); }

    // Where the lane's first run belongs in the output, or null if the lane cannot store its runs
    // there. It can if there are many rows, all items exist, and the output is aligned to chunks.
    static WARPFOLD_DEVICE unsigned char* run_of(Item* items, Size present) {
        if (Shape::ROWS == 1 || present < ITEMS || reinterpret_cast<Size>(items) % CHUNK != 0) return nullptr;
        return reinterpret_cast<unsigned char*>(items) + lane_index() * CHUNK;
    }

    // Loads the items that exist. The other places get the last item of the input. Where a block
    // has several groups, copies are asynchronous: the loading group has no other work.
    template <class Reader, class Operator>
    WARPFOLD_DEVICE void load(const Operator& op, typename Reader::Cursor from, Size present, typename Reader::Cursor last) {
        if constexpr (Reader::COPIES_ITEMS)
            Reader::template copy_items<Layout, ITEMS, (Shape::GROUPS > 1)>(bytes, from, present, last);
        else
            prepare_items<Reader>(op, from, present, last);
    }

    // Sets the first item of the warp.
    WARPFOLD_DEVICE void set_first(const Item& value) const {
        const char* const from = reinterpret_cast<const char*>(&value);
#pragma unroll 1
        for (unsigned k = 0; k < sizeof(Item); k += ITEM_WIDTH) write<ITEM_WIDTH>(bytes + place(k), read<ITEM_WIDTH>(from + k).word);
    }

    // Stores what the operator presents for the items that exist. The item of the first place is
    // that of `count` elements.
    template <class Operator, class Result>
    WARPFOLD_DEVICE void store_results(const Operator& op, Result* results, Size present, Size count) const {
        const unsigned existing = present < ITEMS ? static_cast<unsigned>(present) : ITEMS;
#pragma unroll 1
        for (unsigned index = lane_index(); index < existing; index += WARP_LANES)
            Words<Result>(op.present(get(index).item(), count + index)).store(results + index);
    }

    WARPFOLD_DEVICE void store(Item* items, Size present) const {
        char* const to = reinterpret_cast<char*>(items);
        const Size address = reinterpret_cast<Size>(to);
        if (present >= ITEMS) {
            if (address % CHUNK == 0)
                store_whole<CHUNK>(to);
            else if (CHUNK > 4 && address % 4 == 0)
                store_whole<(CHUNK > 4 ? 4 : CHUNK)>(to);
            else
                store_whole<ITEM_WIDTH>(to);
            return;
        }
        const unsigned existing = static_cast<unsigned>(present) * sizeof(Item);
        const unsigned whole = address % CHUNK == 0 ? existing / CHUNK * CHUNK : 0;
        store_words<CHUNK>(to, 0, whole);
        store_words<ITEM_WIDTH>(to, whole, existing);
    }
};

}  // namespace warpfold
