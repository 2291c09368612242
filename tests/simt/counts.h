// What launches do that takes time on a GPU, counted.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <set>
#include <utility>

#include "simt.h"

namespace simt {

struct Block;

typedef std::pair<const void*, int> Place;

// What a warp does at once, as a GPU would: the lanes that come to a place of the code as often since the last barrier.
struct Turn {
    enum { COMBINES, SHARED, GLOBAL } what;
    unsigned lanes = 0;
    // Of memory that they touch, by their addresses over 4.
    std::set<uint64_t> words;
};

// Of the launches that were asked to count.
struct Counts {
    // The most combinations of one thread, one after another, and those of all.
    uint64_t steps, combinations;
    // Turns in which lanes combine.
    uint64_t combining_turns;
    // Barriers of blocks and of warps.
    uint64_t barriers, warp_barriers;
    // Turns in which lanes touch shared memory, and how often they are repeated because lanes want several words of a bank.
    uint64_t shared_turns, bank_conflicts;
    // Turns in which lanes touch global memory, and the sectors of 32 bytes that they touch.
    uint64_t global_turns, sectors;
};
extern Counts counts;

// Of the thread that runs: the turn of its warp at a place.
Turn& turn(Site site);
void count_access(const void* address, size_t bytes, bool is_shared, Site site);
// Adds up what a warp has done since its last barrier, which its lanes have passed.
void count(Block& block, unsigned warp);

}  // namespace simt
