// What the parts of the executor have in common: threads, warps, blocks, memory, and the launch that runs.
#pragma once
#include <setjmp.h>
#include <stdint.h>

#include <map>
#include <string>
#include <vector>

#include "counts.h"
#include "simt.h"

namespace simt {

// Under the sanitizers only the intrinsics say what they access.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool SEES_ALL = false;
#else
constexpr bool SEES_ALL = true;
#endif

constexpr size_t STACK = 256 << 10;
constexpr unsigned LANES = 32;

constexpr unsigned NO_GROUP = ~0u;

struct Copy {
    char* to;
    const char* from;
    size_t bytes;
};

struct Fiber {
    std::vector<Copy> copies;
    // Since the last barrier, how often it came to each place; and how often it combined.
    std::map<Place, unsigned> came;
    uint64_t combined = 0;
    // Whether it has seen, by an atomic operation, what others published.
    bool acquired = false;
    // Whether it has seen, by one that orders nothing, that there is something.
    bool saw = false;
    // Whether it has fenced off anything of which it has told nobody.
    bool fenced = false;
    // Whether it has waited for the launch before.
    bool waited = false;
    char* stack = nullptr;
    jmp_buf at;
    bool started = false, done = false, waiting = false;
    unsigned thread = 0;
    // Which group of warps it waits with, once it does, and the block's clock at the last barrier of the group or of the block.
    unsigned group = NO_GROUP, epoch = 1;
    struct Block* block = nullptr;
    const char* what = nullptr;
    Site site = {};
    // Where it looks whether others have published something.
    Site looks_at = {};
    void* fake_stack = nullptr;
};

// A byte of shared memory: who wrote it and who read it, and at which epoch.
struct Byte {
    bool written = false;
    unsigned writer = 0, reader = 0;
    unsigned write_epoch = 0, read_epoch = 0;
    // Of the warp of the one who wrote or read.
    unsigned write_warp_epoch = 0, read_warp_epoch = 0;
    // Several that are in no order among themselves, and whether they are of several warps.
    bool many_readers = false, many_warps = false;
    // Groups that have read it since the barrier of the whole block with this number, a bit each.
    unsigned reading_groups = 0, reading_since = 0;
    // An asynchronous copy has not been waited for.
    bool in_flight = false;
    // Of the block that had this memory.
    unsigned generation = 0;
};

struct Warp {
    std::map<std::pair<Place, unsigned>, Turn> turns;
    unsigned arrived = 0, epoch = 1;
    const char* what = nullptr;
    Site site = {};
    unsigned in[LANES], out[LANES];
};

struct Array {
    Site site;
    size_t begin, bytes;
};

// A barrier that some threads of a block have come to.
struct Barrier {
    unsigned arrived = 0, threads = 0;
    Site site = {};
};

struct Block {
    unsigned index = 0;
    std::vector<Fiber*> fibers;
    std::vector<Warp> warps;
    // Every barrier that all have come to has a number, its epoch: the last one, and the last one of the whole block.
    unsigned left = 0, clock = 1, epoch = 1;
    Barrier barrier;
    // Of groups of warps, by their numbers.
    std::map<unsigned, Barrier> groups;
    std::vector<Array> arrays;
    char* shared = nullptr;
    // Of an earlier block of another generation, unless asked for by `byte`.
    std::vector<Byte> bytes;
    unsigned generation = 0;

    Byte& byte(size_t k) {
        if (bytes[k].generation != generation) bytes[k] = {}, bytes[k].generation = generation;
        return bytes[k];
    }
};

// What arrays of a fixed size have; a launch may give a block more, which comes after it.
constexpr size_t STATIC_SHARED = 48 << 10;

// Global memory: where it is, and which of its bytes were written, and by which thread.
struct Region {
    const char* begin;
    size_t bytes;
    bool writable;
    std::vector<uint64_t> writer;
    // The block's epoch at the time.
    std::vector<unsigned> epoch;
    // Who has fenced it off since it was written; and whether by an atomic operation that came after that fence others have
    // been told.
    std::vector<uint64_t> fencer;
    std::vector<bool> published;
    char& begin_byte(size_t k) { return const_cast<char*>(begin)[k]; }
};

// Of memory that is changed by atomic operations.
constexpr uint64_t ATOMIC = ~uint64_t(0);
// The writer of what was there before the launch.
constexpr uint64_t HOST = ATOMIC - 1;

// A launch, and what its kernel is given.
struct Launch {
    Kernel kernel;
    const void *arguments, *op;
    unsigned blocks, threads;
    // Of a block, with what arrays of a fixed size have.
    size_t shared_bytes;
    // Memory that threads only read: `arguments` and `op`.
    const char *parameters_begin, *parameters_end;
    // Memory that blocks share, of words that are touched as a whole.
    char* words;
    size_t word_bytes;
    std::vector<Region> regions;
    // Whether what it does is counted.
    bool counting;
    // Whether the launch before may not have ended, so that whoever writes has waited for that.
    bool early;
};
extern Launch launch;
// The thread that runs, if one does.
extern Fiber* current;

// Runs `launch`, its threads in an order that the seed decides; what is wrong, if anything is.
std::string run(uint64_t seed);
// Back to the scheduler, to come back or not.
void leave();
// Ends the launch.
[[noreturn]] void fail(const std::string& message);
std::string at(Site site);
std::string who(const Fiber* fiber);

}  // namespace simt
