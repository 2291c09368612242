// The step between an element, which a reader loads, and an item, which a primitive combines.

namespace warpfold {

// The index of an element in the input, where items depend on it.
template <bool IS_KEPT>
struct ElementIndex {
    Size index;
    WARPFOLD_DEVICE ElementIndex operator+(Size count) const { return {index + count}; }
};
template <>
struct ElementIndex<false> {
    WARPFOLD_DEVICE ElementIndex operator+(Size) const { return *this; }
};

// An element is an item.
struct NoPrepare {
    static constexpr bool HAS_INDEX = false;
    // Whether a whole group is combined as words.
    static constexpr bool READS_WORDS = false;
    // Whether an item is combined with elements one by one.
    static constexpr bool ACCUMULATES = false;
    template <class Element>
    using Item = Element;
    template <class Operator, class Element>
    static WARPFOLD_DEVICE Words<Element> item(const Operator&, ElementIndex<false>, const Words<Element>& element) {
        return element;
    }
};

// The operator makes an item of an element and its index.
template <class Item_>
struct PrepareBy {
    static constexpr bool HAS_INDEX = true, READS_WORDS = false, ACCUMULATES = false;
    template <class Element>
    using Item = Item_;
    template <class Operator, class Element>
    static WARPFOLD_DEVICE Words<Item_> item(const Operator& op, ElementIndex<true> at, const Words<Element>& element) {
        return of(op, at, element.item());
    }
    template <class Operator, class Element>
    static WARPFOLD_DEVICE Words<Item_> of(const Operator& op, ElementIndex<true> at, const Element& element) {
        return Words<Item_>(op.prepare(at.index, element));
    }
};

// The same, and the operator combines an item with the next element, without an item of it.
template <class Item_>
struct AccumulateBy : PrepareBy<Item_> {
    static constexpr bool ACCUMULATES = true;
};

// Whether the operator is of an aggregate, which presents a result.
template <class Operator, class = void>
constexpr bool PRESENTS = false;
template <class Operator>
constexpr bool PRESENTS<Operator, typename packed::Exists<typename Operator::Output>::Type> = true;

// The type of a result: what the operator presents, or an item.
template <bool IS_PRESENTED, class Operator, class Item>
struct ResultOf {
    typedef Item Type;
};
template <class Operator, class Item>
struct ResultOf<true, Operator, Item> {
    typedef typename Operator::Output Type;
};

// Writes the value of `count` elements to a place of an output: at the end of an aggregate what the
// operator presents. The items of other operators, and of earlier launches, are written as they are.
template <class Operator, class Item>
WARPFOLD_DEVICE void store_value(const Operator& op, const Words<Item>& value, void* output, Size place, Size count) {
    if constexpr (PRESENTS<Operator>) {
        if (op.presented != 0) {
            typedef typename Operator::Output Output;
            Words<Output>(op.present(value.item(), count)).store(static_cast<Output*>(output) + place);
            return;
        }
    }
    value.store(static_cast<Item*>(output) + place);
}
// The same for as many elements as the operator says.
template <class Operator, class Item>
WARPFOLD_DEVICE void store_value(const Operator& op, const Words<Item>& value, void* output, Size place) {
    if constexpr (PRESENTS<Operator>)
        store_value(op, value, output, place, op.presented - 1);
    else
        store_value(op, value, output, place, 0);
}

// An element is an item, and the operator has a packed form.
template <class Form>
struct Packed : NoPrepare {
    static constexpr bool READS_WORDS = Form::IS_FASTER;
    template <class Item, unsigned COUNT>
    static WARPFOLD_DEVICE Words<Item> from_words(const unsigned (&word)[COUNT]) {
        Words<Item> value;
        value.word[0] = Form::of(word);
        return value;
    }
};

}  // namespace warpfold
