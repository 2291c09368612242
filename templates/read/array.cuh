// Readers, and the reader of one array.
//
// A reader loads elements and turns them into items. A primitive combines the items. The primitive
// uses these members of a reader, and nothing else:
//
// - `Input`: the kernel parameter that describes the input.
// - `Item`: the type that an element becomes.
// - `Cursor`: a position in the input. `+` advances it by a number of elements.
//   `grid_dependency_wait` waits until the previous launch has written the elements. `prefetch`
//   prefetches elements into a cache.
// - `item`: loads one item at any position.
// - `Group<Shape>`: neighbouring elements of one lane, in registers, and their bracket.
//   `load_whole` loads all of them where `HAS_WHOLE` and `loads_whole` allow it. `load_present`
//   loads the elements that exist.
// - `Tile<Shape>`: rows of groups of one warp, whose lanes exchange them through shared memory.
// - `copy_items`: copies the items of a warp to shared memory, where COPIES_ITEMS tells that
//   elements are items. `copies_chunks` tells whether it uses the widest loads.
//
// The elements of an array are adjacent in memory and begin at any address that their type allows.
// Each warp derives the possible load widths from the address, in the kernel.
//
// Invariant: no load touches a byte outside the elements of the input.

namespace warpfold {

// The kernel parameter: the elements, and the index of the first one where items depend on it.
template <class Element, bool HAS_INDEX>
struct ArrayInput {
    const Element* elements;
    Size first;
    WARPFOLD_DEVICE ElementIndex<true> index() const { return {first}; }
};
template <class Element>
struct ArrayInput<Element, false> {
    const Element* elements;
    WARPFOLD_DEVICE ElementIndex<false> index() const { return {}; }
};

template <class Element_, class Prepare>
class ArrayReader {
  public:
    typedef Element_ Element;
    typedef typename Prepare::template Item<Element> Item;
    typedef ArrayInput<Element, Prepare::HAS_INDEX> Input;
    static constexpr bool COPIES_ITEMS = !Prepare::HAS_INDEX, ACCUMULATES = Prepare::ACCUMULATES;

  private:
    typedef ElementIndex<Prepare::HAS_INDEX> Index;

  public:
    class Cursor : Index {
        const Element* at;

        WARPFOLD_DEVICE Cursor(Index index, const Element* at) : Index(index), at(at) {}

      public:
        WARPFOLD_DEVICE explicit Cursor(const Input& input) : Index(input.index()), at(input.elements) {}
        WARPFOLD_DEVICE const Element* elements() const { return at; }
        WARPFOLD_DEVICE Size address() const { return reinterpret_cast<Size>(at); }
        WARPFOLD_DEVICE Index index() const { return *this; }
        WARPFOLD_DEVICE Cursor operator+(Size count) const { return Cursor(index() + count, at + count); }
        WARPFOLD_DEVICE bool is_multiple_of(unsigned bytes) const { return address() % bytes == 0; }
        // Waits for the end of the previous launch, if this launch began before it.
        WARPFOLD_DEVICE Cursor after_grid_dependency() const { return Cursor(index(), ::warpfold::grid_dependency_wait(at)); }

        // Prefetches `count` elements into the cache of `LEVEL`. Each lane requests one line at a
        // time.
        template <unsigned LEVEL>
        WARPFOLD_DEVICE void prefetch(unsigned count) const {
            constexpr unsigned LINE = 128;
#pragma unroll 1
            for (unsigned from = LINE * lane_index(); from < count * sizeof(Element); from += LINE * WARP_LANES)
                ::warpfold::prefetch<LEVEL>(reinterpret_cast<const char*>(at) + from);
        }
    };

  private:
    // Bytes that a load may have at the address of any element: at most a word, and at most 16.
    static constexpr unsigned WORD_WIDTH = alignof(Element) < 4 ? alignof(Element) : 4;
    static constexpr unsigned ELEMENT_WIDTH = alignof(Element) < 16 ? alignof(Element) : 16;

    // Loads the word at `address`, which is a multiple of 4 and `offset` bytes from the row's
    // begin. Bytes of the word that belong to no element are unspecified.
    template <class Present>
    static WARPFOLD_DEVICE unsigned aligned_word(const char* address, int offset, Present present) {
        if (offset >= 0 && present.has((offset + 3) / sizeof(Element))) return load_written<4>(address).word[0];
        unsigned word = 0;
#pragma unroll 1
        for (int k = 0; k < 4; k += WORD_WIDTH) {
            if (offset + k >= 0 && present.has((offset + k) / sizeof(Element)))
                word |= load_written<WORD_WIDTH>(address + k).word[0] << (8 * k);
        }
        return word;
    }

  public:
    template <class Operator>
    static WARPFOLD_DEVICE Words<Item> item(const Operator& op, Cursor from) {
        ::warpfold::Group<Element, 1> single;
#pragma unroll(single.UNROLL)
        for (unsigned offset = 0; offset < sizeof(Element); offset += WORD_WIDTH)
            single.put(offset, load_written<WORD_WIDTH>(reinterpret_cast<const char*>(from.elements()) + offset));
        return Prepare::item(op, from.index(), single.get(0));
    }

    template <class Shape>
    class Group {
        static constexpr unsigned COUNT = Shape::GROUP_ITEMS;
        typedef ::warpfold::Group<Element, COUNT> Elements;

        Elements elements;
        Index first_index;

      public:
        // Bytes of one load.
        static constexpr unsigned WIDTH = Shape::WIDTH;
        // Whether groups can be loaded as a whole: only with loads of at least a word.
        static constexpr bool HAS_WHOLE = WIDTH >= 4;

        // Whether the group at `from` can be loaded as a whole.
        static WARPFOLD_DEVICE bool loads_whole(Cursor from) { return HAS_WHOLE && from.is_multiple_of(WIDTH); }

        // Loads the whole group with loads of WIDTH bytes.
        WARPFOLD_DEVICE void load_whole(Cursor from) {
            static_assert(Elements::BYTES % WIDTH == 0, "a group is whole loads");
            first_index = from.index();
#pragma unroll(Elements::UNROLL)
            for (unsigned offset = 0; offset < Elements::BYTES; offset += WIDTH)
                elements.put(offset, load_written<WIDTH>(reinterpret_cast<const char*>(from.elements()) + offset));
        }

        // Loads the elements of the group that exist, from any address. The group begins with
        // element `first` of a row that has `present` elements. A missing element is replaced by
        // the last one that exists, if elements are aligned to 4 bytes or more. Otherwise it is
        // unspecified. Bytes outside the elements are not touched.
        WARPFOLD_DEVICE void load_present(Cursor row, unsigned first, PrefixMask present) {
            first_index = row.index() + first;
            if constexpr (ELEMENT_WIDTH >= 4) {
#pragma unroll(Elements::UNROLL)
                for (unsigned i = 0; i < COUNT; ++i) {
                    const Element* const from =
                        row.elements() + (i == 0 || present.has(first + i) ? first + i : present.count - 1);
#pragma unroll(Elements::UNROLL)
                    for (unsigned offset = 0; offset < sizeof(Element); offset += ELEMENT_WIDTH)
                        elements.put(i * sizeof(Element) + offset,
                                     load_written<ELEMENT_WIDTH>(reinterpret_cast<const char*>(from) + offset));
                }
            } else {
                // The aligned words that cover the group. Two of them are shifted into one word of
                // the group.
                const char* const address = reinterpret_cast<const char*>(row.elements() + first);
                const int skipped = reinterpret_cast<Size>(address) % 4;
                const int begin = static_cast<int>(first * sizeof(Element)) - skipped;
                unsigned low = aligned_word(address - skipped, begin, present);
#pragma unroll(Elements::UNROLL)
                for (unsigned k = 0; k < Elements::WORDS; ++k) {
                    const int next = 4 * k + 4;
                    unsigned high = 0;
                    if (static_cast<int>(Elements::BYTES - 4 * k) + skipped > 4)
                        high = aligned_word(address - skipped + next, begin + next, present);
                    elements.word[k] = funnel_shift(low, high, 8 * skipped);
                    low = high;
                }
            }
        }

        // Loads the whole group, whose first element has this index, from shared memory. It begins `skipped` bytes into the first word
        // at `words`, and may end within the word at `next`.
        WARPFOLD_DEVICE void load_exchanged(Index index, const unsigned char* words, const unsigned char* next, unsigned skipped) {
            first_index = index;
            elements.template read_from<WIDTH>(words);
            if constexpr (ELEMENT_WIDTH < 4) {
                const unsigned last = read<4>(next).word[0];
#pragma unroll
                for (unsigned k = 0; k < Elements::WORDS; ++k)
                    elements.word[k] = funnel_shift(elements.word[k], k + 1 < Elements::WORDS ? elements.word[k + 1] : last, 8 * skipped);
            }
        }

        // Returns the item at `index`. A missing item is replaced by one that exists.
        template <class Operator, class Present>
        WARPFOLD_DEVICE Words<Item> item(const Operator& op, unsigned index, Present present) const {
            Words<Element> element = elements.get(index);
            if (ELEMENT_WIDTH < 4 && index > 0) element = select(present.has(index), element, elements.get(0));
            return Prepare::item(op, first_index + index, element);
        }

        // Combines an item with the element at `index`, which exists.
        template <class Operator>
        WARPFOLD_DEVICE void accumulate(const Operator& op, Item& item, unsigned index) const {
            item = op.accumulate(item, (first_index + index).index, elements.get(index).item());
        }

        template <class Operator, class Present>
        WARPFOLD_DEVICE Words<Item> bracket(const Operator& op, Present present) const {
            if constexpr (Prepare::READS_WORDS && Present::ALL && Elements::BYTES % 4 == 0)
                return Prepare::template from_words<Item>(elements.word);
            else
                return bracket_of_group<Prepare, Item, COUNT>(op, *this, present);
        }
    };

    // A tile of one warp. It is loaded in aligned chunks of 16 bytes, at whatever address it
    // begins. In shared memory a tile always begins at the first word. If the elements begin within
    // a loaded chunk, lanes pass each other words to shift the tile. Elements that are aligned to
    // less than 4 bytes may still begin within the first word.
    template <class Shape>
    class Tile {
        static constexpr unsigned LANE_BYTES = Shape::GROUP_ITEMS * Shape::ROWS * sizeof(Element);
        using Runs = Exchange<LANE_BYTES>;
        static constexpr unsigned CHUNK = Runs::CHUNK, RUN = Runs::RUN, ODD = Runs::ODD;
        static constexpr unsigned TILE_CHUNKS = Runs::CHUNKS, TILE_BYTES = TILE_CHUNKS * CHUNK;
        static_assert(CHUNK == 16, "a lane has whole chunks");
        static constexpr unsigned WORDS = CHUNK / 4;
        static constexpr bool HAS_PARTIAL_WORDS = WORD_WIDTH < 4;
        static WARPFOLD_DEVICE constexpr unsigned place(unsigned chunk) { return Runs::place(chunk); }

        unsigned char* staging;
        // Addresses of the first element and behind the last one. Tiles lie between them.
        Size first, end;
        // Distance of a tile from the 16-byte boundary before it: whole words, and remaining bytes.
        unsigned shifted, skipped;
        // `word` is this lane's chunks of the tile, as they were loaded. `last` is this lane's word
        // of the chunk after the tile, in which a shifted tile ends.
        unsigned word[RUN * WORDS];
        unsigned last;
        // The index of the first element of the tile that was loaded, and of the one that was
        // stored.
        Index loaded, stored;

        // Loads the first chunk of the input, from the word in which the elements begin.
        WARPFOLD_DEVICE void load_first(Size begin) {
#pragma unroll
            for (unsigned w = 0; w < WORDS; ++w) {
                const Size at = begin + 4 * w;
                const char* const address = reinterpret_cast<const char*>(at);
                if (at >= first)
                    word[w] = load_written<4>(address).word[0];
                else if (HAS_PARTIAL_WORDS && at + 4 > first)
                    word[w] = aligned_word(address, -static_cast<int>(skipped), FullMask());
            }
        }

        // Loads the word in which a tile ends. If the input ends within it, only the bytes of
        // elements.
        WARPFOLD_DEVICE unsigned first_bytes(const char* address) const {
            if (reinterpret_cast<Size>(address) + 4 <= end) return load_written<4>(address).word[0];
            unsigned word = 0;
#pragma unroll 1
            for (unsigned k = 0; k < skipped; k += WORD_WIDTH) word |= load_written<WORD_WIDTH>(address + k).word[0] << (8 * k);
            return word;
        }

        // Returns word `at` of the next chunk: the next lane's of the same row. After the last lane
        // comes the first lane's chunk of the next row.
        WARPFOLD_DEVICE unsigned word_of_next_lane(unsigned row, unsigned at) const {
            const unsigned next_row_word = row + 1 < RUN ? word[WORDS * (row + 1) % (WORDS * RUN) + at] : shuffle_from(last, at);
            return shuffle_from(lane_index() == 0 ? next_row_word : word[WORDS * row + at], lane_index() + 1);
        }

        // Stores the tile's chunks, which begin SHIFTED words after the chunks that were loaded.
        template <unsigned SHIFTED>
        WARPFOLD_DEVICE void store_shifted() const {
            // Chunk places repeat after ODD steps, at a constant distance.
            unsigned char* to[ODD];
#pragma unroll
            for (unsigned k = 0; k < ODD; ++k) to[k] = staging + place(WARP_LANES * k + lane_index());
#pragma unroll
            for (unsigned k = 0; k < RUN; ++k) {
                unsigned chunk[WORDS];
#pragma unroll
                for (unsigned w = 0; w < WORDS; ++w) {
                    const unsigned from = w + SHIFTED;
                    chunk[w] = from < WORDS ? word[WORDS * k + from % WORDS] : word_of_next_lane(k, from % WORDS);
                }
                write<CHUNK>(to[k % ODD] + place(WARP_LANES * (k - k % ODD)), chunk);
            }
            if (HAS_PARTIAL_WORDS && lane_index() == SHIFTED) write<4>(staging + place(TILE_CHUNKS), &last);
        }

      public:
        // Bytes of shared memory of a warp, including the word in which the last element ends.
        static constexpr unsigned BYTES = Runs::BYTES + CHUNK;

        // For tiles of the elements from `begin` to `after`. A tile begins a multiple of 16 bytes
        // after `begin`.
        WARPFOLD_DEVICE Tile(unsigned char* shared, Cursor begin, Cursor after) {
            staging = shared;
            first = begin.address(), end = after.address();
            shifted = first % CHUNK / 4, skipped = HAS_PARTIAL_WORDS ? first % 4 : 0, last = 0;
        }

        // Loads the tile at `from`: the chunks from the one in which it begins, and its words of
        // the chunk after those.
        WARPFOLD_DEVICE void load(Cursor from) {
            loaded = from.index();
            const Size begin = from.address() - skipped - 4 * shifted;
            const char* const lane_begin = reinterpret_cast<const char*>(begin) + CHUNK * lane_index();
            // The elements may begin within the first chunk. Bytes before them are not touched.
            const bool begins_within = begin < first && lane_index() == 0;
#pragma unroll
            for (unsigned k = 0; k < RUN; ++k) {
                if (k == 0 && begins_within) continue;
                const Load<CHUNK> loaded = stream_written<CHUNK>(lane_begin + CHUNK * WARP_LANES * k);
#pragma unroll
                for (unsigned w = 0; w < WORDS; ++w) word[WORDS * k + w] = loaded.word[w];
            }
            if (shifted == 0 && skipped == 0) return;
            if (begins_within) load_first(begin);
            const char* const after = reinterpret_cast<const char*>(begin) + TILE_BYTES + 4 * lane_index();
            if (lane_index() < shifted)
                last = load_written<4>(after).word[0];
            else if (HAS_PARTIAL_WORDS && lane_index() == shifted && skipped != 0)
                last = first_bytes(after);
        }

        // Stores the loaded tile to shared memory, for all lanes of the warp.
        WARPFOLD_DEVICE void store() {
            stored = loaded;
            if (alignof(Element) <= 4 && shifted == 1)
                store_shifted<1>();
            else if (alignof(Element) <= 8 && shifted == 2)
                store_shifted<2>();
            else if (alignof(Element) <= 4 && shifted == 3)
                store_shifted<3>();
            else
                store_shifted<0>();
        }

        // Iterates over the groups of a lane.
        class Groups : Index {
            const unsigned char *at, *end;
            unsigned skipped;

            WARPFOLD_DEVICE Index index() const { return *this; }

          public:
            WARPFOLD_DEVICE Groups(Index index, const unsigned char* at, const unsigned char* end, unsigned skipped)
                : Index(index), at(at), end(end), skipped(skipped) {}
            // Skips `groups` groups.
            WARPFOLD_DEVICE Groups after(unsigned groups) const {
                const unsigned count = groups * Shape::GROUP_ITEMS;
                return Groups(index() + count, at + count * sizeof(Element), end, skipped);
            }
            // Loads the first group. `is_last` tells whether it is the last group of the lane.
            WARPFOLD_DEVICE Group<Shape> first(bool is_last) const {
                Group<Shape> group;
                group.load_exchanged(index(), at, is_last ? end : at + Shape::GROUP_ITEMS * sizeof(Element), skipped);
                return group;
            }
        };
        WARPFOLD_DEVICE Groups groups() const {
            const unsigned run = lane_index() * RUN;
            return Groups(stored + lane_index() * (Shape::GROUP_ITEMS * Shape::ROWS), staging + place(run), staging + place(run + RUN), skipped);
        }
    };

    // Whether the items at `from` are copied by the widest loads.
    template <class Layout>
    static WARPFOLD_DEVICE bool copies_chunks(Cursor from) { return from.is_multiple_of(Layout::CHUNK); }

    // Copies the items of a warp to shared memory, to the addresses that `Layout` gives. `present`
    // of ITEMS items exist, at least one. The others are copies of the last item of the input, and
    // their results are discarded. With IS_ASYNC a whole set of items is copied asynchronously,
    // while other groups of warps work.
    template <class Layout, unsigned ITEMS, bool IS_ASYNC>
    static WARPFOLD_DEVICE void copy_items(unsigned char* bytes, Cursor from, Size present, Cursor last) {
        static_assert(COPIES_ITEMS && IsSame<Element, Item>::VALUE, "bytes are copied");
        constexpr unsigned CHUNK = Layout::CHUNK;
        // The width that the address of every element allows.
        constexpr unsigned WIDTH = WORD_WIDTH < CHUNK ? WORD_WIDTH : CHUNK;
        if (present >= ITEMS) {
            if (copies_chunks<Layout>(from))
                copy_whole<Layout, CHUNK, IS_ASYNC>(bytes, from);
            else if (CHUNK > 4 && from.is_multiple_of(4))
                copy_whole<Layout, (CHUNK > 4 ? 4 : CHUNK), IS_ASYNC>(bytes, from);
            else
                copy_whole<Layout, WIDTH, IS_ASYNC>(bytes, from);
            return;
        }
        // Whole chunks as far as items exist, and the rest in words of WIDTH bytes.
        const char* const items = reinterpret_cast<const char*>(from.elements());
        const char* const last_item = reinterpret_cast<const char*>(last.elements());
        const unsigned existing = static_cast<unsigned>(present) * sizeof(Item);
        const unsigned whole = copies_chunks<Layout>(from) ? existing / CHUNK * CHUNK : 0;
        copy_words<Layout, CHUNK>(bytes, 0, whole, [=](unsigned at) { return items + at; });
        copy_words<Layout, WIDTH>(bytes, whole, ITEMS * sizeof(Item), [=](unsigned at) {
            return at < existing ? items + at : last_item + at % sizeof(Item);
        });
        async_wait();
    }

  private:
    // Copies the bytes from `begin` to `end`, spread over the lanes. Words of 4 bytes or more are
    // complete after `async_wait`.
    template <class Layout, unsigned WIDTH, class Address>
    static WARPFOLD_DEVICE void copy_words(unsigned char* bytes, unsigned begin, unsigned end, const Address& address_of) {
        constexpr unsigned STEP = WIDTH * WARP_LANES, AHEAD = 8;
        if constexpr (WIDTH >= 4) {
#pragma unroll(AHEAD / 2)
            for (unsigned at = begin + WIDTH * lane_index(); at < end; at += STEP)
                async_copy<WIDTH>(bytes + Layout::of_byte(at), address_of(at));
            return;
        }
#pragma unroll 1
        for (unsigned first = begin + WIDTH * lane_index(); first < end; first += AHEAD * STEP) {
            unsigned word[AHEAD];
            // No branch, so that all loads are in flight together. Past the end, the last word is
            // loaded.
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k)
                word[k] = read<WIDTH>(address_of(first + k * STEP < end ? first + k * STEP : end - WIDTH)).word[0];
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k) {
                if (first + k * STEP < end) write<WIDTH>(bytes + Layout::of_byte(first + k * STEP), &word[k]);
            }
        }
    }

    template <class Layout, unsigned WIDTH, bool IS_ASYNC>
    static WARPFOLD_DEVICE void copy_whole(unsigned char* bytes, Cursor cursor) {
        constexpr unsigned STEPS = Layout::CHUNKS * Layout::CHUNK / (WARP_LANES * WIDTH), WORDS = WIDTH < 4 ? 1 : WIDTH / 4, AHEAD = 8;
        const char* const from = reinterpret_cast<const char*>(cursor.elements());
        // The loading group has no other work, so it waits at once.
        if constexpr (IS_ASYNC && WIDTH >= 4) {
#pragma unroll(2 * AHEAD)
            for (unsigned step = 0; step < STEPS; ++step) {
                const unsigned at = WIDTH * (WARP_LANES * step + lane_index());
                async_copy<WIDTH>(bytes + Layout::of_byte(at), from + at);
            }
            async_wait();
            return;
        }
#pragma unroll 1
        for (unsigned step = 0; step < STEPS; step += AHEAD) {
            unsigned word[AHEAD][WORDS];
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k) {
                if (STEPS % AHEAD != 0 && step + k >= STEPS) break;
                const Load<WIDTH> loaded = read<WIDTH>(from + WIDTH * (WARP_LANES * (step + k) + lane_index()));
#pragma unroll
                for (unsigned w = 0; w < WORDS; ++w) word[k][w] = loaded.word[w];
            }
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k) {
                if (STEPS % AHEAD != 0 && step + k >= STEPS) break;
                write<WIDTH>(bytes + Layout::of_byte(WIDTH * (WARP_LANES * (step + k) + lane_index())), word[k]);
            }
        }
    }
};

// The reader of an array of integers, for an operator with a packed form.
template <class Element, class Form>
using PackedArrayReader = ArrayReader<Element, Packed<Form>>;

}  // namespace warpfold
