// The step between an element, which a reader loads, and an item, which a primitive combines.

namespace warpfold {

// An element is an item.
struct NoPrepare {
    // Whether a whole group is combined as words.
    static constexpr bool READS_WORDS = false;
    template <class Element>
    using Item = Element;
    template <class Operator, class Element>
    static WARPFOLD_DEVICE Words<Element> item(const Operator&, const Words<Element>& element) {
        return element;
    }
};

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
