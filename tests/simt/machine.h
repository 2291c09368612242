// State that the files of the executor share: threads, warps, blocks, memory and the current
// launch.
#pragma once
#include <setjmp.h>
#include <stdint.h>

#include <map>
#include <string>
#include <vector>

#include "counts.h"
#include "simt.h"

namespace simt {

// Under the sanitizers only the accesses of intrinsics are seen.
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
    // `came` counts visits to each place since the last barrier, `combined` all combinations.
    std::map<Place, unsigned> came;
    uint64_t combined = 0;
    // Whether an atomic operation or a fence of this thread has acquired the writes that others
    // published.
    bool acquired = false;
    // Whether a relaxed atomic operation has read shared words. The next fence acquires the values.
    bool saw = false;
    // Whether the thread has fenced writes that no atomic operation has published since.
    bool fenced = false;
    // Whether the thread has waited for the previous launch.
    bool waited = false;
    char* stack = nullptr;
    jmp_buf at;
    bool started = false, done = false, waiting = false;
    unsigned thread = 0;
    // The group of warps with which the thread waits, from its first group barrier on. The block's
    // clock at the last barrier of the group or of the block.
    unsigned group = NO_GROUP, epoch = 1;
    struct Block* block = nullptr;
    const char* what = nullptr;
    Site site = {};
    // The place at which the thread polls a published word.
    Site looks_at = {};
    void* fake_stack = nullptr;
};

// A byte of shared memory: its writer and its reader, and the epochs of the two accesses.
struct Byte {
    bool written = false;
    unsigned writer = 0, reader = 0;
    unsigned write_epoch = 0, read_epoch = 0;
    // Epochs of the warp of the writer, and of the warp of the reader.
    unsigned write_warp_epoch = 0, read_warp_epoch = 0;
    // Whether several readers are unordered among themselves, and whether they are of several
    // warps.
    bool many_readers = false, many_warps = false;
    // A bit for each group that has read the byte since the block barrier with the number
    // `reading_since`.
    unsigned reading_groups = 0, reading_since = 0;
    // Whether an asynchronous copy to the byte has not been waited for.
    bool in_flight = false;
    // Generation of the block that last used the byte.
    unsigned generation = 0;
};

struct Warp {
    std::map<std::pair<Place, unsigned>, WarpInstruction> instructions;
    unsigned arrived = 0, epoch = 1;
    const char* what = nullptr;
    Site site = {};
    unsigned in[LANES], out[LANES];
};

struct Array {
    Site site;
    size_t begin, bytes;
};

// A barrier at which some threads of a block have arrived.
struct Barrier {
    unsigned arrived = 0, threads = 0;
    Site site = {};
};

struct Block {
    unsigned index = 0;
    std::vector<Fiber*> fibers;
    std::vector<Warp> warps;
    // `left` counts the threads that have ended. Completed barriers are numbered: `clock` is the
    // last one, `epoch` the last one of the whole block.
    unsigned left = 0, clock = 1, epoch = 1;
    Barrier barrier;
    // Barriers of groups of warps, by the number of the group.
    std::map<unsigned, Barrier> groups;
    std::vector<Array> arrays;
    char* shared = nullptr;
    // The state of each byte. Another generation belongs to an earlier block, and `byte` resets it.
    std::vector<Byte> bytes;
    unsigned generation = 0;

    Byte& byte(size_t k) {
        if (bytes[k].generation != generation) bytes[k] = {}, bytes[k].generation = generation;
        return bytes[k];
    }
};

// Bytes for arrays of fixed size. A launch may give a block more memory, after these bytes.
constexpr size_t STATIC_SHARED = 48 << 10;

// A range of global memory, and the writer of each byte.
struct Region {
    const char* begin;
    size_t bytes;
    bool writable;
    std::vector<uint64_t> writer;
    // Epoch of the writer's block at the time of the write.
    std::vector<unsigned> epoch;
    // The thread that has fenced the byte since it was written. Whether an atomic operation after
    // that fence has published it.
    std::vector<uint64_t> fencer;
    std::vector<bool> published;
    char& begin_byte(size_t k) { return const_cast<char*>(begin)[k]; }
};

// The writer of bytes that atomic operations change.
constexpr uint64_t ATOMIC = ~uint64_t(0);
// The writer of bytes from before the launch.
constexpr uint64_t HOST = ATOMIC - 1;

// A launch, and the parameters of its kernel.
struct Launch {
    Kernel kernel;
    const void *arguments, *op;
    unsigned blocks, threads;
    // Shared memory of a block in bytes, with `STATIC_SHARED`.
    size_t shared_bytes;
    // Read-only memory: `arguments` and `op`.
    const char *parameters_begin, *parameters_end;
    // Memory that blocks share: 64-bit words. Every access is to a whole word.
    char* words;
    size_t word_bytes;
    std::vector<Region> regions;
    // Whether the operations of the launch are counted.
    bool counting;
    // Whether the previous launch may still run, so that threads must wait for it before they
    // write.
    bool early;
};
extern Launch launch;
// The thread that runs, or null.
extern Fiber* current;

// Runs `launch`, with its threads in an order that the seed determines. Returns the first error, or
// an empty text.
std::string run(uint64_t seed);
// Switches to the scheduler. If the thread has ended, it does not return.
void leave();
// Ends the launch with an error.
[[noreturn]] void fail(const std::string& message);
std::string at(Site site);
std::string who(const Fiber* fiber);

}  // namespace simt
