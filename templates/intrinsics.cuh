// Everything that is CUDA's alone, under names of our own. No other template names a CUDA builtin, so this one
// file decides what a thread, a barrier or a load is; a host-side executor replaces it and nothing else.

#define WARPFOLD_DEVICE __device__ __forceinline__
#define WARPFOLD_OUTLINED __device__ __noinline__
#define WARPFOLD_SHARED(type, name, count) __shared__ type name[count]
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

WARPFOLD_DEVICE void block_barrier() { __syncthreads(); }

// Between objects of any two types; what the compiler sees through as register moves.
WARPFOLD_DEVICE void copy_bytes(void* to, const void* from, unsigned long long bytes) { memcpy(to, from, bytes); }

// The 32 bits from bit `shift` on, below 32, of the two words.
WARPFOLD_DEVICE unsigned funnel_shift(unsigned low, unsigned high, unsigned shift) {
    return __funnelshift_r(low, high, shift);
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

WARPFOLD_DEVICE float float_from_bits(unsigned bits) { return __uint_as_float(bits); }
WARPFOLD_DEVICE double double_from_bits(unsigned long long bits) { return __longlong_as_double((long long)bits); }
WARPFOLD_DEVICE unsigned bits_of(float value) { return __float_as_uint(value); }
WARPFOLD_DEVICE unsigned long long bits_of(double value) { return (unsigned long long)__double_as_longlong(value); }

// One read-only load of WIDTH bytes from an address that is a multiple of WIDTH, as 32-bit words with the bytes in
// memory order; a load narrower than a word leaves the word's upper bytes zero.
template <unsigned WIDTH>
struct Load;

template <>
struct Load<16> {
    unsigned word[4];
    WARPFOLD_DEVICE explicit Load(const void* address) {
        const uint4 loaded = __ldg(static_cast<const uint4*>(address));
        word[0] = loaded.x, word[1] = loaded.y, word[2] = loaded.z, word[3] = loaded.w;
    }
};
template <>
struct Load<8> {
    unsigned word[2];
    WARPFOLD_DEVICE explicit Load(const void* address) {
        const uint2 loaded = __ldg(static_cast<const uint2*>(address));
        word[0] = loaded.x, word[1] = loaded.y;
    }
};
template <>
struct Load<4> {
    unsigned word[1];
    WARPFOLD_DEVICE explicit Load(const void* address) { word[0] = __ldg(static_cast<const unsigned*>(address)); }
};
template <>
struct Load<2> {
    unsigned word[1];
    WARPFOLD_DEVICE explicit Load(const void* address) { word[0] = __ldg(static_cast<const unsigned short*>(address)); }
};
template <>
struct Load<1> {
    unsigned word[1];
    WARPFOLD_DEVICE explicit Load(const void* address) { word[0] = __ldg(static_cast<const unsigned char*>(address)); }
};

}  // namespace warpfold
