// Everything that is CUDA's alone, under names of our own. No other template names a CUDA builtin, so this one
// file decides what a thread, a barrier or a load is; a host-side executor replaces it and nothing else.

#define WARPFOLD_DEVICE __device__ __forceinline__
#define WARPFOLD_OUTLINED __device__ __noinline__
#define WARPFOLD_SHARED(type, name, count) __shared__ type name[count]
// As many bytes as the launch gives a block, at a multiple of 128.
#define WARPFOLD_DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#define WARPFOLD_KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define WARPFOLD_PARAMETER const __grid_constant__
// A field's offset as a constant: NVRTC has no `offsetof`, and `__builtin_offsetof` only from 13.1 on.
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
// The same for a group of so many warps, of which a block has up to 15; or for the only one. A multiprocessor has barriers for
// four blocks that do not know which of theirs they come to.
template <bool IS_ONE_OF_MANY>
WARPFOLD_DEVICE void group_barrier(unsigned group, unsigned warps) {
    if constexpr (IS_ONE_OF_MANY)
        asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(warps * WARP_LANES) : "memory");
    else
        __syncthreads();
}

// Between objects of any two types; what the compiler sees through as register moves.
WARPFOLD_DEVICE void copy_bytes(void* to, const void* from, unsigned long long bytes) { memcpy(to, from, bytes); }

// The 32 bits from bit `shift` on, below 32, of the two words.
WARPFOLD_DEVICE unsigned funnel_shift(unsigned low, unsigned high, unsigned shift) {
    return __funnelshift_r(low, high, shift);
}

// A byte of a word, by its index.
WARPFOLD_DEVICE unsigned byte_of(unsigned word, unsigned index) {
    const unsigned byte = __byte_perm(word, 0, 0x4440 + index);
    __builtin_assume(byte < 256);
    return byte;
}

// A sum and the bytes of a word, or its halves.
WARPFOLD_DEVICE unsigned sum_with_bytes(unsigned sum, unsigned word) { return __dp4a(word, 0x01010101u, sum); }
WARPFOLD_DEVICE unsigned sum_with_halves(unsigned sum, unsigned word) { return __dp2a_lo(word, 0x0101u, sum); }

// Of the halves of two words the greater ones, or the lesser. Before 9.0 there is no instruction for it.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
constexpr bool HALVES_PAY = true;
#else
constexpr bool HALVES_PAY = false;
#endif
template <bool ARE_SIGNED>
WARPFOLD_DEVICE unsigned greater_halves(unsigned a, unsigned b) {
    return ARE_SIGNED ? __vmaxs2(a, b) : __vmaxu2(a, b);
}
template <bool ARE_SIGNED>
WARPFOLD_DEVICE unsigned lesser_halves(unsigned a, unsigned b) {
    return ARE_SIGNED ? __vmins2(a, b) : __vminu2(a, b);
}

// A value that is computed here, not where it is wanted.
WARPFOLD_DEVICE unsigned settle(unsigned word) {
    asm volatile("" : "+r"(word));
    return word;
}
template <class T>
WARPFOLD_DEVICE T* settle(T* address) {
    asm volatile("" : "+l"(address));
    return address;
}
// The same of an address in shared memory, which stays known to be one: from 9.0 on where that begins takes long to tell.
template <class T>
WARPFOLD_DEVICE T* settle_shared(T* address) {
    const unsigned settled = settle(static_cast<unsigned>(__cvta_generic_to_shared(address)));
    return static_cast<T*>(__cvta_shared_to_generic(settled));
}

// The leading zeros of a word, 32 or 64 for none set, and the set bits.
WARPFOLD_DEVICE unsigned leading_zeros_of(unsigned word) { return __clz(static_cast<int>(word)); }
WARPFOLD_DEVICE unsigned leading_zeros_of(unsigned long long word) { return __clzll(static_cast<long long>(word)); }
WARPFOLD_DEVICE unsigned ones_of(unsigned word) { return __popc(word); }
WARPFOLD_DEVICE unsigned ones_of(unsigned long long word) { return __popcll(word); }

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

// Of a word of each lane of a warp the sum, the greatest or the least, or what all, any or an odd number of them have of each bit:
// in all lanes. Before 8.0, where there is no instruction for it, by shuffles.
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
WARPFOLD_OF_LANES(greatest_of_lanes, unsigned, __reduce_max_sync, a < b ? b : a)
WARPFOLD_OF_LANES(greatest_of_lanes, int, __reduce_max_sync, a < b ? b : a)
WARPFOLD_OF_LANES(least_of_lanes, unsigned, __reduce_min_sync, a < b ? a : b)
WARPFOLD_OF_LANES(least_of_lanes, int, __reduce_min_sync, a < b ? a : b)
WARPFOLD_OF_LANES(and_of_lanes, unsigned, __reduce_and_sync, a & b)
WARPFOLD_OF_LANES(or_of_lanes, unsigned, __reduce_or_sync, a | b)
WARPFOLD_OF_LANES(xor_of_lanes, unsigned, __reduce_xor_sync, a ^ b)
#undef WARPFOLD_OF_LANES

WARPFOLD_DEVICE float float_from_bits(unsigned bits) { return __uint_as_float(bits); }
WARPFOLD_DEVICE double double_from_bits(unsigned long long bits) { return __longlong_as_double((long long)bits); }
WARPFOLD_DEVICE unsigned bits_of(float value) { return __float_as_uint(value); }
WARPFOLD_DEVICE unsigned long long bits_of(double value) { return (unsigned long long)__double_as_longlong(value); }

// Of two floats the lesser or the greater, -0 below +0: of one and a NaN the one, or, from 8.0 on, a NaN, which may
// be another one.
#define WARPFOLD_CHOICE(name, instruction)                                      \
    WARPFOLD_DEVICE float name(float a, float b) {                              \
        float chosen;                                                           \
        asm(instruction " %0, %1, %2;" : "=f"(chosen) : "f"(a), "f"(b));       \
        return chosen;                                                          \
    }
WARPFOLD_CHOICE(lesser_number, "min.f32")
WARPFOLD_CHOICE(greater_number, "max.f32")
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
WARPFOLD_CHOICE(lesser_or_nan, "min.NaN.f32")
WARPFOLD_CHOICE(greater_or_nan, "max.NaN.f32")
#define WARPFOLD_CHOOSES_NAN
#endif
#undef WARPFOLD_CHOICE

// A load of WIDTH bytes from an address that is a multiple of WIDTH, as 32-bit words with the bytes in memory order; one
// narrower than a word leaves the word's upper bytes zero.
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

// Brings the line of an address to the first- or the second-level cache, some time.
template <unsigned LEVEL>
WARPFOLD_DEVICE void prefetch(const void* address) {
    if constexpr (LEVEL == 1)
        asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global(address)));
    else
        asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)));
}

// Loads of WIDTH bytes at a multiple of as many.
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
// Memory that the launch before may write until `when_written` returns its address. Not what is said to be constant while a kernel runs:
// an assembler may load that before.
WARPFOLD_LOADS(load_written, "ld.global")
// Memory of it that hardly anybody loads again, and that needs no line of the first-level cache afterwards: loads on their way have theirs
// there.
WARPFOLD_LOADS(stream_written, "ld.global.L1::no_allocate")
#undef WARPFOLD_LOADS
// Any other memory.
template <unsigned WIDTH>
WARPFOLD_DEVICE Load<WIDTH> read(const void* address) {
    return Load<WIDTH>(*static_cast<const typename Load<WIDTH>::Loaded*>(address));
}
// WIDTH bytes at a multiple of as many: words, or what the word has of them.
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

// WIDTH bytes, a word or more, at multiples of as many, from global to shared memory, some time before `async_wait` returns
// to whoever asked.
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

// Orders what the lanes of a warp do to shared memory.
WARPFOLD_DEVICE void warp_barrier() { __syncwarp(); }

// The next launch of the same call may begin before this launch has ended. No launch of another call may: see `docs/ARCHITECTURE.md`.
WARPFOLD_DEVICE void let_next_launch_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Waits until the launch before has ended, if this one has begun earlier. The address is computed before the wait.
template <class T>
WARPFOLD_DEVICE const T* when_written(const T* address) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" : "+l"(address)::"memory");
#endif
    return address;
}

// For whoever looks while the kernel runs, the host or another block: all eight bytes at once.
WARPFOLD_DEVICE void publish(unsigned long long* to, unsigned long long value) {
    *static_cast<volatile unsigned long long*>(to) = value;
}
WARPFOLD_DEVICE unsigned long long published(const unsigned long long* from) {
    return *static_cast<const volatile unsigned long long*>(from);
}
// Two of them at once, at a multiple of 16: each as a whole, and maybe one without the other.
WARPFOLD_DEVICE void published(const unsigned long long* from, unsigned long long (&pair)[2]) {
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(pair[0]), "=l"(pair[1])
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
}
// Before it is looked at again: whoever looks all the time delays those who write.
WARPFOLD_DEVICE void pause() { asm volatile("nanosleep.u32 100;"); }
// What was there before.
WARPFOLD_DEVICE unsigned long long atomic_add(unsigned long long* to, unsigned long long value) {
    return atomicAdd(to, value);
}
// To a number at the beginning of a word.
WARPFOLD_DEVICE void atomic_add_float(unsigned long long* to, float value) {
    atomicAdd(reinterpret_cast<float*>(to), value);
}
WARPFOLD_DEVICE void atomic_add_double(unsigned long long* to, double value) {
    atomicAdd(reinterpret_cast<double*>(to), value);
}
// Writes the value if `expected` is there.
WARPFOLD_DEVICE unsigned long long compare_and_swap(unsigned long long* to, unsigned long long expected,
                                                    unsigned long long value) {
    return atomicCAS(to, expected, value);
}
// Lets whoever sees what comes after it see what came before it, too.
WARPFOLD_DEVICE void fence() { __threadfence(); }

}  // namespace warpfold
