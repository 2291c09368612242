//! Mistakes in the kernels of rows, columns and segments. The tests must find each of them.

use support::mutations::Mutation;

pub const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "the first chunk of a window for all lanes",
        file: "read/window.cuh",
        right: "const char* source = first + whole + CHUNK * lane_index();",
        wrong: "const char* source = first + whole;",
    },
    Mutation {
        name: "a window without its end",
        file: "read/window.cuh",
        right: "        if (lane_index() < WORDS && after < end) copy_word(first, after + 4 * lane_index(), skipped, end);\n",
        wrong: "",
    },
    Mutation {
        name: "a window without its begin",
        file: "read/window.cuh",
        right: "        if (lane_index() < WORDS && whole > 0) copy_word(first, 4 * lane_index(), skipped, end);\n",
        wrong: "",
    },
    Mutation {
        name: "windows of two arrays in one place",
        file: "read/window.cuh",
        right: "tail(shared + Head::bytes(most), most)",
        wrong: "tail(shared, most)",
    },
    Mutation {
        name: "the bits of a byte from the first one on",
        file: "read/window.cuh",
        right: "const unsigned bit = before + index;",
        wrong: "const unsigned bit = index;",
    },
    Mutation {
        name: "wide reads from any address",
        file: "read/window.cuh",
        right: "(skipped | step * sizeof(Element)) % WIDTH<COUNT> == 0",
        wrong: "COUNT > 0",
    },
    Mutation {
        name: "the index of the first unit for all units",
        file: "segments/lane_run.cuh",
        right: "place += UNIT, index += UNIT;",
        wrong: "place += UNIT;",
    },
    Mutation {
        name: "a smaller part of a run to the left of a larger one",
        file: "segments/lane_run.cuh",
        right: "value = combine(op, part, value);",
        wrong: "value = combine(op, value, part);",
    },
    Mutation {
        name: "a run without the rest of a unit",
        file: "segments/lane_run.cuh",
        right: "rest<1>(op, place, index, count % UNIT, has_value, value);",
        wrong: "if (units == 0) rest<1>(op, place, index, count % UNIT, has_value, value);",
    },
    Mutation {
        name: "the window before again",
        file: "segments/by_lanes.cuh",
        right: "window = next_window, next_window = read;",
        wrong: "",
    },
    Mutation {
        name: "lanes that have no run are combined",
        file: "segments/by_lanes.cuh",
        right: "combine_if(op, lane + distance < lanes,",
        wrong: "combine_if(op, lane + distance <= lanes,",
    },
    Mutation {
        name: "segments without gaps",
        file: "segments/by_lanes.cuh",
        right: "to.copy(input + segment * arguments.pitch,",
        wrong: "to.copy(input + segment * length,",
    },
    Mutation {
        name: "a window that is overwritten too soon",
        file: "segments/by_lanes.cuh",
        right: "        // Also, all lanes have read the other window before it is overwritten.\n        warp_barrier();\n",
        wrong: "",
    },
    Mutation {
        name: "the index in the whole input",
        file: "segments/arguments.cuh",
        right: "    input.first -= begin;\n",
        wrong: "",
    },
    Mutation {
        name: "the first chunk of a segment for all",
        file: "segments/by_warps.cuh",
        right: "const Size offset = (chunk - segment * of_segment) << chunk_level;",
        wrong: "const Size offset = 0;",
    },
    Mutation {
        name: "the rows of the first chunk for all chunks of a column",
        file: "segments/by_columns.cuh",
        right: "row = chunk << arguments.run_level;",
        wrong: "row = 0;",
    },
    Mutation {
        name: "a column that is a row",
        file: "segments/by_columns.cuh",
        right: "begin + row * stride - row, row, 0",
        wrong: "begin, row, 0",
    },
    Mutation {
        name: "a segment that ends past the input",
        file: "segments/by_offsets.cuh",
        right: "if (begin > end || end > arguments.length || end == ~Size(0)) {",
        wrong: "if (begin > end) {",
    },
    Mutation {
        name: "negative offsets are large numbers",
        file: "segments/by_offsets.cuh",
        right: "return is_signed ? static_cast<Size>(static_cast<long long>(static_cast<int>(word))) : word;",
        wrong: "return word & 0x7f;",
    },
    Mutation {
        name: "runs that are too short",
        file: "segments/by_offsets.cuh",
        right: "least <= 4 ? 2 : 32 - count_leading_zeros(least - 1)",
        wrong: "least <= 4 ? 2 : 31 - count_leading_zeros(least - 1)",
    },
    Mutation {
        name: "an empty segment among others",
        file: "segments/by_offsets.cuh",
        right: "const bool has_segment = number < taken && own_of_from > 0;",
        wrong: "const bool has_segment = number < taken;",
    },
    Mutation {
        name: "the number of partials for the length of a segment",
        file: "segments/by_offsets.cuh",
        right: "        if (arguments.has_lengths != 0) presented = bound_of(arguments.ends, arguments.segments + segment, 8, false);\n",
        wrong: "",
    },
    Mutation {
        name: "a window of a long segment as two",
        file: "segments/by_offsets.cuh",
        right: "counter.push(op, value, 0);",
        wrong: "counter.push(op, value, offset == 0 ? 0 : 1);",
    },
];
