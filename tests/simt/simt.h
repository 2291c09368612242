// The counterpart of `templates/core/intrinsics.cuh` for an executor that runs each GPU thread as a
// fiber. With it a whole rendered source runs, including its kernel. The executor (requests.cpp and
// the files beside it) is stricter than a GPU.
#pragma once
#include "../support/host.h"

#include <stddef.h>

#define WARPFOLD_OUTLINED __attribute__((noinline))
#define WARPFOLD_SHARED(type, name, count) \
    type* const name = static_cast<type*>(simt::shared(sizeof(type) * (count), alignof(type), {__FILE__, __LINE__}))
#define WARPFOLD_DYNAMIC_SHARED(name) unsigned char* const name = simt::dynamic_shared()
#define WARPFOLD_KERNEL(threads, blocks) static void
#define WARPFOLD_PARAMETER const
// The last parameters of a function: the place of its call.
#define SIMT_CALLER const char* file = __builtin_FILE(), int line = __builtin_LINE()

namespace simt {

// A place in the rendered source, or an address in the code that was compiled from it.
struct Site {
    const char* file;
    int line;
    const void* code = nullptr;
};

// Position of the current thread, and dimensions of its launch.
unsigned thread_index();
unsigned block_index(), block_count(), block_warps();

// Shared memory of the block. All its threads get the same address at the same site.
void* shared(size_t bytes, size_t align, Site site);
// Dynamic shared memory, of the size that the launch gives a block.
unsigned char* dynamic_shared();
// Waits for all threads of the block.
void block_barrier(Site site);
// Waits for the threads of a group of `warps` warps. Group 0 has the first warps of the block.
void group_barrier(unsigned group, unsigned warps, Site site);
// Waits for all lanes of the warp. Returns the word of the lane `source_lane`.
unsigned exchange(unsigned word, unsigned source_lane, const char* what, Site site);
// As `exchange`. Returns the bits of all lanes, with that of lane 0 lowest.
unsigned ballot(bool bit, Site site);
// Orders the accesses of a warp's lanes to shared memory.
void warp_barrier(Site site);
// Makes the writes of the thread visible to threads that observe its next atomic operation. The
// writes of its block before the last barrier become visible, too.
void fence(Site site);
// Returns the old value. The memory starts as 0. Acquires and releases.
unsigned atomic_add(unsigned* address, unsigned value, Site site);
// Accesses to whole 64-bit words, of shared memory or of the memory that blocks share. In the
// latter each word tells itself whether its value has arrived.
void publish(unsigned long long* address, unsigned long long value, Site site);
unsigned long long published(const unsigned long long* address, Site site);
void published(const unsigned long long* address, unsigned long long (&pair)[2], Site site);
unsigned long long atomic_add(unsigned long long* address, unsigned long long value, Site site);
unsigned long long compare_and_swap(unsigned long long* address, unsigned long long expected, unsigned long long value,
                                    Site site);
// Adds to a number at the beginning of a word.
void atomic_add(unsigned long long* address, float value, Site site);
void atomic_add(unsigned long long* address, double value, Site site);
// Reports that the thread combines two items.
void combines();
// Copies from global to shared memory. The copy is complete when `async_wait` returns.
void async_copy(void* to, const void* from, size_t bytes, Site site);
void async_wait(Site site);
// Copies bytes. The copy does not count as an access of the kernel.
void move(void* to, const void* from, size_t bytes);
// Fails unless the thread may read or write these bytes.
void access(const void* address, size_t bytes, size_t align, bool write, Site site);
// Fails unless the thread may prefetch from an address. A prefetch is no access, so other threads
// may write there.
void ask(const void* address, Site site);

// A kernel may begin before the previous launch has ended. A thread must wait for that launch
// before it accesses the memory of that launch.
void waits();
void check_waited(Site site);

// Ends the launch with an error.
[[noreturn]] void trap(Site site);

// An operator whose combinations are counted.
template <class Operator>
struct Counted : Operator {
    template <class Item>
    Item combine(Item left, Item right) const {
        combines();
        return Operator::combine(left, right);
    }
};
template <class Operator>
Counted<Operator> counted(const Operator& op) {
    return {op};
}

// A kernel, and its registration under a number.
struct Kernel {
    void (*run)(const void* arguments, const void* op);
};
void add(unsigned number, Kernel kernel);

}  // namespace simt

// Hand-written bodies may call it.
inline void __trap(SIMT_CALLER) { simt::trap({file, line}); }

namespace warpfold {

constexpr unsigned WARP_LANES = 32, WARP_LEVEL = 5;

inline unsigned lane_index() { return simt::thread_index() % WARP_LANES; }
inline unsigned warp_index() { return simt::thread_index() / WARP_LANES; }
inline unsigned block_index() { return simt::block_index(); }
inline unsigned block_count() { return simt::block_count(); }
inline unsigned block_warps() { return simt::block_warps(); }

inline void block_barrier(SIMT_CALLER) { simt::block_barrier({file, line}); }
template <bool IS_ONE_OF_MANY>
inline void group_barrier(unsigned group, unsigned warps, SIMT_CALLER) {
    if constexpr (IS_ONE_OF_MANY)
        simt::group_barrier(group, warps, {file, line});
    else
        simt::block_barrier({file, line});
}

inline void warp_barrier(SIMT_CALLER) { simt::warp_barrier({file, line}); }
inline unsigned ballot(bool bit, SIMT_CALLER) { return simt::ballot(bit, {file, line}); }
inline void fence(SIMT_CALLER) { simt::fence({file, line}); }
inline unsigned atomic_add(unsigned* address, unsigned value, SIMT_CALLER) {
    return simt::atomic_add(address, value, {file, line});
}
inline unsigned long long atomic_add(unsigned long long* address, unsigned long long value, SIMT_CALLER) {
    return simt::atomic_add(address, value, {file, line});
}
inline void atomic_add_float(unsigned long long* address, float value, SIMT_CALLER) {
    simt::atomic_add(address, value, {file, line});
}
inline void atomic_add_double(unsigned long long* address, double value, SIMT_CALLER) {
    simt::atomic_add(address, value, {file, line});
}
inline unsigned long long compare_and_swap(unsigned long long* address, unsigned long long expected,
                                           unsigned long long value, SIMT_CALLER) {
    return simt::compare_and_swap(address, expected, value, {file, line});
}
template <unsigned WIDTH>
inline void async_copy(void* to, const void* from, SIMT_CALLER) {
    simt::async_copy(to, from, WIDTH, {file, line});
}
inline void async_wait(SIMT_CALLER) { simt::async_wait({file, line}); }

inline void copy_bytes(void* to, const void* from, unsigned long long bytes, SIMT_CALLER) {
    simt::access(from, bytes, 1, false, {file, line});
    simt::access(to, bytes, 1, true, {file, line});
    simt::move(to, from, bytes);
}

template <unsigned LEVEL>
inline void prefetch(const void* address, SIMT_CALLER) { simt::ask(address, {file, line}); }

inline unsigned byte_of(unsigned word, unsigned index) { return word >> (8 * index) & 0xff; }

inline unsigned sum_with_bytes(unsigned sum, unsigned word) {
    for (unsigned k = 0; k < 4; ++k) sum += byte_of(word, k);
    return sum;
}
inline unsigned sum_with_halves(unsigned sum, unsigned word) { return sum + (word & 0xffff) + (word >> 16); }

constexpr bool HAS_HALF_MIN_MAX = true;
template <bool ARE_SIGNED>
unsigned greater_half(unsigned a, unsigned b) {
    const bool is_less = ARE_SIGNED ? static_cast<short>(a) < static_cast<short>(b) : a < b;
    return is_less ? b : a;
}
template <bool ARE_SIGNED>
unsigned max_halves(unsigned a, unsigned b) {
    return greater_half<ARE_SIGNED>(a & 0xffff, b & 0xffff) | greater_half<ARE_SIGNED>(a >> 16, b >> 16) << 16;
}
// The lesser half is the one that is not the greater.
template <bool ARE_SIGNED>
unsigned min_halves(unsigned a, unsigned b) {
    return a ^ b ^ max_halves<ARE_SIGNED>(a, b);
}

inline unsigned force_evaluation(unsigned word) { return word; }
template <class T>
T* force_evaluation(T* address) {
    return address;
}
template <class T>
T* force_shared_evaluation(T* address) {
    return address;
}
inline unsigned funnel_shift(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) >> (shift & 31));
}

inline unsigned shuffle_xor(unsigned word, unsigned distance, SIMT_CALLER) {
    return simt::exchange(word, lane_index() ^ distance, "shuffle_xor", {file, line});
}
// A lane whose source would be past the last lane keeps its own word.
inline unsigned shuffle_down(unsigned word, unsigned distance, SIMT_CALLER) {
    const unsigned from = lane_index() + distance;
    return simt::exchange(word, from < WARP_LANES ? from : lane_index(), "shuffle_down", {file, line});
}
inline unsigned shuffle_from(unsigned word, unsigned lane, SIMT_CALLER) {
    return simt::exchange(word, lane % WARP_LANES, "shuffle_from", {file, line});
}

// Reduces one word of each lane by exchanges. Any order gives the same bits.
template <class Word, class Both>
Word of_lanes(Word word, Both both, simt::Site site) {
    for (unsigned distance = 1; distance < WARP_LANES; distance *= 2) {
        const unsigned other = simt::exchange(static_cast<unsigned>(word), lane_index() ^ distance, "a reduction", site);
        word = both(word, static_cast<Word>(other));
    }
    return word;
}
#define SIMT_OF_LANES(name, Word, expression)                                                  \
    inline Word name(Word word, SIMT_CALLER) {                                                 \
        return of_lanes(word, [](Word a, Word b) { return Word(expression); }, {file, line}); \
    }
SIMT_OF_LANES(sum_of_lanes, unsigned, a + b)
SIMT_OF_LANES(max_of_lanes, unsigned, a < b ? b : a)
SIMT_OF_LANES(max_of_lanes, int, a < b ? b : a)
SIMT_OF_LANES(min_of_lanes, unsigned, a < b ? a : b)
SIMT_OF_LANES(min_of_lanes, int, a < b ? a : b)
SIMT_OF_LANES(and_of_lanes, unsigned, a & b)
SIMT_OF_LANES(or_of_lanes, unsigned, a | b)
SIMT_OF_LANES(xor_of_lanes, unsigned, a ^ b)
#undef SIMT_OF_LANES

template <unsigned WIDTH>
struct Load {
    unsigned word[WIDTH < 4 ? 1 : WIDTH / 4] = {};
};
template <unsigned WIDTH>
Load<WIDTH> read(const void* address, SIMT_CALLER) {
    simt::access(address, WIDTH, WIDTH, false, {file, line});
    Load<WIDTH> loaded;
    simt::move(loaded.word, address, WIDTH);
    return loaded;
}
template <unsigned WIDTH>
Load<WIDTH> load_written(const void* address, SIMT_CALLER) {
    simt::check_waited({file, line});
    return read<WIDTH>(address, file, line);
}
template <unsigned WIDTH>
Load<WIDTH> stream_written(const void* address, SIMT_CALLER) {
    return load_written<WIDTH>(address, file, line);
}

template <unsigned WIDTH>
inline void write(void* address, const unsigned* word, SIMT_CALLER) {
    simt::access(address, WIDTH, WIDTH, true, {file, line});
    simt::move(address, word, WIDTH);
}

// Nothing to do: the executor runs one launch at a time, and reads its output when it has ended.
inline void trigger_dependents() {}
template <class T>
inline const T* grid_dependency_wait(const T* address) {
    simt::waits();
    return address;
}
inline void publish(unsigned long long* to, unsigned long long value, SIMT_CALLER) {
    simt::publish(to, value, {file, line});
}
inline unsigned long long published(const unsigned long long* from, SIMT_CALLER) {
    return simt::published(from, {file, line});
}
inline void published(const unsigned long long* from, unsigned long long (&pair)[2], SIMT_CALLER) {
    simt::published(from, pair, {file, line});
}
// Nothing to do: `published` lets other threads run.
inline void pause() {}

}  // namespace warpfold
