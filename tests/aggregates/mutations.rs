//! Mistakes in what readers and kernels do for aggregates alone. The tests must find each of them.

use support::mutations::Mutation;

pub const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "an index that does not advance in a group",
        file: "read/array.cuh",
        right: "return Prepare::item(op, first_index + index, element);",
        wrong: "return Prepare::item(op, first_index, element);",
    },
    Mutation {
        name: "the index of a row for all its groups",
        file: "read/array.cuh",
        right: "first_index = row.index() + first;",
        wrong: "first_index = row.index();",
    },
    Mutation {
        name: "the index of another tile",
        file: "read/array.cuh",
        right: "            stored = loaded;\n",
        wrong: "",
    },
    Mutation {
        name: "the index of the first lane for all lanes",
        file: "read/array.cuh",
        right: "return Groups(stored + lane_index() * (Shape::GROUP_ITEMS * Shape::ROWS), ",
        wrong: "return Groups(stored, ",
    },
    Mutation {
        name: "groups of a lane with one index",
        file: "read/array.cuh",
        right: "return Groups(index() + count, ",
        wrong: "return Groups(index(), ",
    },
    Mutation {
        name: "an input that begins with element 1",
        file: "read/array.cuh",
        right: "ElementIndex<true> index() const { return {first}; }",
        wrong: "ElementIndex<true> index() const { return {first + 1}; }",
    },
    Mutation {
        name: "one array at the place of another",
        file: "read/in_step.cuh",
        right: "Cursor operator+(Size count) const { return Cursor(head + count, tail + count); }",
        wrong: "Cursor operator+(Size count) const { return Cursor(head + count, tail + (count > 64 ? count - 1 : count)); }",
    },
    Mutation {
        name: "the tail of one array",
        file: "read/in_step.cuh",
        right: "tail.load_present(row.tail, first, present);",
        wrong: "tail.load_present(row.tail, first, PrefixMask{present.count + 1});",
    },
    Mutation {
        name: "tiles that share their memory",
        file: "read/in_step.cuh",
        right: "tail(shared + First::BYTES, ",
        wrong: "tail(shared, ",
    },
    Mutation {
        name: "a wide load where one array is aligned",
        file: "read/in_step.cuh",
        right: "loads_whole(from.head) && Tail",
        wrong: "loads_whole(from.head) || Tail",
    },
    Mutation {
        name: "the index of another tile of several arrays",
        file: "read/in_step.cuh",
        right: "            stored = loaded;\n",
        wrong: "",
    },
    Mutation {
        name: "groups of indices that begin alike",
        file: "read/index.cuh",
        right: "*this = Group(row.index() + first);",
        wrong: "*this = Group(row.index());",
    },
    Mutation {
        name: "a tile of indices that comes too soon",
        file: "read/index.cuh",
        right: "void store() { stored = loaded; }",
        wrong: "void store() {}",
    },
    Mutation {
        name: "an element that does not exist, accumulated",
        file: "core/warp.cuh",
        right: "if (present.has(i)) group.accumulate(op, item, i);",
        wrong: "group.accumulate(op, item, i);",
    },
    Mutation {
        name: "an element that is not accumulated",
        file: "core/warp.cuh",
        right: "for (unsigned i = 1; i < COUNT; ++i)\n        if (present.has(i)) group",
        wrong: "for (unsigned i = 2; i < COUNT; ++i)\n        if (present.has(i)) group",
    },
    Mutation {
        name: "an accumulated element with the index of its group",
        file: "read/array.cuh",
        right: "op.accumulate(item, (first_index + index).index, ",
        wrong: "op.accumulate(item, first_index.index, ",
    },
    Mutation {
        name: "an accumulated element of several arrays with the index of its group",
        file: "read/in_step.cuh",
        right: "op.accumulate(item, (first_index + index).index, ",
        wrong: "op.accumulate(item, first_index.index, ",
    },
    Mutation {
        name: "an accumulated index of its group",
        file: "read/index.cuh",
        right: "op.accumulate(item, (first_index + index).index, ",
        wrong: "op.accumulate(item, first_index.index, ",
    },
    Mutation {
        name: "a count with one more",
        file: "core/prepare.cuh",
        right: "op.present(item, op.presented - 1)",
        wrong: "op.present(item, op.presented)",
    },
    Mutation {
        name: "a partial that is presented",
        file: "core/prepare.cuh",
        right: "if (op.presented == 0) return false;",
        wrong: "",
    },
    Mutation {
        name: "a result that is not presented",
        file: "reduce/partials.cuh",
        right: "else if (!(PRESENTS<Operator> && present(op, value.item(), to)))",
        wrong: "else",
    },
    Mutation {
        name: "a scan that prepares elements past the end",
        file: "scan/staging.cuh",
        right: "            if (index < present) return begin + index;\n            return end;\n",
        wrong: "            return begin + index;\n",
    },
    Mutation {
        name: "a scan that skips the rest of its elements",
        file: "scan/staging.cuh",
        right: "for (unsigned step = 0; step < STEPS; step += AT_ONCE) {\n            Words",
        wrong: "for (unsigned step = 0; step + AT_ONCE <= STEPS - 1; step += AT_ONCE) {\n            Words",
    },
    Mutation {
        name: "a count of an inclusive scan with one less",
        file: "scan/scan.cuh",
        right: "exclusive ? begin : begin + 1",
        wrong: "begin",
    },
    Mutation {
        name: "places of a scan with one count",
        file: "scan/staging.cuh",
        right: "count + index)).store(results + index)",
        wrong: "count)).store(results + index)",
    },
    Mutation {
        name: "results of a scan past the end",
        file: "scan/staging.cuh",
        right: "const unsigned existing = present < ITEMS ? static_cast<unsigned>(present) : ITEMS;",
        wrong: "const unsigned existing = ITEMS;",
    },
    Mutation {
        name: "a scan that stores items instead of results",
        file: "scan/scan.cuh",
        right: "if constexpr (!IS_PRESENTED) direct = staging.run_of(output + begin, present);",
        wrong: "direct = staging.run_of(reinterpret_cast<Item*>(output) + begin, present);",
    },
];
