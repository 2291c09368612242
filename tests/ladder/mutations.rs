//! Mistakes in the templates of the ladder. The tests must find each of them.

use support::mutations::Mutation;

pub const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "a barrier left out of a tree",
        file: "ladder/interleaved.cu",
        right: "        block_barrier();\n",
        wrong: "",
    },
    Mutation {
        name: "operands in the wrong order",
        file: "ladder/rung.cuh",
        right: "combine(op, values[left], values[right])",
        wrong: "combine(op, values[right], values[left])",
    },
    Mutation {
        name: "an odd item left out",
        file: "ladder/bottom_up.cu",
        right: "if (right < arguments.length)",
        wrong: "if (right + 1 < arguments.length)",
    },
    Mutation {
        name: "a middle item combined with itself",
        file: "ladder/global_halving.cu",
        right: "if (index + half < arguments.length)",
        wrong: "if (index + half <= arguments.length)",
    },
    Mutation {
        name: "a part that is one item short",
        file: "ladder/top_down.cu",
        right: "end = smaller(begin + part, arguments.length)",
        wrong: "end = smaller(begin + part - 1, arguments.length)",
    },
    Mutation {
        name: "items read after the end of the input",
        file: "ladder/rung.cuh",
        right: "if (place < count)",
        wrong: "if (place <= count)",
    },
    Mutation {
        name: "the place after the last value",
        file: "ladder/rung.cuh",
        right: "if (right < count)",
        wrong: "if (right <= count)",
    },
    Mutation {
        name: "the lane after the last value",
        file: "ladder/shuffles.cu",
        right: "if (lane_index() + half < count)",
        wrong: "if (lane_index() + half <= count)",
    },
    Mutation {
        name: "a subtree without its last places",
        file: "ladder/brent_kung.cu",
        right: "if (end < values.count)",
        wrong: "if (end < ITEMS)",
    },
    Mutation {
        name: "the last warp without its barriers",
        file: "ladder/last_warp.cu",
        right: "        warp_barrier();\n",
        wrong: "",
    },
    Mutation {
        name: "levels of a warp by a block",
        file: "ladder/unrolled.cu",
        right: "HALF >= WARP_LANES",
        wrong: "HALF > WARP_LANES",
    },
    Mutation {
        name: "the first level left out",
        file: "ladder/first_combine.cu",
        right: "half = Shape::THREADS / 2; half > 0",
        wrong: "half = Shape::THREADS / 4; half > 0",
    },
    Mutation {
        name: "warps that are not waited for",
        file: "ladder/shuffles.cu",
        right: "    block_barrier();\n",
        wrong: "",
    },
    Mutation {
        name: "blocks that overlap",
        file: "ladder/first_combine.cu",
        right: "(2 * Shape::THREADS) + thread_index()",
        wrong: "(2 * Shape::THREADS - 1) + thread_index()",
    },
    Mutation {
        name: "partials without a fence",
        file: "ladder/last_block.cu",
        right: "        fence();\n        *is_last",
        wrong: "        *is_last",
    },
    Mutation {
        name: "partials read without a fence",
        file: "ladder/last_block.cu",
        right: "block_count() - 1;\n        fence();\n",
        wrong: "block_count() - 1;\n",
    },
    Mutation {
        name: "a sum that is not given back",
        file: "ladder/atomics.cu",
        right: "        publish(word, 0);\n        publish(count, 0);\n",
        wrong: "        publish(count, 0);\n",
    },
    Mutation {
        name: "a ticket that is not given back",
        file: "ladder/last_block.cu",
        right: "    publish(arguments.shared, 0);\n",
        wrong: "",
    },
    Mutation {
        name: "a partial that is written over",
        file: "ladder/atomics.cu",
        right: "compare_and_swap(word, seen, wanted)",
        wrong: "(publish(word, wanted), seen)",
    },
    Mutation {
        name: "a step that is read while it is written",
        file: "ladder/kogge_stone.cu",
        right: "        block_barrier();\n        if (has_value) values.set",
        wrong: "        if (has_value) values.set",
    },
    Mutation {
        name: "a way down that begins too low",
        file: "ladder/brent_kung.cu",
        right: "distance = Shape::THREADS / 2",
        wrong: "distance = Shape::THREADS / 4",
    },
    Mutation {
        name: "the values of the blocks not added to the first ones",
        file: "ladder/hierarchical.cu",
        right: "if (block > 0)",
        wrong: "if (block > 1)",
    },
    Mutation {
        name: "a shift by nothing",
        file: "ladder/exclusive.cu",
        right: "arguments.input + index - 1",
        wrong: "arguments.input + index",
    },
];
