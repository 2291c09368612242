//! Mistakes in the templates of scans, each of which must be found: one table, and no logic.

use crate::support::simt::Mutation;

pub const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "a barrier missing after the ticket",
        file: "scan.cuh",
        right: "*taken = take_tile(arguments.shared, tiles);\n    block_barrier();\n",
        wrong: "*taken = take_tile(arguments.shared, tiles);\n",
    },
    Mutation {
        name: "a barrier missing before the warps are combined",
        file: "scan.cuh",
        right: "of_warp[warp_index()] = value;\n    block_barrier();\n",
        wrong: "of_warp[warp_index()] = value;\n",
    },
    Mutation {
        name: "a barrier missing after the look back",
        file: "scan.cuh",
        right: "*of_tile = edges;\n    }\n    block_barrier();\n",
        wrong: "*of_tile = edges;\n    }\n",
    },
    Mutation {
        name: "runs that are read before others have stored",
        file: "scan.cuh",
        right: "present, arguments.identity);\n    warp_barrier();\n",
        wrong: "present, arguments.identity);\n",
    },
    Mutation {
        name: "runs that are stored before others have written",
        file: "scan.cuh",
        right: "arguments.exclusive != 0);\n    warp_barrier();\n",
        wrong: "arguments.exclusive != 0);\n",
    },
    Mutation {
        name: "tiles that are not counted again for the next launch",
        file: "scan.cuh",
        right: "publish(next, serial << 32);",
        wrong: "publish(next, taken >> 32 << 32);",
    },
    Mutation {
        name: "cells believed whatever their serial",
        file: "words.cuh",
        right: "static_cast<unsigned>(sent >> 32) == serial;",
        wrong: "sent >> 32 != 0;",
    },
    Mutation {
        name: "a window that is not published",
        file: "scan.cuh",
        right: "        cells.publish(ended + 1, index, value);\n",
        wrong: "",
    },
    Mutation {
        name: "a window published too early",
        file: "scan.cuh",
        right: "index % WARP_LANES == WARP_LANES - 1; ++ended",
        wrong: "index % WARP_LANES >= WARP_LANES - 2; ++ended",
    },
    Mutation {
        name: "the end of a tile found in the wrong window",
        file: "scan.cuh",
        right: "if (level == ended) edges.after",
        wrong: "if (level == 0) edges.after",
    },
    Mutation {
        name: "larger windows forgotten",
        file: "scan.cuh",
        right: "unsigned level = cells.levels(); level-- > 0;",
        wrong: "unsigned level = 1; level-- > 0;",
    },
    Mutation {
        name: "what is before a tile from the wrong lane",
        file: "scan.cuh",
        right: "next = shuffle_from(subtree, end - 1);",
        wrong: "next = shuffle_from(subtree, end % WARP_LANES);",
    },
    Mutation {
        name: "tiles taken for windows of them",
        file: "scan.cuh",
        right: "is_known = level < ended && level == 0;",
        wrong: "is_known = level < ended;",
    },
    Mutation {
        name: "small subtrees before large ones",
        file: "scan.cuh",
        right: "end += 1u << (31 - leading_zeros_of(place - end));",
        wrong: "end += (place - end) & (end - place);",
    },
    Mutation {
        name: "a subtree combined from the right",
        file: "scan.cuh",
        right: "== 0, combine(op, left, value), value);",
        wrong: "== 0, combine(op, value, left), value);",
    },
    Mutation {
        name: "lanes that all add up",
        file: "scan.cuh",
        right: "value = select((end & (2 * distance - 1)) == 0,",
        wrong: "value = select(end > distance,",
    },
    Mutation {
        name: "the identity combined at the beginning",
        file: "scan.cuh",
        right: "else if (has_before)\n",
        wrong: "else\n",
    },
    Mutation {
        name: "a lane's prefix for all its units",
        file: "scan.cuh",
        right: "before[k] = select((index + 1) % (1u << k) == 0, next, before[k]);",
        wrong: "before[k] = select(k > 0 && (index + 1) % (1u << k) == 0, next, before[k]);",
    },
    Mutation {
        name: "a unit's left sibling from the wrong level",
        file: "scan.cuh",
        right: "left = select(ends, before[k], left);",
        wrong: "left = select(ends, before[0], left);",
    },
    Mutation {
        name: "an exclusive scan that is not shifted between units",
        file: "scan.cuh",
        right: "place[0] = before[0];",
        wrong: "place[0] = edges.before;",
    },
    Mutation {
        name: "the last place left as it was",
        file: "scan.cuh",
        right: "            place[UNIT - 1] = next;\n",
        wrong: "",
    },
    Mutation {
        name: "wide stores to any address",
        file: "scan.cuh",
        right: "            if (address % CHUNK == 0)\n                store_whole",
        wrong: "            if (true)\n                store_whole",
    },
    Mutation {
        name: "places written after the end",
        file: "scan.cuh",
        right: "at < present * sizeof(Item); at +=",
        wrong: "at <= present * sizeof(Item); at +=",
    },
    Mutation {
        name: "items read after the end",
        file: "scan.cuh",
        right: "i < present ? items + i : &identity",
        wrong: "i <= present ? items + i : &identity",
    },
    Mutation {
        name: "chunks left out on one side of an exchange alone",
        file: "exchange.cuh",
        right: "return CHUNK * (chunk + chunk / PERIOD);",
        wrong: "return CHUNK * (chunk + chunk % RUN / 2);",
    },
];
