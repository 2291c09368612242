// An executor of GPU kernels on the CPU, stricter than a GPU.
//
// Each GPU thread is a fiber. A fiber runs until it must wait, for its block at a barrier or for its warp at a shuffle; then
// one of those that can go on is chosen at random, of several blocks at once, by a seeded generator. What a GPU forgives is
// an error here: a barrier or a shuffle that some thread misses, threads that wait at different places, an access out of
// bounds, misaligned, of memory that nobody wrote, or of shared memory that another thread has touched since the last
// barrier, one of the two writing.
//
// Accesses are seen in two ways. What the intrinsics do, they say. All others are seen because the kernels are compiled with
// -fsanitize=thread, which calls a function at each; those functions are defined here, and no sanitizer is linked.
//
// The program serves requests on its standard input, one launch each, and answers on its standard output.

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "simt.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define FIBER_START(save, bottom, size) __sanitizer_start_switch_fiber(save, bottom, size)
#define FIBER_FINISH(save, bottom, size) __sanitizer_finish_switch_fiber(save, bottom, size)
#else
#define FIBER_START(save, bottom, size)
#define FIBER_FINISH(save, bottom, size)
#endif

namespace simt {
namespace {

// Under the sanitizers only the intrinsics say what they access.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool SEES_ALL = false;
#else
constexpr bool SEES_ALL = true;
#endif

constexpr size_t STACK = 256 << 10;
constexpr unsigned LANES = 32;
// Blocks that run at once: enough to interleave.
constexpr unsigned RESIDENT = 3;

struct Copy {
    char* to;
    const char* from;
    size_t bytes;
};

typedef std::pair<const void*, int> Place;

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
    char* stack = nullptr;
    jmp_buf at;
    bool started = false, done = false, waiting = false;
    unsigned thread = 0;
    struct Block* block = nullptr;
    const char* what = nullptr;
    Site site = {};
    // Where it looks whether others have published something.
    Site looks_at = {};
    void* fake_stack = nullptr;
};

// A byte of shared memory: who wrote it and who read it, and since which barrier.
struct Byte {
    bool written = false;
    unsigned writer = 0, reader = 0;
    unsigned write_epoch = 0, read_epoch = 0;
    // Of the warp of the one who wrote or read.
    unsigned write_warp_epoch = 0, read_warp_epoch = 0;
    // Several that are in no order among themselves, and whether they are of several warps.
    bool many_readers = false, many_warps = false;
    // An asynchronous copy has not been waited for.
    bool in_flight = false;
    // Of the block that had this memory.
    unsigned generation = 0;
};

// What a warp does at once, as a GPU would: the lanes that come to a place of the code as often since the last barrier.
struct Turn {
    enum { COMBINES, SHARED, GLOBAL } what;
    unsigned lanes = 0;
    // Of memory that they touch, by their addresses over 4.
    std::set<uint64_t> words;
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

struct Block {
    unsigned index = 0;
    std::vector<Fiber*> fibers;
    std::vector<Warp> warps;
    unsigned arrived = 0, left = 0, epoch = 1;
    Site barrier = {};
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
constexpr size_t STATIC_SHARED = 16 << 10;
size_t shared_bytes = 0;
unsigned launched_blocks = 0;
size_t dynamic_bytes() { return shared_bytes - STATIC_SHARED; }

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
bool counting = false;
Counts counts;

constexpr uint64_t ATOMIC = ~uint64_t(0);
// The writer of what was there before the launch.
constexpr uint64_t HOST = ATOMIC - 1;

// Memory that blocks share, of words that are touched as a whole.
char* shared_words = nullptr;
size_t shared_word_bytes = 0;

std::vector<Kernel>& kernels() {
    static std::vector<Kernel> all;
    return all;
}

std::vector<char*> stacks;
std::mt19937_64 random_numbers;
std::vector<Region> regions;
const char *parameters_begin, *parameters_end;
Fiber* current = nullptr;
jmp_buf scheduler;
ucontext_t scheduler_context;
std::string failure;
const void* arguments;
const void* op;
Kernel kernel;
void* scheduler_fake_stack = nullptr;
const void* scheduler_stack = nullptr;
size_t scheduler_stack_size = 0;

extern "C" char __executable_start, end;

std::string at(Site site) {
    if (!site.code) return std::string(site.file) + ":" + std::to_string(site.line);
    char command[128], line[512] = "?";
    snprintf(command, sizeof command, "addr2line -e /proc/%d/exe %p", getpid(), site.code);
    if (FILE* said = popen(command, "r")) {
        if (!fgets(line, sizeof line, said)) strcpy(line, "?");
        pclose(said);
    }
    return std::string(line, strcspn(line, "\n"));
}

std::string who(const Fiber* fiber) {
    return "thread " + std::to_string(fiber->thread) + " of block " + std::to_string(fiber->block->index);
}

// Back to the scheduler, to come back or not.
void leave() {
    Fiber* self = current;
    if (_setjmp(self->at) == 0) {
        FIBER_START(self->done ? nullptr : &self->fake_stack, scheduler_stack, scheduler_stack_size);
        _longjmp(scheduler, 1);
    }
    FIBER_FINISH(self->fake_stack, &scheduler_stack, &scheduler_stack_size);
}

[[noreturn]] void fail(const std::string& message) {
    failure = message;
    current->done = true;
    leave();
    abort();
}

// Of a launch, in seconds of the processor: a hundred times as much as any needs.
constexpr int LONGEST_LAUNCH = 20;

void too_long(int, siginfo_t*, void* interrupted) {
    // Between two threads there is none to blame; the timer comes again.
    if (!current) return;
#if defined(__x86_64__)
    const auto code = static_cast<ucontext_t*>(interrupted)->uc_mcontext.gregs[REG_RIP];
    const Site site = {nullptr, 0, reinterpret_cast<void*>(code)};
#else
    const Site site = {"somewhere", 0, nullptr};
    (void)interrupted;
#endif
    fail(who(current) + " does not come to an end, " + at(current->looks_at.file ? current->looks_at : site));
}

// Lets the launch that begins now fail if it takes too long; with 0 there is no such launch.
void limit(int seconds) {
    struct sigaction action = {};
    action.sa_sigaction = too_long;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGVTALRM, &action, nullptr);
    const itimerval timer = {{seconds ? 1 : 0, 0}, {seconds, 0}};
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

void entry() {
    FIBER_FINISH(nullptr, &scheduler_stack, &scheduler_stack_size);
    kernel.run(arguments, op);
    current->done = true;
    leave();
}

void wait(const char* what, Site site) {
    current->waiting = true;
    current->what = what;
    current->site = site;
    leave();
}

bool in_stack(const void* address) {
    const char* byte = static_cast<const char*>(address);
    return current && byte >= current->stack && byte < current->stack + STACK;
}

void check_shared(Block& block, size_t from, size_t count, bool write, Site site) {
    const unsigned self = current->thread;
    for (size_t k = from; k < from + count; ++k) {
        bool inside = k >= STATIC_SHARED;
        for (const Array& array : block.arrays) inside |= k >= array.begin && k < array.begin + array.bytes;
        if (!inside) fail(who(current) + " touches shared memory that nobody declared, " + at(site));
        Byte& byte = block.byte(k);
        const unsigned warp_epoch = block.warps[self / LANES].epoch;
        if (byte.in_flight) fail(who(current) + " touches what an asynchronous copy has not yet brought, " + at(site));
        if (SEES_ALL && !write && !byte.written) fail(who(current) + " reads shared memory that nobody wrote, " + at(site));
        // Two accesses since the last barrier are in order if they are of one thread, or of one warp with a barrier of its own
        // between them.
        const auto unordered = [&](unsigned other, unsigned epoch, unsigned other_warp_epoch) {
            const bool same_warp = other / LANES == self / LANES;
            return epoch == block.epoch && other != self && !(same_warp && other_warp_epoch < warp_epoch);
        };
        const bool raced_write = byte.written && unordered(byte.writer, byte.write_epoch, byte.write_warp_epoch);
        const bool of_my_warp = !byte.many_warps && byte.reader / LANES == self / LANES;
        const bool raced_read = unordered(byte.reader, byte.read_epoch, byte.read_warp_epoch) ||
                                (byte.many_readers && byte.read_epoch == block.epoch &&
                                 !(of_my_warp && byte.read_warp_epoch < warp_epoch));
        if (raced_write || (write && raced_read))
            fail(who(current) + " races with thread " + std::to_string(raced_write ? byte.writer : byte.reader) +
                 " for shared memory, " + at(site));
        if (write) {
            byte.written = true, byte.writer = self, byte.write_epoch = block.epoch, byte.write_warp_epoch = warp_epoch;
        } else {
            const bool another = unordered(byte.reader, byte.read_epoch, byte.read_warp_epoch);
            const bool before = byte.many_readers && byte.read_epoch == block.epoch;
            byte.many_warps = (before && byte.many_warps) || (another && byte.reader / LANES != self / LANES);
            byte.many_readers = another || (before && (byte.many_warps || byte.read_warp_epoch == warp_epoch));
            byte.reader = self, byte.read_epoch = block.epoch, byte.read_warp_epoch = warp_epoch;
        }
    }
}

// Adds up what a warp has done since its last barrier, which its lanes have passed.
void count(Block& block, unsigned warp) {
    constexpr unsigned BANKS = 32, SECTOR = 32;
    for (unsigned lane = 0; lane < LANES; ++lane) block.fibers[warp * LANES + lane]->came.clear();
    for (const auto& [place, turn] : block.warps[warp].turns) {
        if (turn.what == Turn::COMBINES) {
            ++counts.combining_turns;
        } else if (turn.what == Turn::SHARED) {
            unsigned of_bank[BANKS] = {}, most = 0;
            for (const uint64_t word : turn.words) most = std::max(most, ++of_bank[word % BANKS]);
            ++counts.shared_turns;
            counts.bank_conflicts += most - (turn.words.size() + BANKS - 1) / BANKS;
        } else {
            std::set<uint64_t> sectors;
            for (const uint64_t word : turn.words) sectors.insert(word * 4 / SECTOR);
            ++counts.global_turns;
            counts.sectors += sectors.size();
        }
    }
    block.warps[warp].turns.clear();
}

Turn& turn(Site site) {
    const Place place = {site.code ? site.code : site.file, site.line};
    Warp& warp = current->block->warps[current->thread / LANES];
    Turn& turn = warp.turns[{place, current->came[place]++}];
    ++turn.lanes;
    return turn;
}

void count_access(const void* address, size_t bytes, bool is_shared, Site site) {
    Turn& now = turn(site);
    now.what = is_shared ? Turn::SHARED : Turn::GLOBAL;
    const uint64_t first = reinterpret_cast<uint64_t>(address);
    for (uint64_t word = first / 4; word <= (first + bytes - 1) / 4; ++word) now.words.insert(word);
}

uint64_t identity() { return (uint64_t(current->block->index) << 32 | current->thread) + 1; }

}  // namespace

unsigned thread_index() { return current->thread; }
unsigned block_index() { return current->block->index; }
unsigned block_count() { return launched_blocks; }
unsigned block_warps() { return current->block->warps.size(); }

void* shared(size_t bytes, size_t align, Site site) {
    Block& block = *current->block;
    size_t next = 0;
    for (const Array& array : block.arrays) {
        if (array.site.line == site.line && array.site.file == site.file) return block.shared + array.begin;
        next = array.begin + array.bytes;
    }
    next = (next + align - 1) / align * align;
    if (next + bytes > STATIC_SHARED) fail("more than 16 KiB of shared memory, " + at(site));
    block.arrays.push_back({site, next, bytes});
    return block.shared + next;
}

unsigned char* dynamic_shared() { return reinterpret_cast<unsigned char*>(current->block->shared) + STATIC_SHARED; }

void block_barrier(Site site) {
    Block& block = *current->block;
    if (block.arrived > 0 && (block.barrier.line != site.line || block.barrier.file != site.file))
        fail(who(current) + " waits at the barrier of " + at(site) + ", and others at that of " + at(block.barrier));
    if (block.left > 0) fail(who(current) + " waits at the barrier of " + at(site) + ", and others have ended");
    block.barrier = site;
    if (++block.arrived < block.fibers.size()) return wait("block_barrier", site);
    block.arrived = 0;
    ++block.epoch;
    if (counting) {
        ++counts.barriers;
        for (unsigned warp = 0; warp < block.warps.size(); ++warp) count(block, warp);
    }
    bool acquired = false;
    for (Fiber* fiber : block.fibers) acquired |= fiber->acquired;
    for (Fiber* fiber : block.fibers) fiber->waiting = false, fiber->acquired = acquired;
    // Whoever came last has no right to go first.
    leave();
}

unsigned exchange(unsigned word, unsigned source, const char* what, Site site) {
    Block& block = *current->block;
    const unsigned lane = current->thread % LANES, first = current->thread - lane;
    Warp& warp = block.warps[current->thread / LANES];
    if (warp.arrived && (warp.what != what || warp.site.line != site.line || warp.site.file != site.file))
        fail(who(current) + " waits in " + what + " of " + at(site) + ", and other lanes in " + warp.what + " of " +
             at(warp.site));
    for (unsigned k = 0; k < LANES; ++k)
        if (block.fibers[first + k]->done)
            fail(who(current) + " waits in " + what + " of " + at(site) + ", and lane " + std::to_string(k) + " has ended");
    warp.what = what;
    warp.site = site;
    warp.in[lane] = word;
    warp.arrived |= 1u << lane;
    if (warp.arrived == ~0u) {
        memcpy(warp.out, warp.in, sizeof warp.out);
        warp.arrived = 0;
        if (!strcmp(what, "warp_barrier")) {
            ++warp.epoch;
            if (counting) ++counts.warp_barriers, count(block, current->thread / LANES);
        }
        for (unsigned k = 0; k < LANES; ++k) block.fibers[first + k]->waiting = false;
        leave();
    } else {
        wait(what, site);
    }
    return warp.out[source];
}

unsigned ballot(bool bit, Site site) {
    exchange(bit, 0, "ballot", site);
    unsigned bits = 0;
    for (unsigned k = 0; k < LANES; ++k) bits |= current->block->warps[current->thread / LANES].out[k] << k;
    return bits;
}

void warp_barrier(Site site) { exchange(0, 0, "warp_barrier", site); }

void fence(Site) {
    current->acquired |= current->saw;
    for (Region& region : regions) {
        for (size_t k = 0; k < region.writer.size(); ++k) {
            const uint64_t writer = region.writer[k];
            if (writer == 0 || writer == ATOMIC || writer == HOST) continue;
            const bool of_block = (writer - 1) >> 32 == current->block->index;
            if (writer == identity() || (of_block && region.epoch[k] < current->block->epoch))
                region.fencer[k] = identity(), current->fenced = true;
        }
    }
}

namespace {
// What an atomic operation tells.
void tell() {
    if (!current->fenced) return;
    current->fenced = false;
    for (Region& region : regions)
        for (size_t k = 0; k < region.fencer.size(); ++k)
            if (region.fencer[k] == identity()) region.published[k] = true, region.fencer[k] = 0;
}
}  // namespace

unsigned atomic_add(unsigned* address, unsigned value, Site site) {
    for (Region& region : regions) {
        const size_t at_byte = reinterpret_cast<char*>(address) - region.begin;
        if (!region.writable || at_byte + 4 > region.bytes) continue;
        for (size_t k = at_byte; k < at_byte + 4; ++k) {
            if (region.writer[k] != 0 && region.writer[k] != ATOMIC)
                fail(who(current) + " adds to what was written without an atomic operation, " + at(site));
            if (region.writer[k] == 0) region.begin_byte(k) = 0;
            region.writer[k] = ATOMIC;
        }
        tell();
        const unsigned before = *address;
        *address += value;
        current->acquired = true;
        leave();
        return before;
    }
    fail(who(current) + " adds out of bounds, " + at(site));
}

namespace {
void check_word(const void* address, Site site) {
    const size_t at_byte = static_cast<const char*>(address) - shared_words;
    if (at_byte % 8 != 0 || at_byte + 8 > shared_word_bytes)
        fail(who(current) + " touches a word that blocks do not share, " + at(site));
}
}  // namespace

// Others go on before and after, in any order.
void publish(unsigned long long* address, unsigned long long value, Site site) {
    check_word(address, site);
    leave();
    *address = value;
    leave();
}
unsigned long long published(const unsigned long long* address, Site site) {
    check_word(address, site);
    current->looks_at = site;
    leave();
    current->looks_at = {};
    return *address;
}
// What these see is behind a fence only.
unsigned long long atomic_add(unsigned long long* address, unsigned long long value, Site site) {
    check_word(address, site);
    leave();
    tell();
    const unsigned long long before = *address;
    *address += value;
    current->saw = true;
    leave();
    return before;
}
namespace {
template <class Number>
void add_number(unsigned long long* address, Number value, Site site) {
    check_word(address, site);
    leave();
    Number before;
    memcpy(&before, address, sizeof before);
    before += value;
    memcpy(address, &before, sizeof before);
    leave();
}
}  // namespace
void atomic_add(unsigned long long* address, float value, Site site) { add_number(address, value, site); }
void atomic_add(unsigned long long* address, double value, Site site) { add_number(address, value, site); }
unsigned long long compare_and_swap(unsigned long long* address, unsigned long long expected, unsigned long long value,
                                    Site site) {
    check_word(address, site);
    leave();
    const unsigned long long before = *address;
    if (before == expected) tell(), *address = value;
    current->saw = true;
    leave();
    return before;
}

void async_copy(void* to, const void* from, size_t bytes, Site site) {
    access(from, bytes, bytes, false, site);
    access(to, bytes, bytes, true, site);
    Block& block = *current->block;
    for (size_t k = 0; k < bytes; ++k) block.byte(static_cast<char*>(to) - block.shared + k).in_flight = true;
    current->copies.push_back({static_cast<char*>(to), static_cast<const char*>(from), bytes});
}

void async_wait(Site) {
    Block& block = *current->block;
    for (const Copy& copy : current->copies) {
        memcpy(copy.to, copy.from, copy.bytes);
        for (size_t k = 0; k < copy.bytes; ++k) block.byte(copy.to - block.shared + k).in_flight = false;
    }
    current->copies.clear();
}

void access(const void* address, size_t count, size_t align, bool write, Site site) {
    if (!current || count == 0 || in_stack(address)) return;
    const char* begin = static_cast<const char*>(address);
    if (reinterpret_cast<uintptr_t>(address) % align != 0)
        fail(who(current) + " loads " + std::to_string(count) + " bytes from a misaligned address, " + at(site));
    Block& block = *current->block;
    const bool is_shared = begin >= block.shared && begin < block.shared + shared_bytes;
    const bool is_parameter = begin >= parameters_begin && begin + count <= parameters_end;
    if (counting && !is_parameter) count_access(address, count, is_shared, site);
    if (is_shared) return check_shared(block, begin - block.shared, count, write, site);
    if (is_parameter && !write) return;
    for (Region& region : regions) {
        if (begin + count <= region.begin || begin >= region.begin + region.bytes) continue;
        if (begin < region.begin || begin + count > region.begin + region.bytes) break;
        if (!region.writable) {
            if (write) fail(who(current) + " writes to its input, " + at(site));
            return;
        }
        for (size_t k = begin - region.begin; k < size_t(begin - region.begin) + count; ++k) {
            uint64_t& writer = region.writer[k];
            if (SEES_ALL && !write && writer == 0) fail(who(current) + " reads output that nobody wrote, " + at(site));
            if (writer == ATOMIC) fail(who(current) + " touches what is changed by atomic operations, " + at(site));
            const bool of_block = (writer - 1) >> 32 == block.index && region.epoch[k] < block.epoch;
            const bool seen = region.published[k] && current->acquired;
            const bool of_host = writer == HOST;
            if (writer != 0 && !of_host && writer != identity() && !of_block && (write || !seen))
                fail(who(current) + " touches output that another thread wrote in this launch, " + at(site));
            if (write) writer = identity(), region.epoch[k] = block.epoch, region.published[k] = false, region.fencer[k] = 0;
        }
        return;
    }
    // Constants of the program itself.
    if (!write && begin >= &__executable_start && begin < &end) return;
    fail(who(current) + (write ? " writes" : " reads") + " out of bounds, " + at(site));
}

void move(void* to, const void* from, size_t bytes) { memcpy(to, from, bytes); }

void combines() {
    if (!counting || !current) return;
    ++current->combined;
    ++counts.combinations;
    turn({nullptr, 0, __builtin_extract_return_addr(__builtin_return_address(0))}).what = Turn::COMBINES;
}

void trap(Site site) { fail(who(current) + " traps, " + at(site)); }

void add(unsigned number, Kernel kernel) {
    if (kernels().size() <= number) kernels().resize(number + 1);
    kernels()[number] = kernel;
}

namespace {

char* new_stack() {
    if (!stacks.empty()) {
        char* stack = stacks.back();
        stacks.pop_back();
        return stack;
    }
    void* stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) abort();
    return static_cast<char*>(stack);
}

// Memory of blocks that have ended, for others.
std::vector<std::unique_ptr<Block>> spare;

std::unique_ptr<Block> new_block(unsigned index, unsigned threads) {
    auto block = std::make_unique<Block>();
    if (!spare.empty()) {
        block->shared = spare.back()->shared;
        block->bytes = std::move(spare.back()->bytes);
        block->generation = spare.back()->generation;
        spare.pop_back();
    }
    ++block->generation;
    block->index = index;
    block->warps.resize((threads + LANES - 1) / LANES);
    if (block->bytes.size() < shared_bytes) {
        free(block->shared);
        block->shared = static_cast<char*>(aligned_alloc(256, (shared_bytes + 255) / 256 * 256));
        memset(block->shared, 0xcd, shared_bytes);
        block->bytes.resize(shared_bytes);
    }
    for (unsigned thread = 0; thread < threads; ++thread) {
        Fiber* fiber = new Fiber;
        fiber->stack = new_stack();
        fiber->thread = thread;
        fiber->block = block.get();
        block->fibers.push_back(fiber);
    }
    return block;
}

void free_block(std::unique_ptr<Block>& block) {
    for (Fiber* fiber : block->fibers) {
        stacks.push_back(fiber->stack);
        delete fiber;
    }
    spare.push_back(std::move(block));
}

// Lets a fiber run until it leaves.
void resume(Fiber* fiber) {
    current = fiber;
    if (_setjmp(scheduler) == 0) {
        FIBER_START(&scheduler_fake_stack, fiber->stack, STACK);
        if (fiber->started) _longjmp(fiber->at, 1);
        fiber->started = true;
        ucontext_t context;
        getcontext(&context);
        context.uc_stack.ss_sp = fiber->stack;
        context.uc_stack.ss_size = STACK;
        context.uc_link = nullptr;
        makecontext(&context, entry, 0);
        setcontext(&context);
    }
    FIBER_FINISH(scheduler_fake_stack, nullptr, nullptr);
    current = nullptr;
}

// What keeps a block from going on.
std::string stuck(const Block& block) {
    std::string text = "nobody can go on in block " + std::to_string(block.index) + ":";
    std::vector<std::string> seen;
    for (const Fiber* fiber : block.fibers) {
        std::string state = fiber->done ? "has ended" : std::string("waits in ") + fiber->what + " of " + at(fiber->site);
        bool is_new = true;
        for (const std::string& other : seen) is_new &= other != state;
        if (!is_new) continue;
        seen.push_back(state);
        text += " thread " + std::to_string(fiber->thread) + " " + state + ";";
    }
    return text;
}

void launch(unsigned blocks, unsigned threads) {
    std::vector<std::unique_ptr<Block>> resident;
    unsigned next = 0;
    launched_blocks = blocks;
    failure.clear();
    while (failure.empty()) {
        while (resident.size() < RESIDENT && next < blocks) resident.push_back(new_block(next++, threads));
        if (resident.empty()) break;
        const size_t chosen = random_numbers() % resident.size();
        Block& block = *resident[chosen];
        std::vector<Fiber*> ready;
        for (Fiber* fiber : block.fibers)
            if (!fiber->done && !fiber->waiting) ready.push_back(fiber);
        if (ready.empty()) {
            if (block.left != threads) {
                failure = stuck(block);
                break;
            }
            if (counting) {
                for (unsigned warp = 0; warp < block.warps.size(); ++warp) count(block, warp);
                for (const Fiber* fiber : block.fibers) counts.steps = std::max(counts.steps, fiber->combined);
            }
            free_block(resident[chosen]);
            resident.erase(resident.begin() + chosen);
            continue;
        }
        // Some of those that can go on, in an order of their own.
        const size_t turns = 1 + random_numbers() % ready.size();
        for (size_t turn = 0; turn < turns && failure.empty(); ++turn) {
            std::swap(ready[turn], ready[turn + random_numbers() % (ready.size() - turn)]);
            Fiber* fiber = ready[turn];
            resume(fiber);
            if (fiber->done && failure.empty()) {
                ++block.left;
                if (block.arrived > 0)
                    failure = who(fiber) + " has ended, and others wait at the barrier of " + at(block.barrier);
                if (block.warps[fiber->thread / LANES].arrived)
                    failure = who(fiber) + " has ended, and other lanes wait in " +
                              block.warps[fiber->thread / LANES].what + " of " + at(block.warps[fiber->thread / LANES].site);
            }
        }
    }
    for (auto& block : resident) free_block(block);
}

struct Request {
    uint32_t kernel, blocks, threads;
    // Of the input, and of the output if that is not the input.
    uint32_t misalignment, output_misalignment, in_place;
    uint64_t seed, shared, arguments, op, input, output;
    // Bytes of the memory that blocks share: sent, and sent back.
    uint64_t words;
    // Whether the counts are sent back, too.
    uint64_t count;
};

void get(void* to, size_t bytes) {
    if (bytes > 0 && fread(to, 1, bytes, stdin) != bytes) exit(0);
}

// Of no bytes, even their address may be null.
void put(const void* from, size_t bytes) {
    if (bytes > 0) fwrite(from, 1, bytes, stdout);
}

}  // namespace
}  // namespace simt

int main() {
    using namespace simt;
    Request request;
    for (;;) {
        get(&request, sizeof request);
        std::vector<char> parameters(request.arguments + request.op);
        get(parameters.data(), parameters.size());
        // No byte more than there is, for the sanitizers.
        char* input_memory = static_cast<char*>(aligned_alloc(256, (request.input + request.misalignment + 255) / 256 * 256 + 256));
        char* input = input_memory + request.misalignment;
        get(input, request.input);
        char* output_memory =
            static_cast<char*>(aligned_alloc(256, (request.output + request.output_misalignment + 255) / 256 * 256 + 256));
        char* output = request.in_place ? input : output_memory + request.output_misalignment;
        if (!request.in_place) memset(output, 0xa5, request.output);
        std::vector<unsigned long long> words(request.words / 8);
        get(words.data(), request.words);
        shared_words = reinterpret_cast<char*>(words.data());
        shared_word_bytes = request.words;
        // The input's address stands first, the output's third, and that of the words fourth.
        memcpy(parameters.data(), &input, sizeof input);
        memcpy(parameters.data() + 16, &output, sizeof output);
        if (request.words) memcpy(parameters.data() + 24, &shared_words, sizeof shared_words);
        std::unique_ptr<char, void (*)(void*)> aligned(
            static_cast<char*>(aligned_alloc(256, (parameters.size() + 511) / 256 * 256 + 256)), free);
        memcpy(aligned.get(), parameters.data(), request.arguments);
        const size_t op_at = (request.arguments + 255) / 256 * 256;
        memcpy(aligned.get() + op_at, parameters.data() + request.arguments, request.op);
        arguments = aligned.get();
        op = aligned.get() + op_at;
        parameters_begin = aligned.get();
        parameters_end = aligned.get() + op_at + 256;
        kernel = kernels()[request.kernel];
        shared_bytes = STATIC_SHARED + request.shared;
        random_numbers.seed(request.seed);
        regions.clear();
        if (!request.in_place) regions.push_back({input, request.input, false, {}, {}, {}, {}});
        regions.push_back({output, request.output, true, std::vector<uint64_t>(request.output, request.in_place ? HOST : 0),
                           std::vector<unsigned>(request.output), std::vector<uint64_t>(request.output),
                           std::vector<bool>(request.output)});
        counting = request.count != 0;
        counts = {};
        limit(LONGEST_LAUNCH);
        launch(request.blocks, request.threads);
        limit(0);
        for (size_t k = 0; SEES_ALL && k < request.output && failure.empty(); ++k)
            if (regions.back().writer[k] == 0 || regions.back().writer[k] == HOST) failure = "byte " + std::to_string(k) + " of the output was never written";
        const uint64_t length = failure.size();
        put(&length, sizeof length);
        put(failure.data(), length);
        if (failure.empty()) {
            put(output, request.output);
            put(words.data(), request.words);
            if (counting) put(&counts, sizeof counts);
        }
        fflush(stdout);
        free(input_memory);
        free(output_memory);
    }
}

// What the compiler calls at each access of a kernel.
#define SIMT_HERE {nullptr, 0, __builtin_extract_return_addr(__builtin_return_address(0))}
#define SIMT_HOOK(bytes)                                                                                            \
    extern "C" void __tsan_read##bytes(void* address) { simt::access(address, bytes, 1, false, SIMT_HERE); }        \
    extern "C" void __tsan_write##bytes(void* address) { simt::access(address, bytes, 1, true, SIMT_HERE); }        \
    extern "C" void __tsan_unaligned_read##bytes(void* address) { simt::access(address, bytes, 1, false, SIMT_HERE); } \
    extern "C" void __tsan_unaligned_write##bytes(void* address) { simt::access(address, bytes, 1, true, SIMT_HERE); }
SIMT_HOOK(1)
SIMT_HOOK(2)
SIMT_HOOK(4)
SIMT_HOOK(8)
SIMT_HOOK(16)
extern "C" void __tsan_read_range(void* address, unsigned long bytes) {
    simt::access(address, bytes, 1, false, SIMT_HERE);
}
extern "C" void __tsan_write_range(void* address, unsigned long bytes) {
    simt::access(address, bytes, 1, true, SIMT_HERE);
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
extern "C" void __tsan_vptr_read(void**) {}
