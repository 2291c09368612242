// The elements of a run of one lane, reduced by this lane alone: by a binary counter of units.
//
// `Elements` gives the item of the element at a place: a window in shared memory, or a column. The
// elements of a run are a power of two, except in the last run of a segment. So the value is a node
// of the segment's bracket.

namespace warpfold {

template <class Shape, class Reader, class Elements>
class LaneRuns {
    typedef typename Reader::Item Item;
    // Elements of a unit, which unrolled code reduces. The most elements of a run are 2^LEVELS units.
    static constexpr unsigned UNIT = Shape::UNIT_ITEMS, LEVELS = level_of(Shape::MOST_RUN / UNIT), QUAD = 4;

    const Elements& elements;
    // Whether two or four elements are read at once.
    bool reads_pairs, reads_quads;

    // The value of COUNT elements, which all exist.
    template <unsigned COUNT, class Operator>
    WARPFOLD_DEVICE Words<Item> whole(const Operator& op, unsigned place, Size index) const {
        if constexpr (COUNT == 1) {
            return elements.item(op, place, index);
        } else if constexpr (COUNT <= QUAD) {
            Words<Item> item[COUNT];
            if (COUNT == QUAD ? reads_quads : reads_pairs) {
                elements.items(op, place, index, item);
            } else {
#pragma unroll
                for (unsigned k = 0; k < COUNT; ++k) item[k] = elements.item(op, place + k, index + k);
            }
            const Words<Item> left = combine(op, item[0], item[1]);
            if constexpr (COUNT == 2)
                return left;
            else
                return combine(op, left, combine(op, item[2], item[3]));
        } else {
            const Words<Item> left = whole<COUNT / 2>(op, place, index);
            return combine(op, left, whole<COUNT / 2>(op, place + COUNT / 2, index + COUNT / 2));
        }
    }

    // The value of fewer elements than a unit, from the smallest part to the largest: a part for each
    // set bit of `count`. The larger parts lie to the left.
    template <unsigned COUNT, class Operator>
    WARPFOLD_DEVICE void rest(const Operator& op, unsigned place, Size index, unsigned count, bool& has_value, Words<Item>& value) const {
        if constexpr (COUNT < UNIT) {
            if (count & COUNT) {
                const unsigned before = count & ~(2 * COUNT - 1);
                const Words<Item> part = whole<COUNT>(op, place + before, index + before);
                if (has_value)
                    value = combine(op, part, value);
                else
                    value = part;
                has_value = true;
            }
            rest<2 * COUNT>(op, place, index, count, has_value, value);
        }
    }

  public:
    WARPFOLD_DEVICE LaneRuns(const Elements& elements, bool reads_pairs, bool reads_quads)
        : elements(elements), reads_pairs(reads_pairs), reads_quads(reads_quads) {}

    // The value of `count` elements of a segment, at least one, from a place on. The first one has
    // this index.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> bracket(const Operator& op, unsigned place, Size index, unsigned count) const {
        if constexpr (Reader::ACCUMULATES) {
            Item item = elements.item(op, place, index).item();
#pragma unroll 1
            for (unsigned i = 1; i < count; ++i) elements.accumulate(op, item, place + i, index + i);
            const Item settled = item;
            return Words<Item>(settled);
        } else {
            const unsigned units = count / UNIT;
            Words<Item> value, digit[LEVELS + 1];
#pragma unroll 1
            for (unsigned unit = 0; unit < units; ++unit) {
                value = whole<UNIT>(op, place, index);
                place += UNIT, index += UNIT;
                bool carries = true;
#pragma unroll
                for (unsigned k = 0; k <= LEVELS; ++k) {
                    if (!carries) continue;
                    if (unit >> k & 1)
                        value = combine(op, digit[k], value);
                    else
                        digit[k] = value, carries = false;
                }
            }
            bool has_value = false;
            rest<1>(op, place, index, count % UNIT, has_value, value);
#pragma unroll
            for (unsigned k = 0; k <= LEVELS; ++k) {
                if (!(units >> k & 1)) continue;
                if (has_value)
                    value = combine(op, digit[k], value);
                else
                    value = digit[k];
                has_value = true;
            }
            return value;
        }
    }
};

}  // namespace warpfold
