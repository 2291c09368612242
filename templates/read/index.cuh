// The reader of the index alone: elements without an array. Nothing is loaded.

namespace warpfold {

template <class Element_, class Prepare>
class IndexReader {
    typedef ElementIndex<true> Index;

  public:
    typedef Element_ Element;
    typedef typename Prepare::template Item<Element> Item;
    static constexpr bool COPIES_ITEMS = false, ACCUMULATES = Prepare::ACCUMULATES;

    struct Input {
        Size first;
    };

    class Cursor : Index {
        WARPFOLD_DEVICE explicit Cursor(Index index) : Index(index) {}

      public:
        WARPFOLD_DEVICE explicit Cursor(const Input& input) : Index{input.first} {}
        WARPFOLD_DEVICE Index index() const { return *this; }
        WARPFOLD_DEVICE Cursor operator+(Size count) const { return Cursor(index() + count); }
        // No earlier launch writes indices. The wait orders the kernel's output.
        WARPFOLD_DEVICE Cursor after_grid_dependency() const {
            ::warpfold::grid_dependency_wait(static_cast<const Item*>(nullptr));
            return *this;
        }
        template <unsigned LEVEL>
        WARPFOLD_DEVICE void prefetch(unsigned) const {}
    };

    template <class Operator>
    static WARPFOLD_DEVICE Words<Item> item(const Operator& op, Cursor from) {
        return Prepare::of(op, from.index(), Element());
    }

    template <class Shape>
    class Group {
        Index first_index;
        // The last index of the group that exists, counted in the group.
        unsigned last;

      public:
        static constexpr unsigned WIDTH = Shape::WIDTH;
        static constexpr bool HAS_WHOLE = WIDTH >= 4;

        WARPFOLD_DEVICE Group() {}
        WARPFOLD_DEVICE explicit Group(Index index) : first_index(index), last(Shape::GROUP_ITEMS - 1) {}

        static WARPFOLD_DEVICE bool loads_whole(Cursor) { return HAS_WHOLE; }
        WARPFOLD_DEVICE void load_whole(Cursor from) { *this = Group(from.index()); }
        WARPFOLD_DEVICE void load_present(Cursor row, unsigned first, PrefixMask present) {
            *this = Group(row.index() + first);
            last = smaller(present.count - 1 - first, Shape::GROUP_ITEMS - 1);
        }

        template <class Operator, class Present>
        WARPFOLD_DEVICE Words<Item> item(const Operator& op, unsigned index, Present) const {
            return Prepare::of(op, first_index + smaller(index, last), Element());
        }
        // Combines an item with the element at `index`, which exists.
        template <class Operator>
        WARPFOLD_DEVICE void accumulate(const Operator& op, Item& item, unsigned index) const {
            item = op.accumulate(item, (first_index + index).index, Element());
        }

        template <class Operator, class Present>
        WARPFOLD_DEVICE Words<Item> bracket(const Operator& op, Present present) const {
            return bracket_of_group<Prepare, Item, Shape::GROUP_ITEMS>(op, *this, present);
        }
    };

    template <class Shape>
    class Tile {
        Index loaded, stored;

      public:
        static constexpr unsigned BYTES = 0;

        WARPFOLD_DEVICE Tile(unsigned char*, Cursor, Cursor) {}
        WARPFOLD_DEVICE void load(Cursor from) { loaded = from.index(); }
        WARPFOLD_DEVICE void store() { stored = loaded; }

        class Groups : Index {
            WARPFOLD_DEVICE Index index() const { return *this; }

          public:
            WARPFOLD_DEVICE explicit Groups(Index index) : Index(index) {}
            WARPFOLD_DEVICE Groups after(unsigned groups) const { return Groups(index() + groups * Shape::GROUP_ITEMS); }
            WARPFOLD_DEVICE Group<Shape> first(bool) const { return Group<Shape>(index()); }
        };
        WARPFOLD_DEVICE Groups groups() const { return Groups(stored + lane_index() * (Shape::GROUP_ITEMS * Shape::ROWS)); }
    };
};

}  // namespace warpfold
