// Tiles: so many rows that memory is kept busy, reduced at once. There are none where a shape has one row.
//
// Lanes exchange a tile through shared memory. What a lane loads lies beside what its neighbours load; what it gets back is
// a run of items of its own, ROWS groups, which it reduces alone. The next tile is on its way meanwhile, from one run to the
// next.

namespace warpfold {

// Rows alone: there are no tiles.
template <class T>
class Rows {
    const T* next;

  public:
    typedef T Item;

    WARPFOLD_DEVICE explicit Rows(const T* begin) : next(begin) {}
    WARPFOLD_DEVICE const T* items() const { return next; }
    WARPFOLD_DEVICE void pass(unsigned count) { next += count; }
    WARPFOLD_DEVICE RowCounter<T, LaneDigits<T>> counter() const { return RowCounter<T, LaneDigits<T>>(); }
    WARPFOLD_DEVICE bool has_next(unsigned) const { return false; }
    template <class Operator>
    WARPFOLD_DEVICE Words<T> take(const Operator&) {
        return Words<T>();
    }
};

// A tile is loaded in aligned chunks of 16 bytes, wherever its input begins. In shared memory every tile begins alike, since lanes pass
// each other words where its chunks begin within those that were loaded; but for items narrower than a word, whose first one may be
// within a word.
template <class Shape, class T>
class Tiles {
  public:
    typedef T Item;

  private:
    static constexpr unsigned ITEMS = Shape::GROUP_ITEMS * Shape::ROWS;
    using Runs = Exchange<ITEMS * sizeof(Item)>;
    static constexpr unsigned CHUNK = Runs::CHUNK, RUN = Runs::RUN, ODD = Runs::ODD;
    static constexpr unsigned TILE_CHUNKS = Runs::CHUNKS, TILE_BYTES = TILE_CHUNKS * CHUNK;
    static_assert(CHUNK == 16, "a lane has whole chunks");
    static constexpr unsigned WORDS = CHUNK / 4;
    static constexpr bool WITHIN_WORDS = Global::WIDTH<Item> < 4;
    static WARPFOLD_DEVICE constexpr unsigned place(unsigned chunk) { return Runs::place(chunk); }

    // With room for the word in which the last item ends, and for what a counter of rows has.
    static constexpr unsigned DIGITS_AT = Runs::BYTES + CHUNK;
    static constexpr unsigned SLOT_BYTES = DIGITS_AT + WARP_LANES * sizeof(Words<Item>);

    unsigned char* slot;
    // Addresses: of the input and its end, of the next tile, of the one to load next, and of the run after this one, if there
    // is one.
    Size input, input_end, taken, asked, later;
    // Tiles: of this run those that are not taken, of the run that is loaded those that are not asked for, and of a later run.
    unsigned left, unasked, of_later;
    // Before the first item: words of a chunk, and bytes of the word after those.
    unsigned shifted, skipped;
    // The next tile, as it was loaded; and of the words that it has of one more chunk, or ends in, one of each lane.
    unsigned word[RUN * WORDS];
    unsigned last;

    // From the chunk that a tile begins in, so many as it has, and the words that it has of one more.
    WARPFOLD_DEVICE void load() {
        const Size begin = asked - skipped - 4 * shifted;
        const char* const of_lane = reinterpret_cast<const char*>(begin) + CHUNK * lane_index();
        // No byte is touched that is not an item's: the input may begin within a chunk, and within a word.
        const bool begins_within = begin < input && lane_index() == 0;
#pragma unroll
        for (unsigned k = 0; k < RUN; ++k) {
            if (k == 0 && begins_within) continue;
            const Load<CHUNK> loaded = stream_written<CHUNK>(of_lane + CHUNK * WARP_LANES * k);
#pragma unroll
            for (unsigned w = 0; w < WORDS; ++w) word[WORDS * k + w] = loaded.word[w];
        }
        if (shifted == 0 && skipped == 0) return;
        if (begins_within) load_first(begin);
        const char* const after = reinterpret_cast<const char*>(begin) + TILE_BYTES + 4 * lane_index();
        if (lane_index() < shifted)
            last = load_written<4>(after).word[0];
        else if (WITHIN_WORDS && lane_index() == shifted && skipped != 0)
            last = first_bytes(after);
    }

    // The words of a chunk in which the input begins.
    WARPFOLD_DEVICE void load_first(Size begin) {
#pragma unroll
        for (unsigned w = 0; w < WORDS; ++w) {
            const Size at = begin + 4 * w;
            const char* const address = reinterpret_cast<const char*>(at);
            if (at >= input)
                word[w] = load_written<4>(address).word[0];
            else if (WITHIN_WORDS && at + 4 > input)
                word[w] = Global::aligned_word<Item>(address, -static_cast<int>(skipped), Whole());
        }
    }

    // The word in which a tile ends, or what the tile has of it: the word may end after the input's last item.
    WARPFOLD_DEVICE unsigned first_bytes(const char* address) const {
        if (reinterpret_cast<Size>(address) + 4 <= input_end) return load_written<4>(address).word[0];
        constexpr unsigned WIDTH = Global::WIDTH<Item>;
        unsigned word = 0;
#pragma unroll 1
        for (unsigned k = 0; k < skipped; k += WIDTH) word |= load_written<WIDTH>(address + k).word[0] << (8 * k);
        return word;
    }

    // A word of the lane after this one, of its chunk of a row. After the last lane the first one comes, with the next row.
    WARPFOLD_DEVICE unsigned passed(unsigned row, unsigned at) const {
        const unsigned of_next_row = row + 1 < RUN ? word[WORDS * (row + 1) % (WORDS * RUN) + at] : shuffle_from(last, at);
        return shuffle_from(lane_index() == 0 ? of_next_row : word[WORDS * row + at], lane_index() + 1);
    }

    // The tile's chunks, which begin so many words into those that were loaded.
    template <unsigned SHIFTED>
    WARPFOLD_DEVICE void store() const {
        // The places repeat themselves, further on, after ODD steps.
        unsigned char* to[ODD];
#pragma unroll
        for (unsigned k = 0; k < ODD; ++k) to[k] = slot + place(WARP_LANES * k + lane_index());
#pragma unroll
        for (unsigned k = 0; k < RUN; ++k) {
            unsigned chunk[WORDS];
#pragma unroll
            for (unsigned w = 0; w < WORDS; ++w) {
                const unsigned from = w + SHIFTED;
                chunk[w] = from < WORDS ? word[WORDS * k + from % WORDS] : passed(k, from % WORDS);
            }
            write<CHUNK>(to[k % ODD] + place(WARP_LANES * (k - k % ODD)), chunk);
        }
        if (WITHIN_WORDS && lane_index() == SHIFTED) write<4>(slot + place(TILE_CHUNKS), &last);
    }
    WARPFOLD_DEVICE void store() const {
        if (alignof(Item) <= 4 && shifted == 1)
            store<1>();
        else if (alignof(Item) <= 8 && shifted == 2)
            store<2>();
        else if (alignof(Item) <= 4 && shifted == 3)
            store<3>();
        else
            store<0>();
    }

    // So many items of a lane are reduced by code that is written out; more are by a loop over such units, since each copy
    // of an operator is compile time.
    static constexpr unsigned WRITTEN_OUT = 16;
    static constexpr unsigned UNIT = ITEMS < WRITTEN_OUT                 ? ITEMS
                                     : Shape::GROUP_ITEMS < WRITTEN_OUT ? WRITTEN_OUT
                                                                         : Shape::GROUP_ITEMS;
    static constexpr unsigned UNITS = ITEMS / UNIT, LEVELS = level_of(UNITS);

    // The bracket of a lane's items, of which `next` is the first word after them: a binary counter of units.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> bracket(const Operator& op, const unsigned char* items, const unsigned char* next) const {
        Words<Item> digit[LEVELS + 1];
#pragma unroll 1
        for (unsigned unit = 0;; ++unit) {
            const unsigned char* const after = items + UNIT * sizeof(Item);
            Words<Item> value = bracket_of<UNIT>(op, items, unit + 1 < UNITS ? after : next);
            items = after;
            bool carries = true;
#pragma unroll
            for (unsigned k = 0; k < LEVELS; ++k) {
                if (!carries) continue;
                if (unit >> k & 1)
                    value = combine(op, digit[k], value);
                else
                    digit[k] = value, carries = false;
            }
            if (carries) return value;
        }
    }

    // The same of some of them, written out.
    template <unsigned COUNT, class Operator>
    WARPFOLD_DEVICE Words<Item> bracket_of(const Operator& op, const unsigned char* items, const unsigned char* next) const {
        if constexpr (COUNT > Shape::GROUP_ITEMS) {
            const unsigned char* const middle = items + COUNT / 2 * sizeof(Item);
            const Words<Item> left = bracket_of<COUNT / 2>(op, items, middle);
            return combine(op, left, bracket_of<COUNT / 2>(op, middle, next));
        } else {
            Group<Item, Shape::GROUP_ITEMS> group;
            group.template load_exchanged<Shape::WIDTH>(items, next, skipped);
            return group.bracket(op, Whole());
        }
    }

  public:
    // The tiles of the first `count` items from `begin` on, of an input that has no item from `last_end` on.
    WARPFOLD_DEVICE Tiles(unsigned char* shared, const Item* first, const Item* last_end, const Item* begin, Size count) {
        slot = shared + warp_index() * SLOT_BYTES;
        input = reinterpret_cast<Size>(first), input_end = reinterpret_cast<Size>(last_end);
        taken = asked = reinterpret_cast<Size>(begin), later = 0;
        shifted = input % CHUNK / 4, skipped = WITHIN_WORDS ? input % 4 : 0, last = 0;
        left = unasked = static_cast<unsigned>(count / (WARP_LANES * ITEMS));
    }

    // Loads what is to be taken next but is not on its way: of this run, or of the one after it; nothing, if there is nothing.
    WARPFOLD_DEVICE void ask() {
        if (unasked == 0) {
            if (later == 0) return;
            asked = later, unasked = of_later, later = 0;
        }
        load();
        asked += TILE_BYTES, --unasked;
    }

    // What comes next, be it a tile or less; and how many items of it were taken otherwise.
    WARPFOLD_DEVICE const Item* items() const { return reinterpret_cast<const Item*>(taken); }
    WARPFOLD_DEVICE void pass(unsigned count) { taken += count * sizeof(Item); }

    WARPFOLD_DEVICE RowCounter<Item, SharedDigits<Item>> counter() const {
        return RowCounter<Item, SharedDigits<Item>>(reinterpret_cast<Words<Item>*>(slot + DIGITS_AT));
    }

    // After this run there comes one of `count` tiles, from `begin` on, and then it is this one.
    WARPFOLD_DEVICE void follow(const Item* begin, unsigned count) {
        later = reinterpret_cast<Size>(begin), of_later = count;
    }
    WARPFOLD_DEVICE void enter(const Item* begin, unsigned count) { taken = reinterpret_cast<Size>(begin), left = count; }

    // Whether that is a tile, or so many.
    WARPFOLD_DEVICE bool has_next(unsigned count) const { return left >= count; }
    // One value a lane.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> take(const Operator& op) {
        store();
        warp_barrier();
        ask();
        const unsigned run = lane_index() * RUN;
        const Words<Item> value = bracket(op, slot + place(run), slot + place(run + RUN));
        // All lanes have theirs, before the next tile takes its place.
        warp_barrier();
        taken += TILE_BYTES, --left;
        return value;
    }
};

}  // namespace warpfold
