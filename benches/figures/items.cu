// Makes items from their indices, by the formulas of benches/peers/operators.cuh. Every machine and
// every program makes the same items.

typedef unsigned long long u64;

__device__ u64 mix(u64 k) {
    u64 z = (k + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
__device__ int sign(u64 k) { return int(mix(k) >> 40) % 3 - 1; }
__device__ float uniform(u64 k) { return float(unsigned(mix(k) >> 40)) * 0x1p-23f - 1.0f; }

// Defines a kernel that fills an array with items of `LANES` lanes. `i` is the index of the item,
// `l` is the lane, and `k` is the index of the lane in the array.
#define ITEMS(name, Lane, LANES, value)                                                 \
    extern "C" __global__ void name(Lane* out, u64 count) {                             \
        const u64 step = u64(gridDim.x) * blockDim.x;                                   \
        for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)  \
            for (unsigned l = 0; l < LANES; ++l) {                                      \
                const u64 k = i * LANES + l;                                            \
                (void)k;                                                                \
                out[i * LANES + l] = value;                                             \
            }                                                                           \
    }

ITEMS(bits_u8, unsigned char, 1, (unsigned char)mix(k))
ITEMS(bits_u16, unsigned short, 1, (unsigned short)mix(k))
ITEMS(bits_i32, int, 1, int(mix(k)))
ITEMS(bits_u32x5, unsigned, 5, unsigned(mix(k)))
ITEMS(bits_u32x16, unsigned, 16, unsigned(mix(k)))
ITEMS(sign_f32, float, 1, float(sign(k)))
ITEMS(sign_f64, double, 1, double(sign(k)))
ITEMS(uniform_f32, float, 1, uniform(k))
ITEMS(uniform_f32x3, float, 3, uniform(k))
ITEMS(uniform_f32x6, float, 6, uniform(k))
ITEMS(uniform_f32x8, float, 8, uniform(k))
ITEMS(uniform_f32x12, float, 12, uniform(k))
ITEMS(matrix_u32x4, unsigned, 4, l == 0 || l == 3 ? unsigned(mix(k)) | 1 : unsigned(mix(k)) & ~1u)
ITEMS(map_f32x2, float, 2, l == 0 ? (mix(k) & 1 ? 1.0f : -1.0f) : float(sign(k)))
ITEMS(welford_f64x3, double, 3, l == 0 ? 1.0 : l == 1 ? double(uniform(i)) : 0.0)
ITEMS(unit_f32x4, float, 4, mix(k) & 1 ? 0.5f : -0.5f)
ITEMS(exponent_f32x2, float, 2, l == 0 ? uniform(i) : 1.0f)

// Items of four lanes, sorted with the largest first.
extern "C" __global__ void top_f32x4(float* out, u64 count) {
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        float lane[4];
        for (unsigned l = 0; l < 4; ++l) lane[l] = uniform(4 * i + l);
        for (unsigned round = 0; round < 3; ++round)
            for (unsigned l = 0; l < 3; ++l)
                if (lane[l] < lane[l + 1]) {
                    const float smaller = lane[l];
                    lane[l] = lane[l + 1];
                    lane[l + 1] = smaller;
                }
        for (unsigned l = 0; l < 4; ++l) out[4 * i + l] = lane[l];
    }
}

// Reads memory that no reduction reads, to evict the inputs from the cache.
extern "C" __global__ void read_into_cache(const uint4* words, u64 count, unsigned* never) {
    unsigned all = 0;
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        all ^= words[i].x ^ words[i].y ^ words[i].z ^ words[i].w;
    if (all == 0x12345678) *never = all;
}

// Reads words, and writes `per_warp` words for each 32 of them.
extern "C" __global__ void read_and_write(const uint4* words, u64 count, double per_warp, uint4* out) {
    const unsigned lane = threadIdx.x % 32;
    const u64 step = u64(gridDim.x) * blockDim.x / 32;
    for (u64 i = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; i < count / 32; i += step) {
        uint4 word = words[32 * i + lane];
        const u64 end = u64(double(i + 1) * per_warp);
        for (u64 to = u64(double(i) * per_warp) + lane; to < end; to += 32) out[to] = word;
        // Almost never true. The store keeps the compiler from removing the loads.
        if ((word.x ^ word.y ^ word.z ^ word.w) == 0x12345678) *out = word;
    }
}
