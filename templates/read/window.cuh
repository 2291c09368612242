// Windows: adjacent elements of a reader, in shared memory. Lanes read them at any place.
//
// A warp copies the elements, in chunks of 16 bytes, so each load covers adjacent memory. After every
// 128 bytes 16 are left out. So lanes that read places a power of two apart use different banks.
//
// A primitive uses these members of `Window<Reader>`:
//
// - `bytes(count)`: bytes of shared memory of a window of `count` elements, at any address.
// - `copy`: begins to copy elements. They are there after `async_wait` and a barrier of the warp.
// - `item`: the item that the element at a place becomes.
// - `items`: the items of adjacent elements from a place on, which `reads_together` allows.
// - `accumulate`: combines an item with the element at a place.
//
// Invariant: no load touches a byte outside the elements of the window.

namespace warpfold {

// The elements of one array.
template <class Element>
class ArrayWindow {
    // Bytes that a load may have at the address of any element, at most a word.
    static constexpr unsigned WORD_WIDTH = alignof(Element) < 4 ? alignof(Element) : 4, CHUNK = 16, LINE = 128;

    unsigned char* chunks;
    // Bytes of the first chunk before the first element.
    unsigned skipped;

    static WARPFOLD_DEVICE constexpr unsigned place(unsigned byte) { return byte + CHUNK * (byte / LINE); }
    // Bytes of the widest load that divides the bytes of COUNT elements.
    template <unsigned COUNT>
    static constexpr unsigned WIDTH = lowest_bit(COUNT * sizeof(Element)) < CHUNK ? lowest_bit(COUNT * sizeof(Element)) : CHUNK;

    // Copies the bytes from `begin` to `end` of the word at `at`.
    WARPFOLD_DEVICE void copy_word(const char* first, unsigned at, unsigned begin, unsigned end) const {
        if (at + 4 <= begin || at >= end) return;
        if (WORD_WIDTH == 4 || (at >= begin && at + 4 <= end)) {
            async_copy<4>(chunks + place(at), first + at);
            return;
        }
        unsigned word = 0;
#pragma unroll
        for (unsigned k = 0; k < 4; k += WORD_WIDTH) {
            if (at + k >= begin && at + k < end) word |= load_written<WORD_WIDTH>(first + at + k).word[0] << (8 * k);
        }
        write<4>(chunks + place(at), &word);
    }

  public:
    static WARPFOLD_DEVICE constexpr unsigned bytes(unsigned count) {
        return (place(count * sizeof(Element) + 2 * CHUNK) + LINE - 1) / LINE * LINE;
    }

    WARPFOLD_DEVICE explicit ArrayWindow(unsigned char* shared) : chunks(shared), skipped(0) {}

    WARPFOLD_DEVICE void copy(const Element* from, unsigned count) {
        skipped = reinterpret_cast<Size>(from) % CHUNK;
        const char* const first = reinterpret_cast<const char*>(from) - skipped;
        // Whole chunks, and then the words of the chunks in which the elements begin and end.
        constexpr unsigned STEP = CHUNK * WARP_LANES, WORDS = CHUNK / 4;
        const unsigned end = skipped + count * sizeof(Element), whole = skipped > 0 ? CHUNK : 0;
        const unsigned after = end / CHUNK * CHUNK > whole ? end / CHUNK * CHUNK : whole;
        const char* source = first + whole + CHUNK * lane_index();
        unsigned char* to = chunks + place(whole + CHUNK * lane_index());
#pragma unroll 4
        for (unsigned at = whole + CHUNK * lane_index(); at < after; at += STEP) {
            async_copy<CHUNK>(to, source);
            source += STEP, to += place(STEP);
        }
        if (lane_index() < WORDS && whole > 0) copy_word(first, 4 * lane_index(), skipped, end);
        if (lane_index() < WORDS && after < end) copy_word(first, after + 4 * lane_index(), skipped, end);
    }

    WARPFOLD_DEVICE Words<Element> get(unsigned index) const {
        const unsigned begin = skipped + index * sizeof(Element);
        Group<Element, 1> one;
#pragma unroll(one.UNROLL)
        for (unsigned offset = 0; offset < sizeof(Element); offset += WORD_WIDTH)
            one.put(offset, read<WORD_WIDTH>(chunks + place(begin + offset)));
        return one.get(0);
    }

    // Whether COUNT elements are read together wherever the places are a multiple of COUNT elements
    // from multiples of `step`.
    template <unsigned COUNT>
    WARPFOLD_DEVICE bool reads_together(unsigned step) const {
        return WIDTH<COUNT> > WORD_WIDTH && (skipped | step * sizeof(Element)) % WIDTH<COUNT> == 0;
    }
    template <unsigned COUNT>
    WARPFOLD_DEVICE Group<Element, COUNT> get_together(unsigned index) const {
        const unsigned begin = skipped + index * sizeof(Element);
        Group<Element, COUNT> group;
#pragma unroll(group.UNROLL)
        for (unsigned offset = 0; offset < COUNT * sizeof(Element); offset += WIDTH<COUNT>)
            group.put(offset, read<WIDTH<COUNT>>(chunks + place(begin + offset)));
        return group;
    }
};

// The elements of a bitmap, with the bytes in which they lie.
class BitWindow {
    ArrayWindow<unsigned char> array;
    // Bits of the first byte before the first element.
    unsigned before;

  public:
    static WARPFOLD_DEVICE constexpr unsigned bytes(unsigned count) { return ArrayWindow<unsigned char>::bytes(count / 8 + 2); }

    WARPFOLD_DEVICE explicit BitWindow(unsigned char* shared) : array(shared), before(0) {}

    WARPFOLD_DEVICE void copy(const Bit* from, unsigned count) {
        const Size bit = reinterpret_cast<Size>(from);
        before = bit % 8;
        array.copy(reinterpret_cast<const unsigned char*>(bit / 8), (before + count + 7) / 8);
    }

    WARPFOLD_DEVICE Words<Bit> get(unsigned index) const {
        const unsigned bit = before + index;
        return Words<Bit>(Bit{(array.get(bit / 8).word[0] >> bit % 8 & 1) != 0});
    }
};

template <class Part>
struct PartWindow {
    typedef ArrayWindow<Part> Type;
    template <class Cursor>
    static WARPFOLD_DEVICE const Part* begin(const Cursor& from) { return from.elements(); }
};
template <>
struct PartWindow<Bit> {
    typedef BitWindow Type;
    template <class Cursor>
    static WARPFOLD_DEVICE const Bit* begin(const Cursor& from) { return reinterpret_cast<const Bit*>(from.bit()); }
};

// The windows of arrays in step, as a list: the head is of the first array.
template <class... Parts>
struct Windows;

template <>
struct Windows<> {
    static WARPFOLD_DEVICE constexpr unsigned bytes(unsigned) { return 0; }
    WARPFOLD_DEVICE Windows(unsigned char*, unsigned) {}
    template <class Cursor>
    WARPFOLD_DEVICE void copy(const Cursor&, unsigned) {}
    template <class Element, class... Gotten>
    WARPFOLD_DEVICE Element element(unsigned, const Gotten&... parts) const {
        return Element{parts...};
    }
};

template <class Part, class... Others>
struct Windows<Part, Others...> {
    typedef typename PartWindow<Part>::Type Head;
    typedef Windows<Others...> Tail;

    Head head;
    Tail tail;

    static WARPFOLD_DEVICE constexpr unsigned bytes(unsigned count) { return Head::bytes(count) + Tail::bytes(count); }

    // Windows of up to `most` elements.
    WARPFOLD_DEVICE Windows(unsigned char* shared, unsigned most) : head(shared), tail(shared + Head::bytes(most), most) {}
    template <class Cursor>
    WARPFOLD_DEVICE void copy(const Cursor& from, unsigned count) {
        head.copy(PartWindow<Part>::begin(from.head), count);
        tail.copy(from.tail, count);
    }
    // The element at `index`, after the parts of the earlier arrays.
    template <class Element, class... Gotten>
    WARPFOLD_DEVICE Element element(unsigned index, const Gotten&... parts) const {
        return tail.template element<Element>(index, parts..., head.get(index).item());
    }
};

// The readers, of which a program has one.
template <class Element, class Prepare>
class ArrayReader;
template <class Element, class Prepare, class List>
class InStepReader;
template <class Element, class Prepare>
class IndexReader;

template <class Reader>
class Window;

template <class Element, class Prepare>
class Window<ArrayReader<Element, Prepare>> {
    typedef ArrayReader<Element, Prepare> Reader;
    typedef typename Reader::Item Item;

    ArrayWindow<Element> array;

    static WARPFOLD_DEVICE ElementIndex<Prepare::HAS_INDEX> index_of(Size index) {
        if constexpr (Prepare::HAS_INDEX)
            return {index};
        else
            return {};
    }

  public:
    static WARPFOLD_DEVICE constexpr unsigned bytes(unsigned count) { return ArrayWindow<Element>::bytes(count); }

    WARPFOLD_DEVICE Window(unsigned char* shared, unsigned) : array(shared) {}
    WARPFOLD_DEVICE void copy(typename Reader::Cursor from, unsigned count) { array.copy(from.elements(), count); }
    // The item of the element at a place of the window, which has this index.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> item(const Operator& op, unsigned place, Size index) const {
        return Prepare::item(op, index_of(index), array.get(place));
    }
    // Whether the items of COUNT elements are read together, at places that are a multiple of COUNT
    // from multiples of `step`.
    template <unsigned COUNT>
    WARPFOLD_DEVICE bool reads_together(unsigned step) const {
        return array.template reads_together<COUNT>(step);
    }
    template <unsigned COUNT, class Operator>
    WARPFOLD_DEVICE void items(const Operator& op, unsigned place, Size index, Words<Item> (&item)[COUNT]) const {
        const auto group = array.template get_together<COUNT>(place);
#pragma unroll
        for (unsigned k = 0; k < COUNT; ++k) item[k] = Prepare::item(op, index_of(index + k), group.get(k));
    }
    template <class Operator>
    WARPFOLD_DEVICE void accumulate(const Operator& op, Item& item, unsigned place, Size index) const {
        item = op.accumulate(item, index, array.get(place).item());
    }
};

template <class Element, class Prepare, class... Parts>
class Window<InStepReader<Element, Prepare, TypeList<Parts...>>> {
    typedef InStepReader<Element, Prepare, TypeList<Parts...>> Reader;
    typedef typename Reader::Item Item;

    Windows<Parts...> arrays;

  public:
    static WARPFOLD_DEVICE constexpr unsigned bytes(unsigned count) { return Windows<Parts...>::bytes(count); }

    WARPFOLD_DEVICE Window(unsigned char* shared, unsigned most) : arrays(shared, most) {}
    WARPFOLD_DEVICE void copy(typename Reader::Cursor from, unsigned count) { arrays.copy(from.arrays(), count); }
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> item(const Operator& op, unsigned place, Size index) const {
        return Prepare::of(op, ElementIndex<true>{index}, arrays.template element<Element>(place));
    }
    template <unsigned COUNT>
    WARPFOLD_DEVICE bool reads_together(unsigned) const {
        return false;
    }
    template <unsigned COUNT, class Operator>
    WARPFOLD_DEVICE void items(const Operator&, unsigned, Size, Words<Item> (&)[COUNT]) const {}
    template <class Operator>
    WARPFOLD_DEVICE void accumulate(const Operator& op, Item& item, unsigned place, Size index) const {
        item = op.accumulate(item, index, arrays.template element<Element>(place));
    }
};

template <class Element, class Prepare>
class Window<IndexReader<Element, Prepare>> {
    typedef IndexReader<Element, Prepare> Reader;
    typedef typename Reader::Item Item;

  public:
    static WARPFOLD_DEVICE constexpr unsigned bytes(unsigned) { return 0; }

    WARPFOLD_DEVICE Window(unsigned char*, unsigned) {}
    WARPFOLD_DEVICE void copy(typename Reader::Cursor, unsigned) {}
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> item(const Operator& op, unsigned, Size index) const {
        return Prepare::of(op, ElementIndex<true>{index}, Element());
    }
    template <unsigned COUNT>
    WARPFOLD_DEVICE bool reads_together(unsigned) const {
        return false;
    }
    template <unsigned COUNT, class Operator>
    WARPFOLD_DEVICE void items(const Operator&, unsigned, Size, Words<Item> (&)[COUNT]) const {}
    template <class Operator>
    WARPFOLD_DEVICE void accumulate(const Operator& op, Item& item, unsigned, Size index) const {
        item = op.accumulate(item, index, Element());
    }
};

}  // namespace warpfold
