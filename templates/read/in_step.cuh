// The reader of several arrays in step: an element has one part of each array.
//
// Each array has a reader of its own: a `BitReader` if it is a bitmap, or an `ArrayReader`. The
// parts of an element meet in registers.

namespace warpfold {

template <class Part>
struct PartReader {
    typedef ArrayReader<Part, NoPrepare> Type;
};
template <>
struct PartReader<Bit> {
    typedef BitReader Type;
};

// The readers of the arrays, as a list. Each class below has the head, of the first array, and the
// tail, of the others.
template <class... Parts>
struct InStep;

template <>
struct InStep<> {
    struct Cursor {
        WARPFOLD_DEVICE explicit Cursor(const void* const*) {}
        WARPFOLD_DEVICE Cursor operator+(Size) const { return *this; }
        WARPFOLD_DEVICE Cursor after_grid_dependency() const { return *this; }
        template <unsigned LEVEL>
        WARPFOLD_DEVICE void prefetch(unsigned) const {}
    };

    // The element that consists of the parts.
    template <class Element, class Operator, class... Parts>
    static WARPFOLD_DEVICE Element element(const Operator&, Cursor, const Parts&... parts) {
        return Element{parts...};
    }

    template <class Shape>
    struct Group {
        static WARPFOLD_DEVICE bool loads_whole(Cursor) { return true; }
        WARPFOLD_DEVICE void load_whole(Cursor) {}
        WARPFOLD_DEVICE void load_present(Cursor, unsigned, PrefixMask) {}
        template <class Element, class Operator, class Present, class... Parts>
        WARPFOLD_DEVICE Element element(const Operator&, unsigned, Present, const Parts&... parts) const {
            return Element{parts...};
        }
    };

    template <class Shape>
    struct Tile {
        static constexpr unsigned BYTES = 0;
        struct Groups {
            WARPFOLD_DEVICE Groups after(unsigned) const { return *this; }
            WARPFOLD_DEVICE Group<Shape> first(bool) const { return Group<Shape>(); }
        };
        WARPFOLD_DEVICE Tile(unsigned char*, Cursor, Cursor) {}
        WARPFOLD_DEVICE void load(Cursor) {}
        WARPFOLD_DEVICE void store() {}
        WARPFOLD_DEVICE Groups groups() const { return Groups(); }
    };
};

template <class Part, class... Others>
struct InStep<Part, Others...> {
    typedef typename PartReader<Part>::Type Head;
    typedef InStep<Others...> Tail;

    struct Cursor {
        typename Head::Cursor head;
        typename Tail::Cursor tail;

        WARPFOLD_DEVICE Cursor(typename Head::Cursor head, typename Tail::Cursor tail) : head(head), tail(tail) {}
        WARPFOLD_DEVICE explicit Cursor(const void* const* arrays)
            : head(typename Head::Input{static_cast<const Part*>(arrays[0])}), tail(arrays + 1) {}
        WARPFOLD_DEVICE Cursor operator+(Size count) const { return Cursor(head + count, tail + count); }
        WARPFOLD_DEVICE Cursor after_grid_dependency() const {
            return Cursor(head.after_grid_dependency(), tail.after_grid_dependency());
        }
        template <unsigned LEVEL>
        WARPFOLD_DEVICE void prefetch(unsigned count) const {
            head.template prefetch<LEVEL>(count);
            tail.template prefetch<LEVEL>(count);
        }
    };

    template <class Element, class Operator, class... Parts>
    static WARPFOLD_DEVICE Element element(const Operator& op, Cursor from, const Parts&... parts) {
        return Tail::template element<Element>(op, from.tail, parts..., Head::item(op, from.head).item());
    }

    template <class Shape>
    struct Group {
        typename Head::template Group<Shape> head;
        typename Tail::template Group<Shape> tail;

        static WARPFOLD_DEVICE bool loads_whole(Cursor from) {
            return Head::template Group<Shape>::loads_whole(from.head) && Tail::template Group<Shape>::loads_whole(from.tail);
        }
        WARPFOLD_DEVICE void load_whole(Cursor from) {
            head.load_whole(from.head);
            tail.load_whole(from.tail);
        }
        WARPFOLD_DEVICE void load_present(Cursor row, unsigned first, PrefixMask present) {
            head.load_present(row.head, first, present);
            tail.load_present(row.tail, first, present);
        }
        // The element at `index` of the group, after the parts of the earlier arrays.
        template <class Element, class Operator, class Present, class... Parts>
        WARPFOLD_DEVICE Element element(const Operator& op, unsigned index, Present present, const Parts&... parts) const {
            return tail.template element<Element>(op, index, present, parts..., head.item(op, index, present).item());
        }
    };

    template <class Shape>
    struct Tile {
        typedef typename Head::template Tile<Shape> First;
        typedef typename Tail::template Tile<Shape> Rest;
        static constexpr unsigned BYTES = First::BYTES + Rest::BYTES;

        struct Groups {
            typename First::Groups head;
            typename Rest::Groups tail;
            WARPFOLD_DEVICE Groups after(unsigned groups) const { return {head.after(groups), tail.after(groups)}; }
            WARPFOLD_DEVICE Group<Shape> first(bool is_last) const { return {head.first(is_last), tail.first(is_last)}; }
        };

        First head;
        Rest tail;

        WARPFOLD_DEVICE Tile(unsigned char* shared, Cursor begin, Cursor after)
            : head(shared, begin.head, after.head), tail(shared + First::BYTES, begin.tail, after.tail) {}
        WARPFOLD_DEVICE void load(Cursor from) {
            head.load(from.head);
            tail.load(from.tail);
        }
        WARPFOLD_DEVICE void store() {
            head.store();
            tail.store();
        }
        WARPFOLD_DEVICE Groups groups() const { return {head.groups(), tail.groups()}; }
    };
};

template <class Element, class Prepare, class List>
class InStepReader;

template <class Element_, class Prepare, class... Parts>
class InStepReader<Element_, Prepare, TypeList<Parts...>> {
    typedef InStep<Parts...> Arrays;
    typedef ElementIndex<true> Index;

  public:
    typedef Element_ Element;
    typedef typename Prepare::template Item<Element> Item;
    static constexpr bool COPIES_ITEMS = false, ACCUMULATES = Prepare::ACCUMULATES;

    // The first elements of the arrays, and their index.
    struct Input {
        const void* elements[sizeof...(Parts)];
        Size first;
    };

    class Cursor : Index {
        typename Arrays::Cursor each;

        WARPFOLD_DEVICE Cursor(Index index, typename Arrays::Cursor each) : Index(index), each(each) {}

      public:
        WARPFOLD_DEVICE explicit Cursor(const Input& input) : Index{input.first}, each(input.elements) {}
        WARPFOLD_DEVICE Index index() const { return *this; }
        WARPFOLD_DEVICE typename Arrays::Cursor arrays() const { return each; }
        WARPFOLD_DEVICE Cursor operator+(Size count) const { return Cursor(index() + count, each + count); }
        WARPFOLD_DEVICE Cursor after_grid_dependency() const { return Cursor(index(), each.after_grid_dependency()); }
        template <unsigned LEVEL>
        WARPFOLD_DEVICE void prefetch(unsigned count) const { each.template prefetch<LEVEL>(count); }
    };

    template <class Operator>
    static WARPFOLD_DEVICE Words<Item> item(const Operator& op, Cursor from) {
        return Prepare::of(op, from.index(), Arrays::template element<Element>(op, from.arrays()));
    }

    template <class Shape>
    class Group {
        typedef typename Arrays::template Group<Shape> Groups;

        Groups arrays;
        Index first_index;

      public:
        static constexpr unsigned WIDTH = Shape::WIDTH;
        static constexpr bool HAS_WHOLE = WIDTH >= 4;

        WARPFOLD_DEVICE Group() {}
        WARPFOLD_DEVICE Group(Index index, const Groups& arrays) : arrays(arrays), first_index(index) {}

        static WARPFOLD_DEVICE bool loads_whole(Cursor from) { return HAS_WHOLE && Groups::loads_whole(from.arrays()); }
        WARPFOLD_DEVICE void load_whole(Cursor from) {
            first_index = from.index();
            arrays.load_whole(from.arrays());
        }
        WARPFOLD_DEVICE void load_present(Cursor row, unsigned first, PrefixMask present) {
            first_index = row.index() + first;
            arrays.load_present(row.arrays(), first, present);
        }

        template <class Operator, class Present>
        WARPFOLD_DEVICE Words<Item> item(const Operator& op, unsigned index, Present present) const {
            return Prepare::of(op, first_index + index, arrays.template element<Element>(op, index, present));
        }
        // Combines an item with the element at `index`, which exists.
        template <class Operator>
        WARPFOLD_DEVICE void accumulate(const Operator& op, Item& item, unsigned index) const {
            item = op.accumulate(item, (first_index + index).index, arrays.template element<Element>(op, index, FullMask()));
        }

        template <class Operator, class Present>
        WARPFOLD_DEVICE Words<Item> bracket(const Operator& op, Present present) const {
            return bracket_of_group<Prepare, Item, Shape::GROUP_ITEMS>(op, *this, present);
        }
    };

    template <class Shape>
    class Tile {
        typedef typename Arrays::template Tile<Shape> Tiles;

        Tiles arrays;
        // The index of the first element of the tile that was loaded, and of the one that was
        // stored.
        Index loaded, stored;

      public:
        static constexpr unsigned BYTES = Tiles::BYTES;

        WARPFOLD_DEVICE Tile(unsigned char* shared, Cursor begin, Cursor after) : arrays(shared, begin.arrays(), after.arrays()) {}
        WARPFOLD_DEVICE void load(Cursor from) {
            loaded = from.index();
            arrays.load(from.arrays());
        }
        WARPFOLD_DEVICE void store() {
            stored = loaded;
            arrays.store();
        }

        class Groups : Index {
            typename Tiles::Groups each;

            WARPFOLD_DEVICE Index index() const { return *this; }

          public:
            WARPFOLD_DEVICE Groups(Index index, const typename Tiles::Groups& each) : Index(index), each(each) {}
            WARPFOLD_DEVICE Groups after(unsigned groups) const {
                return Groups(index() + groups * Shape::GROUP_ITEMS, each.after(groups));
            }
            WARPFOLD_DEVICE Group<Shape> first(bool is_last) const { return Group<Shape>(index(), each.first(is_last)); }
        };
        WARPFOLD_DEVICE Groups groups() const {
            return Groups(stored + lane_index() * (Shape::GROUP_ITEMS * Shape::ROWS), arrays.groups());
        }
    };
};

}  // namespace warpfold
