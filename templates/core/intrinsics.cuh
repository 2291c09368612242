// CUDA's own words, under names of this crate. No other template names a CUDA builtin. So this file
// decides the meaning of a thread, a barrier and a load. An executor on the host replaces this file
// alone.

#define WARPFOLD_DEVICE __device__ __forceinline__
#define WARPFOLD_OUTLINED __device__ __noinline__
#define WARPFOLD_SHARED(type, name, count) __shared__ type name[count]
// The dynamic shared memory of the launch, aligned to 128 bytes.
#define WARPFOLD_DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#define WARPFOLD_KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define WARPFOLD_PARAMETER const __grid_constant__
// A field's offset as a constant. NVRTC has no `offsetof`, and `__builtin_offsetof` only from 13.1
// on.
#define WARPFOLD_OFFSET(type, field) __INTADDR__(&(static_cast<type*>(nullptr)->field))

namespace warpfold {

constexpr unsigned WARP_LANES = 32, WARP_LEVEL = 5;
constexpr unsigned FULL_WARP = 0xffffffffu;

WARPFOLD_DEVICE unsigned lane_index() { return threadIdx.x % WARP_LANES; }
WARPFOLD_DEVICE unsigned warp_index() { return threadIdx.x / WARP_LANES; }
WARPFOLD_DEVICE unsigned block_index() { return blockIdx.x; }
WARPFOLD_DEVICE unsigned block_count() { return gridDim.x; }
WARPFOLD_DEVICE unsigned block_warps() { return blockDim.x / WARP_LANES; }

WARPFOLD_DEVICE void block_barrier() { __syncthreads(); }
// A barrier for one group of `warps` warps, of up to 15 groups in a block; or for the whole block.
// With barrier numbers that are known only at run time, a multiprocessor has barriers for four
// blocks.
template <bool IS_ONE_OF_MANY>
WARPFOLD_DEVICE void group_barrier(unsigned group, unsigned warps) {
    if constexpr (IS_ONE_OF_MANY)
        asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(warps * WARP_LANES) : "memory");
    else
        __syncthreads();
}

// Copies between objects of any two types. The compiler turns it into register moves.
WARPFOLD_DEVICE void copy_bytes(void* to, const void* from, unsigned long long bytes) { memcpy(to, from, bytes); }

// The 32 bits of `high:low` from bit `shift` on. `shift` is below 32.
WARPFOLD_DEVICE unsigned funnel_shift(unsigned low, unsigned high, unsigned shift) {
    return __funnelshift_r(low, high, shift);
}

// The byte of a word at `index`, 0 to 3.
WARPFOLD_DEVICE unsigned byte_of(unsigned word, unsigned index) {
    const unsigned byte = __byte_perm(word, 0, 0x4440 + index);
    __builtin_assume(byte < 256);
    return byte;
}

// `sum` plus the four bytes of a word, or plus its two halves, all unsigned.
WARPFOLD_DEVICE unsigned sum_with_bytes(unsigned sum, unsigned word) { return __dp4a(word, 0x01010101u, sum); }
WARPFOLD_DEVICE unsigned sum_with_halves(unsigned sum, unsigned word) { return __dp2a_lo(word, 0x0101u, sum); }

// The greater or the lesser halves of two words, each half alone. There is an instruction from 9.0
// on.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
constexpr bool HAS_HALF_MIN_MAX = true;
#else
constexpr bool HAS_HALF_MIN_MAX = false;
#endif
template <bool ARE_SIGNED>
WARPFOLD_DEVICE unsigned max_halves(unsigned a, unsigned b) {
    return ARE_SIGNED ? __vmaxs2(a, b) : __vmaxu2(a, b);
}
template <bool ARE_SIGNED>
WARPFOLD_DEVICE unsigned min_halves(unsigned a, unsigned b) {
    return ARE_SIGNED ? __vmins2(a, b) : __vminu2(a, b);
}

// Forces the value to be computed here instead of at its first use.
WARPFOLD_DEVICE unsigned force_evaluation(unsigned word) {
    asm volatile("" : "+r"(word));
    return word;
}
template <class T>
WARPFOLD_DEVICE T* force_evaluation(T* address) {
    asm volatile("" : "+l"(address));
    return address;
}
// The same for an address in shared memory. The compiler still knows its address space: on 9.0 and
// later it takes long to compute where shared memory begins.
template <class T>
WARPFOLD_DEVICE T* force_shared_evaluation(T* address) {
    const unsigned evaluated = force_evaluation(static_cast<unsigned>(__cvta_generic_to_shared(address)));
    return static_cast<T*>(__cvta_shared_to_generic(evaluated));
}

// Leading zeros, which are 32 or 64 for 0; and the number of set bits.
WARPFOLD_DEVICE unsigned count_leading_zeros(unsigned word) { return __clz(static_cast<int>(word)); }
WARPFOLD_DEVICE unsigned count_leading_zeros(unsigned long long word) { return __clzll(static_cast<long long>(word)); }
WARPFOLD_DEVICE unsigned popcount(unsigned word) { return __popc(word); }
WARPFOLD_DEVICE unsigned popcount(unsigned long long word) { return __popcll(word); }

// Shuffles of one 32-bit word within a whole warp.
WARPFOLD_DEVICE unsigned shuffle_xor(unsigned word, unsigned distance) {
    return __shfl_xor_sync(FULL_WARP, word, distance);
}
WARPFOLD_DEVICE unsigned shuffle_down(unsigned word, unsigned distance) {
    return __shfl_down_sync(FULL_WARP, word, distance);
}
WARPFOLD_DEVICE unsigned shuffle_from(unsigned word, unsigned lane) {
    return __shfl_sync(FULL_WARP, word, lane);
}

// The sum, the greatest, the least, or the bitwise and, or, exclusive or of one word a lane, in all
// lanes. An instruction from 8.0 on, and shuffles before.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define WARPFOLD_OF_LANES(name, Word, instruction, both) \
    WARPFOLD_DEVICE Word name(Word word) { return instruction(FULL_WARP, word); }
#else
#define WARPFOLD_OF_LANES(name, Word, instruction, both)                     \
    WARPFOLD_DEVICE Word name(Word a) {                                      \
        for (unsigned distance = 1; distance < WARP_LANES; distance *= 2) { \
            const Word b = __shfl_xor_sync(FULL_WARP, a, distance);          \
            a = both;                                                        \
        }                                                                    \
        return a;                                                            \
    }
#endif
WARPFOLD_OF_LANES(sum_of_lanes, unsigned, __reduce_add_sync, a + b)
WARPFOLD_OF_LANES(max_of_lanes, unsigned, __reduce_max_sync, a < b ? b : a)
WARPFOLD_OF_LANES(max_of_lanes, int, __reduce_max_sync, a < b ? b : a)
WARPFOLD_OF_LANES(min_of_lanes, unsigned, __reduce_min_sync, a < b ? a : b)
WARPFOLD_OF_LANES(min_of_lanes, int, __reduce_min_sync, a < b ? a : b)
WARPFOLD_OF_LANES(and_of_lanes, unsigned, __reduce_and_sync, a & b)
WARPFOLD_OF_LANES(or_of_lanes, unsigned, __reduce_or_sync, a | b)
WARPFOLD_OF_LANES(xor_of_lanes, unsigned, __reduce_xor_sync, a ^ b)
#undef WARPFOLD_OF_LANES

WARPFOLD_DEVICE float float_from_bits(unsigned bits) { return __uint_as_float(bits); }
// The number whose bits as a 16-bit float of IEEE 754 these are.
WARPFOLD_DEVICE float float_of_half(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
WARPFOLD_DEVICE double double_from_bits(unsigned long long bits) { return __longlong_as_double((long long)bits); }
WARPFOLD_DEVICE unsigned bits_of(float value) { return __float_as_uint(value); }
WARPFOLD_DEVICE unsigned long long bits_of(double value) { return (unsigned long long)__double_as_longlong(value); }

// The lesser or the greater of two floats, with -0 below +0. If one is a NaN, `*_number` returns
// the other operand. `*_or_nan` returns a NaN, possibly of other bits; it exists from 8.0 on.
#define WARPFOLD_MIN_MAX(name, instruction)                                      \
    WARPFOLD_DEVICE float name(float a, float b) {                              \
        float chosen;                                                           \
        asm(instruction " %0, %1, %2;" : "=f"(chosen) : "f"(a), "f"(b));       \
        return chosen;                                                          \
    }
WARPFOLD_MIN_MAX(min_number, "min.f32")
WARPFOLD_MIN_MAX(max_number, "max.f32")
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
WARPFOLD_MIN_MAX(min_or_nan, "min.NaN.f32")
WARPFOLD_MIN_MAX(max_or_nan, "max.NaN.f32")
#define WARPFOLD_HAS_NAN_MIN_MAX
#endif
#undef WARPFOLD_MIN_MAX

// The result of a load of WIDTH bytes from a multiple of WIDTH: 32-bit words, with the bytes in
// memory order. After a load of less than a word, the upper bytes of the word are 0.
template <unsigned WIDTH>
struct Load;

template <>
struct Load<16> {
    typedef uint4 Loaded;
    unsigned word[4];
    WARPFOLD_DEVICE explicit Load(uint4 loaded) {
        word[0] = loaded.x, word[1] = loaded.y, word[2] = loaded.z, word[3] = loaded.w;
    }
};
template <>
struct Load<8> {
    typedef uint2 Loaded;
    unsigned word[2];
    WARPFOLD_DEVICE explicit Load(uint2 loaded) { word[0] = loaded.x, word[1] = loaded.y; }
};
template <>
struct Load<4> {
    typedef unsigned Loaded;
    unsigned word[1];
    WARPFOLD_DEVICE explicit Load(unsigned loaded) { word[0] = loaded; }
};
template <>
struct Load<2> {
    typedef unsigned short Loaded;
    unsigned word[1];
    WARPFOLD_DEVICE explicit Load(unsigned short loaded) { word[0] = loaded; }
};
template <>
struct Load<1> {
    typedef unsigned char Loaded;
    unsigned word[1];
    WARPFOLD_DEVICE explicit Load(unsigned char loaded) { word[0] = loaded; }
};

// Requests the line of an address for the first- or the second-level cache, without waiting.
template <unsigned LEVEL>
WARPFOLD_DEVICE void prefetch(const void* address) {
    if constexpr (LEVEL == 1)
        asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global(address)));
    else
        asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)));
}

// Loads of WIDTH bytes from a multiple of WIDTH.
#define WARPFOLD_LOADS(name, instruction)                                                                     \
    template <unsigned WIDTH>                                                                                 \
    WARPFOLD_DEVICE Load<WIDTH> name(const void* address) {                                                   \
        const unsigned long long from = __cvta_generic_to_global(address);                                    \
        if constexpr (WIDTH == 16) {                                                                          \
            uint4 loaded;                                                                                     \
            asm volatile(instruction ".v4.u32 {%0, %1, %2, %3}, [%4];"                                        \
                         : "=r"(loaded.x), "=r"(loaded.y), "=r"(loaded.z), "=r"(loaded.w)                     \
                         : "l"(from));                                                                        \
            return Load<16>(loaded);                                                                          \
        } else if constexpr (WIDTH == 8) {                                                                    \
            uint2 loaded;                                                                                     \
            asm volatile(instruction ".v2.u32 {%0, %1}, [%2];" : "=r"(loaded.x), "=r"(loaded.y) : "l"(from)); \
            return Load<8>(loaded);                                                                           \
        } else {                                                                                              \
            unsigned loaded;                                                                                  \
            if constexpr (WIDTH == 4) asm volatile(instruction ".u32 %0, [%1];" : "=r"(loaded) : "l"(from));  \
            if constexpr (WIDTH == 2) asm volatile(instruction ".u16 %0, [%1];" : "=r"(loaded) : "l"(from));  \
            if constexpr (WIDTH == 1) asm volatile(instruction ".u8 %0, [%1];" : "=r"(loaded) : "l"(from));   \
            return Load<WIDTH>(static_cast<typename Load<WIDTH>::Loaded>(loaded));                            \
        }                                                                                                     \
    }
// For memory that the previous launch may write until `grid_dependency_wait` returns its address.
// Not a load of constant memory, which an assembler may move above the wait.
WARPFOLD_LOADS(load_written, "ld.global")
// The same for data that is rarely loaded again. It keeps no line of the first-level cache
// afterwards: loads in flight need those lines.
WARPFOLD_LOADS(stream_written, "ld.global.L1::no_allocate")
#undef WARPFOLD_LOADS
// A load of any other memory.
template <unsigned WIDTH>
WARPFOLD_DEVICE Load<WIDTH> read(const void* address) {
    return Load<WIDTH>(*static_cast<const typename Load<WIDTH>::Loaded*>(address));
}
// Stores WIDTH bytes to a multiple of WIDTH: whole words, or the lower bytes of one word.
template <unsigned WIDTH>
WARPFOLD_DEVICE void write(void* address, const unsigned* word) {
    typename Load<WIDTH>::Loaded* const to = static_cast<typename Load<WIDTH>::Loaded*>(address);
    if constexpr (WIDTH == 16)
        *to = make_uint4(word[0], word[1], word[2], word[3]);
    else if constexpr (WIDTH == 8)
        *to = make_uint2(word[0], word[1]);
    else
        *to = static_cast<typename Load<WIDTH>::Loaded>(word[0]);
}

// Copies WIDTH bytes from global to shared memory, between multiples of WIDTH, which is at least 4.
// The copy is complete when the calling thread returns from `async_wait`.
template <unsigned WIDTH>
WARPFOLD_DEVICE void async_copy(void* to, const void* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (WIDTH == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(__cvta_generic_to_global(from)) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(__cvta_generic_to_global(from)), "n"(WIDTH)
                     : "memory");
#else
    write<WIDTH>(to, read<WIDTH>(from).word);
#endif
}
WARPFOLD_DEVICE void async_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Orders the accesses of a warp's lanes to shared memory.
WARPFOLD_DEVICE void warp_barrier() { __syncwarp(); }

// Allows the next launch of the same call to begin. The last launch of a call must not allow it:
// see `docs/ARCHITECTURE.md`.
WARPFOLD_DEVICE void trigger_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Waits until the previous launch has ended, if this one began before that. The address is computed
// before the wait.
template <class T>
WARPFOLD_DEVICE const T* grid_dependency_wait(const T* address) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" : "+l"(address)::"memory");
#endif
    return address;
}

// Stores or loads 8 bytes at once, for communication with other blocks or the host during the
// kernel.
WARPFOLD_DEVICE void publish(unsigned long long* to, unsigned long long value) {
    *static_cast<volatile unsigned long long*>(to) = value;
}
WARPFOLD_DEVICE unsigned long long published(const unsigned long long* from) {
    return *static_cast<const volatile unsigned long long*>(from);
}
// Loads two of those words from a multiple of 16. Each word is whole, but the two may be of
// different times.
WARPFOLD_DEVICE void published(const unsigned long long* from, unsigned long long (&pair)[2]) {
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(pair[0]), "=l"(pair[1])
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
}
// A short wait between two polls: constant polling delays the writers.
WARPFOLD_DEVICE void pause() { asm volatile("nanosleep.u32 100;"); }
// Adds, and returns the value before the addition.
WARPFOLD_DEVICE unsigned long long atomic_add(unsigned long long* to, unsigned long long value) {
    return atomicAdd(to, value);
}
// Adds to a number that stands at the beginning of a word.
WARPFOLD_DEVICE void atomic_add_float(unsigned long long* to, float value) {
    atomicAdd(reinterpret_cast<float*>(to), value);
}
WARPFOLD_DEVICE void atomic_add_double(unsigned long long* to, double value) {
    atomicAdd(reinterpret_cast<double*>(to), value);
}
// Writes `value` if `expected` is there. Returns the value before.
WARPFOLD_DEVICE unsigned long long compare_and_swap(unsigned long long* to, unsigned long long expected,
                                                    unsigned long long value) {
    return atomicCAS(to, expected, value);
}
// A thread that sees a write after the fence also sees the writes before it.
WARPFOLD_DEVICE void fence() { __threadfence(); }

}  // namespace warpfold
