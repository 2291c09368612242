// The reader of a bitmap, one of several arrays in step: one bit an element, from the least
// significant bit of a byte on. It begins at any bit.
//
// A lane loads the bytes of its own elements, so lanes exchange nothing. Each bit of such a byte is
// a valid element.
//
// Invariant: no load touches a byte without an element of the input.

namespace warpfold {

class BitReader {
  public:
    // 8 times the address of the first byte, plus the number of the first bit.
    struct Input {
        const Bit* elements;
    };

    class Cursor {
        const Bit* at;

      public:
        WARPFOLD_DEVICE explicit Cursor(const Bit* at) : at(at) {}
        WARPFOLD_DEVICE explicit Cursor(const Input& input) : at(input.elements) {}
        WARPFOLD_DEVICE Size bit() const { return reinterpret_cast<Size>(at); }
        WARPFOLD_DEVICE Cursor operator+(Size count) const { return Cursor(reinterpret_cast<const Bit*>(bit() + count)); }
        WARPFOLD_DEVICE Cursor after_grid_dependency() const { return Cursor(::warpfold::grid_dependency_wait(at)); }
        template <unsigned LEVEL>
        WARPFOLD_DEVICE void prefetch(unsigned count) const {
            constexpr unsigned LINE = 128;
#pragma unroll 1
            for (unsigned from = LINE * lane_index(); 8 * from < count; from += LINE * WARP_LANES)
                ::warpfold::prefetch<LEVEL>(reinterpret_cast<const char*>(bit() / 8) + from);
        }
    };

  private:
    // Loads `count` bits, at least one, into the low bits of a word. MOST bounds `count`, and is at
    // most 32.
    template <unsigned MOST>
    static WARPFOLD_DEVICE unsigned load(Cursor from, unsigned count) {
        const char* const bytes = reinterpret_cast<const char*>(from.bit() / 8);
        const unsigned skipped = from.bit() % 8;
        unsigned low = load_written<1>(bytes).word[0], high = 0;
#pragma unroll
        for (unsigned k = 1; k < (MOST + 14) / 8; ++k) {
            if (8 * k >= skipped + count) continue;
            const unsigned byte = load_written<1>(bytes + k).word[0];
            if (k < 4)
                low |= byte << (8 * k % 32);
            else
                high = byte;
        }
        return funnel_shift(low, high, skipped);
    }

  public:
    template <class Operator>
    static WARPFOLD_DEVICE Words<Bit> item(const Operator&, Cursor from) {
        return Words<Bit>(Bit{(load<1>(from, 1) & 1) != 0});
    }

    template <class Shape>
    class Group {
        static constexpr unsigned COUNT = Shape::GROUP_ITEMS;
        static_assert(COUNT <= 32, "a group is one word of bits");

        unsigned bits;

      public:
        WARPFOLD_DEVICE Group() {}
        WARPFOLD_DEVICE explicit Group(unsigned bits) : bits(bits) {}

        static WARPFOLD_DEVICE bool loads_whole(Cursor) { return true; }
        WARPFOLD_DEVICE void load_whole(Cursor from) { bits = load<COUNT>(from, COUNT); }
        WARPFOLD_DEVICE void load_present(Cursor row, unsigned first, PrefixMask present) {
            bits = load<COUNT>(row + first, static_cast<unsigned>(smaller(present.count - first, COUNT)));
        }
        template <class Operator, class Present>
        WARPFOLD_DEVICE Words<Bit> item(const Operator&, unsigned index, Present) const {
            return Words<Bit>(Bit{(bits >> index & 1) != 0});
        }
    };

    template <class Shape>
    class Tile {
        static constexpr unsigned ITEMS = Shape::GROUP_ITEMS * Shape::ROWS, PART = ITEMS < 32 ? ITEMS : 32;
        static constexpr unsigned WORDS = ITEMS / PART;

        struct Bits {
            unsigned word[WORDS];
        };
        // The bits of the tile that was loaded, and of the one that was stored.
        Bits loaded, stored;

      public:
        static constexpr unsigned BYTES = 0;

        WARPFOLD_DEVICE Tile(unsigned char*, Cursor, Cursor) {}
        WARPFOLD_DEVICE void load(Cursor from) {
            const Cursor begin = from + lane_index() * ITEMS;
#pragma unroll
            for (unsigned k = 0; k < WORDS; ++k) loaded.word[k] = BitReader::load<PART>(begin + k * PART, PART);
        }
        WARPFOLD_DEVICE void store() { stored = loaded; }

        class Groups {
            Bits bits;

          public:
            WARPFOLD_DEVICE explicit Groups(const Bits& bits) : bits(bits) {}
            WARPFOLD_DEVICE Groups after(unsigned groups) const {
                Groups rest = *this;
                for (; groups > 0; --groups) {
#pragma unroll
                    for (unsigned k = 0; k < WORDS; ++k) {
                        const unsigned next = k + 1 < WORDS ? rest.bits.word[(k + 1) % WORDS] : 0;
                        rest.bits.word[k] = Shape::GROUP_ITEMS < 32 ? funnel_shift(rest.bits.word[k], next, Shape::GROUP_ITEMS % 32) : next;
                    }
                }
                return rest;
            }
            WARPFOLD_DEVICE Group<Shape> first(bool) const { return Group<Shape>(bits.word[0]); }
        };
        WARPFOLD_DEVICE Groups groups() const { return Groups(stored); }
    };
};

}  // namespace warpfold
