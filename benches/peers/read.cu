// The ceiling of any reduction: how fast this GPU reads. Every 16-byte word of a buffer is loaded once and xored; the
// best of a few grid sizes is reported. Buffers rotate, so that nothing is found in the cache.

#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        cudaError_t error = (call);                                                       \
        if (error != cudaSuccess) {                                                       \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

template <int UNROLL>
__global__ void __launch_bounds__(256) read(const uint4* words, size_t count, unsigned* out) {
    unsigned accumulated = 0;
    const size_t stride = size_t(gridDim.x) * 256 * UNROLL;
    for (size_t base = size_t(blockIdx.x) * 256 * UNROLL + threadIdx.x; base < count; base += stride) {
        uint4 loaded[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
            if (base + i * 256 < count) loaded[i] = __ldcs(words + base + i * 256);
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
            if (base + i * 256 < count) accumulated ^= loaded[i].x ^ loaded[i].y ^ loaded[i].z ^ loaded[i].w;
    }
    if (accumulated == 0x12345678) *out = accumulated;
}

int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    unsigned* out;
    CHECK(cudaMalloc(&out, 4));
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (size_t bytes : {size_t(256) << 20, size_t(1) << 30, size_t(4) << 30}) {
        std::vector<uint4*> buffers(2);
        for (auto& buffer : buffers) {
            CHECK(cudaMalloc(&buffer, bytes));
            CHECK(cudaMemset(buffer, 0x5a, bytes));
        }
        double best = 0;
        for (int per_multiprocessor : {2, 4, 6, 8, 16, 64}) {
            std::vector<float> times;
            for (int round = 0; round < 15; ++round) {
                CHECK(cudaEventRecord(start));
                read<8><<<properties.multiProcessorCount * per_multiprocessor, 256>>>(
                    buffers[round % buffers.size()], bytes / 16, out);
                CHECK(cudaEventRecord(stop));
                CHECK(cudaEventSynchronize(stop));
                float milliseconds;
                CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
                times.push_back(milliseconds);
            }
            std::sort(times.begin(), times.end());
            best = std::max(best, bytes / 1e6 / times[times.size() / 2]);
        }
        printf("read %zu MiB: %.0f GB/s\n", bytes >> 20, best);
        for (auto& buffer : buffers) CHECK(cudaFree(buffer));
    }
}
