// Kernels that exercise the executor, correctly and with mistakes. tests/simt.rs asserts the
// errors. No template uses some of these features yet.

namespace exercises {

struct Arguments {
    const unsigned* input;
    unsigned long long length;
    unsigned* output;
    // 0 for the correct kernel. Any other number selects a mistake.
    unsigned long long mistake;
};

// Each thread writes a word and reads its neighbour's word.
inline void neighbours(const Arguments& arguments, bool of_warp) {
    using namespace warpfold;
    WARPFOLD_SHARED(unsigned, words, 64);
    const unsigned self = simt::thread_index(), next = of_warp ? (self & 32) | ((self + 1) & 31) : (self + 1) % 64;
    words[self] = self;
    if (arguments.mistake != 1) {
        if (of_warp)
            warp_barrier();
        else
            block_barrier();
    }
    const unsigned got = words[arguments.mistake == 2 ? self + 64 : next];
    if (arguments.mistake == 3) words[self] = got;
    arguments.output[block_index() * 64 + self] = got;
}
inline void block_of_neighbours(const void* arguments, const void*) {
    neighbours(*static_cast<const Arguments*>(arguments), false);
}
inline void warp_of_neighbours(const void* arguments, const void*) {
    neighbours(*static_cast<const Arguments*>(arguments), true);
}

// A ballot of the lanes whose input is odd, called by all lanes or by some.
inline void votes(const void* parameter, const void*) {
    using namespace warpfold;
    const Arguments& arguments = *static_cast<const Arguments*>(parameter);
    const unsigned self = simt::thread_index();
    unsigned odd = 0;
    if (arguments.mistake != 1 || self % 32 < 20) odd = ballot(arguments.input[self] % 2 == 1);
    arguments.output[block_index() * 64 + self] = odd;
}

// The last block to arrive adds the partials of the other blocks.
inline void last_block(const void* parameter, const void*) {
    using namespace warpfold;
    const Arguments& arguments = *static_cast<const Arguments*>(parameter);
    WARPFOLD_SHARED(unsigned, is_last, 1);
    unsigned* const partials = arguments.output + 1;
    const unsigned blocks = static_cast<unsigned>(arguments.length);
    partials[block_index() * 64 + simt::thread_index()] = arguments.input[simt::thread_index()] + block_index();
    if (arguments.mistake != 2) block_barrier();
    if (simt::thread_index() == 0) {
        if (arguments.mistake != 1) fence();
        if (arguments.mistake == 3)
            *is_last = arguments.output[0]++ == blocks - 1;
        else
            *is_last = atomic_add(arguments.output, 1) == blocks - 1;
    }
    block_barrier();
    if (*is_last) {
        unsigned sum = 0;
        for (unsigned block = 0; block < blocks; ++block) sum += partials[block * 64 + simt::thread_index()];
        block_barrier();
        partials[blocks * 64 + simt::thread_index()] = sum;
    } else if (block_index() == blocks) {
        return;
    }
}

// A ring of two slots, filled ahead by asynchronous copies.
inline void ring(const void* parameter, const void*) {
    using namespace warpfold;
    const Arguments& arguments = *static_cast<const Arguments*>(parameter);
    WARPFOLD_SHARED(unsigned, slots, 2 * 64);
    const unsigned self = simt::thread_index(), steps = static_cast<unsigned>(arguments.length / 64);
    unsigned sum = 0;
    async_copy<4>(slots + self, arguments.input + self);
    for (unsigned step = 0; step < steps; ++step) {
        if (arguments.mistake != 1) async_wait();
        if (step + 1 < steps) {
            const unsigned slot = arguments.mistake == 2 ? step % 2 : (step + 1) % 2;
            async_copy<4>(slots + slot * 64 + self, arguments.input + (step + 1) * 64 + self);
        }
        sum += slots[step % 2 * 64 + self];
    }
    arguments.output[block_index() * 64 + self] = sum;
}

static const bool added = (simt::add(0, {block_of_neighbours}), simt::add(1, {warp_of_neighbours}), simt::add(2, {votes}),
                           simt::add(3, {last_block}), simt::add(4, {ring}), true);

}  // namespace exercises
