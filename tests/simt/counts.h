// Counts the operations of launches that take time on a GPU.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <set>
#include <utility>

#include "simt.h"

namespace simt {

struct Block;

typedef std::pair<const void*, int> Place;

// Operations that the lanes of a warp do in one instruction on a GPU. Lanes share an instruction if
// they have reached the same place of the code equally often since the last barrier.
struct WarpInstruction {
    enum { COMBINES, SHARED, GLOBAL } what;
    unsigned lanes = 0;
    // 32-bit words of memory that the lanes access: addresses divided by 4.
    std::set<uint64_t> words;
};

// The counts of a launch that was asked to count.
struct Counts {
    // The largest number of combinations of one thread, and the total of all threads.
    uint64_t steps, combinations;
    // Instructions in which lanes combine.
    uint64_t combining_instructions;
    // Barriers of blocks and of warps.
    uint64_t barriers, warp_barriers;
    // Instructions that access shared memory, and their repetitions because lanes access several
    // words of a bank.
    uint64_t shared_instructions, bank_conflicts;
    // Instructions that access global memory, and the sectors of 32 bytes that they access.
    uint64_t global_instructions, sectors;
};
extern Counts counts;

// The instruction of the current thread's warp at a place.
WarpInstruction& instruction(Site site);
void count_access(const void* address, size_t bytes, bool is_shared, Site site);
// Adds the instructions of a warp since its last barrier to the counts. All its lanes have passed
// the barrier.
void count(Block& block, unsigned warp);

}  // namespace simt
