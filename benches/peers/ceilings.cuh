// The ceilings of the machine: a read (for reductions), a copy (for scans) and an empty launch. For
// small inputs also kernels that begin before the previous one has ended.

#pragma once

#include <cuda_runtime.h>

#include "timing.cuh"

constexpr int THREADS = 256;

struct Streaming {
    static __device__ uint4 load(const uint4* word) { return __ldcs(word); }
};
struct ReadOnlyAhead {
    static __device__ uint4 load(const uint4* word) {
        uint4 value;
        asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                     : "l"(word));
        return value;
    }
};

template <class Load, int UNROLL>
__global__ void __launch_bounds__(THREADS) read_words(const uint4* words, uint64_t count, unsigned* never) {
    unsigned all = 0;
    const uint64_t step = uint64_t(gridDim.x) * THREADS * UNROLL;
    for (uint64_t base = uint64_t(blockIdx.x) * THREADS * UNROLL + threadIdx.x; base < count; base += step) {
        uint4 loaded[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
            loaded[i] = base + i * THREADS < count ? Load::load(words + base + i * THREADS) : uint4{};
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) all ^= loaded[i].x ^ loaded[i].y ^ loaded[i].z ^ loaded[i].w;
    }
    // Almost never true. The store keeps the compiler from removing the loads.
    if (all == 0x12345678) *never = all;
}

template <int UNROLL>
__global__ void __launch_bounds__(THREADS) copy_words(const uint4* from, uint4* to, uint64_t count) {
    const uint64_t step = uint64_t(gridDim.x) * THREADS * UNROLL;
    for (uint64_t base = uint64_t(blockIdx.x) * THREADS * UNROLL + threadIdx.x; base < count; base += step) {
        uint4 loaded[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
            if (base + i * THREADS < count) loaded[i] = __ldcs(from + base + i * THREADS);
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
            if (base + i * THREADS < count) __stcs(to + base + i * THREADS, loaded[i]);
    }
}

__global__ void empty() {}

/// Writes result and flag as one word: the least work by which a kernel can answer the host.
__global__ void answer(volatile uint64_t* mapped, uint64_t serial) { *mapped = serial; }

void measure_launch(const Machine& machine) {
    const Subject by_copy{"empty", "-", 0, 0}, by_mapping{"mapped", "-", 0, 0};
    const auto launch = [&](size_t) {
        empty<<<1, 1, 0, machine.stream>>>();
        CHECK(cudaGetLastError());
    };
    launch(0);
    row("launch", by_copy, "graph", graph_times(machine, 0, launch), "-");
    const Times copied = host_times(machine, 0, [&](size_t i) {
        launch(i);
        CHECK(cudaMemcpyAsync(machine.pinned, machine.result, 4, cudaMemcpyDeviceToHost, machine.stream));
        CHECK(cudaStreamSynchronize(machine.stream));
    });
    row("launch", by_copy, "host", copied, "-");

    uint64_t *mapped, *on_device;
    CHECK(cudaHostAlloc(&mapped, sizeof *mapped, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&on_device, mapped, 0));
    *mapped = 0;
    uint64_t serial = 0;
    const Times spun = host_times(machine, 0, [&](size_t) {
        answer<<<1, 1, 0, machine.stream>>>(on_device, ++serial);
        CHECK(cudaGetLastError());
        const auto start = std::chrono::steady_clock::now();
        uint64_t spins = 0;
        while (*static_cast<volatile uint64_t*>(mapped) != serial)
            if (++spins % (1 << 20) == 0 && microseconds_since(start) > 5e6) {
                fprintf(stderr, "no answer from the GPU: %s\n", cudaGetErrorString(cudaStreamQuery(machine.stream)));
                exit(1);
            }
    });
    CHECK(cudaStreamSynchronize(machine.stream));
    CHECK(cudaFreeHost(mapped));
    row("launch", by_mapping, "host", spun, "-");
}

/// Grid sizes to try: some blocks for each multiprocessor, in a grid-stride loop, and one block for
/// each part of the words. No size occurs twice.
std::vector<unsigned> grids(const Machine& machine, uint64_t words, int unroll) {
    const uint64_t parts = (words + THREADS * unroll - 1) / (THREADS * unroll);
    std::vector<unsigned> sizes;
    for (uint64_t blocks : {2, 4, 8, 16, 32})
        if (blocks * machine.multiprocessors < parts) sizes.push_back(unsigned(blocks * machine.multiprocessors));
    sizes.push_back(unsigned(parts));
    return sizes;
}

template <class Load, int UNROLL>
void add_reads(const Machine& machine, const Views& views, uint64_t words, std::vector<Call>& ways) {
    for (unsigned blocks : grids(machine, words, UNROLL))
        ways.push_back([=, &machine](size_t i) {
            read_words<Load, UNROLL><<<blocks, THREADS, 0, machine.stream>>>(
                reinterpret_cast<const uint4*>(views[i]), words, machine.never);
            CHECK(cudaGetLastError());
        });
}

template <int UNROLL>
void add_copies(const Machine& machine, const Views& views, uint64_t words, std::vector<Call>& ways) {
    const Views targets{machine.copies, views.stride, views.count};
    for (unsigned blocks : grids(machine, words, UNROLL))
        ways.push_back([=, &machine](size_t i) {
            copy_words<UNROLL><<<blocks, THREADS, 0, machine.stream>>>(
                reinterpret_cast<const uint4*>(views[i]), reinterpret_cast<uint4*>(targets[i]), words);
            CHECK(cudaGetLastError());
        });
}

/// Measures the fastest read over grids, unrolling and kinds of load.
void measure_read(const Machine& machine, const std::vector<size_t>& sizes) {
    progress("read");
    for (size_t bytes : sizes) {
        const Views views = machine.views(bytes);
        std::vector<Call> ways;
        add_reads<Streaming, 1>(machine, views, bytes / 16, ways);
        add_reads<Streaming, 2>(machine, views, bytes / 16, ways);
        add_reads<Streaming, 4>(machine, views, bytes / 16, ways);
        add_reads<Streaming, 8>(machine, views, bytes / 16, ways);
        add_reads<ReadOnlyAhead, 2>(machine, views, bytes / 16, ways);
        add_reads<ReadOnlyAhead, 4>(machine, views, bytes / 16, ways);
        add_reads<ReadOnlyAhead, 8>(machine, views, bytes / 16, ways);
        row("read", {"-", "-", 16, bytes}, "graph", best_graph_times(machine, bytes, ways), "-");
    }
}

/// Measures the fastest copy: `bytes` are read, and the same number are written.
void measure_copy(const Machine& machine, const std::vector<size_t>& sizes) {
    progress("copy");
    for (size_t bytes : sizes) {
        const Views views = machine.views(bytes);
        std::vector<Call> ways;
        add_copies<1>(machine, views, bytes / 16, ways);
        add_copies<4>(machine, views, bytes / 16, ways);
        add_copies<8>(machine, views, bytes / 16, ways);
        ways.push_back([=, &machine](size_t i) {
            char* target = machine.copies + i % views.count * views.stride;
            CHECK(cudaMemcpyAsync(target, views[i], bytes, cudaMemcpyDeviceToDevice, machine.stream));
        });
        row("copy", {"-", "-", 16, bytes}, "graph", best_graph_times(machine, bytes, ways), "-");
    }
}

/// The work of a kernel before it waits for the previous grid. `Asks` prefetches its words into L2;
/// the previous grid may still write them. `BeginsAndAsks` first lets the next grid begin.
enum class Early { Waits, Asks, BeginsAndAsks };

/// Loads BLOCK * UNROLL words in each block, all before the first is used. It adds them to the sum,
/// in any order, or only reads them.
template <bool ADDS, Early EARLY, int BLOCK, int UNROLL>
__global__ void __launch_bounds__(BLOCK) take_early(const uint4* words, uint64_t count, float* sum) {
    const uint64_t first = uint64_t(blockIdx.x) * BLOCK * UNROLL, base = first + threadIdx.x;
#if __CUDA_ARCH__ >= 900
    if (EARLY == Early::BeginsAndAsks) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    if (EARLY != Early::Waits && threadIdx.x == 0) {
        const unsigned bytes = 16 * unsigned(min(uint64_t(BLOCK * UNROLL), count - first));
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(words + first), "r"(bytes) : "memory");
    }
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (EARLY != Early::BeginsAndAsks) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
    uint4 loaded[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
        loaded[i] = uint4{};
        // A plain load: a load of constant data could be moved before the wait.
        if (base + i * BLOCK < count)
            asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(loaded[i].x), "=r"(loaded[i].y), "=r"(loaded[i].z), "=r"(loaded[i].w)
                         : "l"(words + base + i * BLOCK));
    }
    float value = 0;
#pragma unroll
    for (int i = 0; i < UNROLL; ++i)
        value += (__uint_as_float(loaded[i].x) + __uint_as_float(loaded[i].y)) +
                 (__uint_as_float(loaded[i].z) + __uint_as_float(loaded[i].w));
    if constexpr (ADDS) {
        __shared__ float of_warp[32];
        for (int step = 1; step < 32; step *= 2) value += __shfl_down_sync(~0u, value, step);
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
        __syncthreads();
        if (threadIdx.x >= 32) return;
        value = threadIdx.x < BLOCK / 32 ? of_warp[threadIdx.x] : 0;
        for (int step = 1; step < 32; step *= 2) value += __shfl_down_sync(~0u, value, step);
        if (threadIdx.x == 0) atomicAdd(sum, value);
    } else if (value == 1.2345e30f) {
        // Almost never true. It keeps the compiler from removing the loads.
        *sum = value;
    }
}

template <bool ADDS, Early EARLY, int BLOCK, int UNROLL>
void add_early(const Machine& machine, const Views& views, uint64_t words, std::vector<Call>& ways) {
    ways.push_back([=, &machine](size_t i) {
        cudaLaunchAttribute early{};
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = unsigned((words + BLOCK * UNROLL - 1) / (BLOCK * UNROLL));
        config.blockDim = BLOCK;
        config.stream = machine.stream;
        config.attrs = &early;
        config.numAttrs = machine.begins_early ? 1 : 0;
        CHECK(cudaLaunchKernelEx(&config, take_early<ADDS, EARLY, BLOCK, UNROLL>, reinterpret_cast<const uint4*>(views[i]),
                                 words, reinterpret_cast<float*>(machine.result)));
    });
}

template <bool ADDS, Early EARLY, int BLOCK>
void add_early(const Machine& machine, const Views& views, uint64_t words, std::vector<Call>& ways) {
    add_early<ADDS, EARLY, BLOCK, 1>(machine, views, words, ways);
    add_early<ADDS, EARLY, BLOCK, 2>(machine, views, words, ways);
    add_early<ADDS, EARLY, BLOCK, 4>(machine, views, words, ways);
    add_early<ADDS, EARLY, BLOCK, 8>(machine, views, words, ways);
}

template <bool ADDS, Early EARLY>
void add_early(const Machine& machine, const Views& views, uint64_t words, std::vector<Call>& ways) {
    add_early<ADDS, EARLY, 128>(machine, views, words, ways);
    add_early<ADDS, EARLY, 256>(machine, views, words, ways);
    add_early<ADDS, EARLY, 512>(machine, views, words, ways);
    add_early<ADDS, EARLY, 1024>(machine, views, words, ways);
}

template <bool ADDS>
void measure_early(const Machine& machine, const char* who, size_t bytes) {
    const Views views = machine.views(bytes);
    std::vector<Call> ways;
    add_early<ADDS, Early::Waits>(machine, views, bytes / 16, ways);
    add_early<ADDS, Early::Asks>(machine, views, bytes / 16, ways);
    add_early<ADDS, Early::BeginsAndAsks>(machine, views, bytes / 16, ways);
    row(who, {"-", "-", 16, bytes}, "graph", best_graph_times(machine, bytes, ways), "-");
}

/// Measures the fastest read that begins early, and the fastest sum by one atomic addition a block.
/// The sweep is over block sizes, words for each thread and early work.
///
/// No block waits for the atomic additions, so hardly any kernel that gives up the order is faster.
/// A kernel that keeps the order must also make each block's value visible to another block.
void measure_early(const Machine& machine, const std::vector<size_t>& sizes) {
    progress("what begins early");
    for (size_t bytes : sizes)
        if (bytes <= 16 * MIB) {
            measure_early<false>(machine, "read-early", bytes);
            measure_early<true>(machine, "any-order", bytes);
        }
}
