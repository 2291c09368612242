// What warpfold is measured beside, as far as it is C++: the machine's ceilings (pure read, copy, empty launch), and
// the reductions of CUB and Thrust. `run` compiles and starts it; it writes rows of CSV, whose header `run` gives.
//
// A result is compared with one made here by a plain loop before it is timed; one that differs is reported, not timed,
// and fails the program.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include <cub/device/device_reduce.cuh>
#include <cuda/version>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#include "operators.cuh"
#include "timing.cuh"

// CUB's sum that gives the same bits on every GPU came with CCCL 3.1.
#define HAS_GPU_TO_GPU (CCCL_VERSION >= 3001000)
#if HAS_GPU_TO_GPU
#    include <cuda/__execution/determinism.h>
#    include <cuda/__execution/require.h>
#    include <cuda/__memory_resource/get_memory_resource.h>
#    include <cuda/std/__execution/env.h>
#    include <cuda/stream_ref>
#endif

// ---- The ceilings ----

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
    // Hardly ever true, but only who has read everything knows.
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

/// Result and flag in one word: the least that a kernel can do to give the host an answer.
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

/// Grids of some blocks per multiprocessor that go round the words, and one block for every part of them; none twice.
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

/// The best of a sweep over grids, unrolling and kinds of load.
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

/// `bytes` are read, and as many written.
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

// ---- The peers ----

bool any_wrong = false;

/// Makes `views` copies of the first `count` items, `stride` bytes apart.
template <class Operator>
__global__ void fill(char* views, size_t stride, uint64_t count) {
    auto* items = reinterpret_cast<typename Operator::Item*>(views + blockIdx.y * stride);
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        items[i] = Operator::item(i);
}

/// Each thread combines a run of items, in order, made anew from their indices: what is in memory is checked as well.
template <class Operator>
__global__ void fold_runs(uint64_t count, uint64_t run, typename Operator::Item* values) {
    const uint64_t thread = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const uint64_t first = thread * run;
    if (first >= count) return;
    const uint64_t end = first + run < count ? first + run : count;
    typename Operator::Item value = Operator::item(first);
    for (uint64_t i = first + 1; i < end; ++i) value = typename Operator::Combine{}(value, Operator::item(i));
    values[thread] = value;
}

template <class Operator>
typename Operator::Item expected_result(const Machine& machine, uint64_t count) {
    using Item = typename Operator::Item;
    const uint64_t most_runs = WORKSPACE_BYTES / sizeof(Item) < 65536 ? WORKSPACE_BYTES / sizeof(Item) : 65536;
    const uint64_t run = (count + most_runs - 1) / most_runs;
    const uint64_t runs = (count + run - 1) / run;
    fold_runs<Operator><<<unsigned((runs + 127) / 128), 128, 0, machine.stream>>>(
        count, run, reinterpret_cast<Item*>(machine.workspace));
    CHECK(cudaGetLastError());
    std::vector<Item> values(runs);
    CHECK(cudaStreamSynchronize(machine.stream));
    CHECK(cudaMemcpy(values.data(), machine.workspace, runs * sizeof(Item), cudaMemcpyDeviceToHost));
    Item value = values[0];
    for (uint64_t i = 1; i < runs; ++i) value = typename Operator::Combine{}(value, values[i]);
    return value;
}

template <class Operator>
void fill_views(const Machine& machine, const Views& views, uint64_t count) {
    const unsigned blocks = unsigned(std::min<uint64_t>((count + 255) / 256, machine.multiprocessors * 64));
    fill<Operator><<<dim3(blocks, unsigned(views.count)), 256, 0, machine.stream>>>(views.first, views.stride, count);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(machine.stream));
}

template <class Item>
std::string hexadecimal(const Item& item) {
    unsigned char bytes[sizeof(Item)];
    memcpy(bytes, &item, sizeof(Item));
    std::string text;
    for (unsigned char byte : bytes) {
        char digits[3];
        snprintf(digits, sizeof digits, "%02x", byte);
        text += digits;
    }
    return text;
}

/// Whether a result is as it must be; says so where it is not.
bool is_right(const char* who, const Subject& subject, const std::string& result, const std::string& expected) {
    if (expected == "-" || result == expected) return true;
    fprintf(stderr, "WRONG: %s, %s of %s, %zu bytes: %s, not %s\n", who, subject.operator_name, subject.item_name,
            subject.bytes, result.c_str(), expected.c_str());
    any_wrong = true;
    return false;
}

/// Both times of a call that leaves its result on the device.
template <class Item>
void measure(const Machine& machine, const char* who, const Subject& subject, const std::string& expected,
             const Call& call) {
    CHECK(cudaMemsetAsync(machine.result, 0xff, sizeof(Item), machine.stream));
    const auto to_host = [&](size_t i) {
        call(i);
        CHECK(cudaMemcpyAsync(machine.pinned, machine.result, sizeof(Item), cudaMemcpyDeviceToHost, machine.stream));
        CHECK(cudaStreamSynchronize(machine.stream));
    };
    to_host(0);
    if (!is_right(who, subject, hexadecimal(*reinterpret_cast<const Item*>(machine.pinned)), expected)) return;
    row(who, subject, "graph", graph_times(machine, subject.bytes, call), expected);
    row(who, subject, "host", host_times(machine, subject.bytes, to_host), expected);
}

template <class Operator>
void measure_cub(const Machine& machine, const Views& views, uint64_t count, const Subject& subject,
                 const std::string& expected) {
    using Item = typename Operator::Item;
    auto* result = reinterpret_cast<Item*>(machine.result);
    const auto reduce = [&](void* workspace, size_t& bytes, size_t i) {
        CHECK(cub::DeviceReduce::Reduce(workspace, bytes, reinterpret_cast<const Item*>(views[i]), result, count,
                                        typename Operator::Combine{}, Operator::identity(), machine.stream));
    };
    size_t needed = 0;
    reduce(nullptr, needed, 0);
    if (needed > WORKSPACE_BYTES) {
        fprintf(stderr, "CUB asks for a workspace of %zu bytes\n", needed);
        exit(1);
    }
    measure<Item>(machine, "cub", subject, expected, [&](size_t i) { reduce(machine.workspace, needed, i); });
}

#if HAS_GPU_TO_GPU
/// Gives CUB memory that is there already: else it allocates at every call, which takes longer than small reductions.
struct Reserved {
    char* memory;
    void* allocate_sync(size_t bytes, size_t = 256) {
        if (bytes > WORKSPACE_BYTES) throw std::bad_alloc();
        return memory;
    }
    void deallocate_sync(void*, size_t, size_t = 256) {}
    void* allocate(cuda::stream_ref, size_t bytes, size_t alignment = 256) { return allocate_sync(bytes, alignment); }
    void deallocate(cuda::stream_ref, void*, size_t, size_t = 256) {}
    bool operator==(const Reserved& other) const { return memory == other.memory; }
    bool operator!=(const Reserved& other) const { return memory != other.memory; }
};

void measure_gpu_to_gpu(const Machine& machine, const Views& views, uint64_t count, const Subject& subject,
                        const std::string& expected) {
    // Early versions refuse a 64-bit length, and 3.5 gives another sum for 2^30 items.
    if (count >= uint64_t(1) << 30) return;
    const auto guarantee = cuda::execution::require(cuda::execution::determinism::gpu_to_gpu);
    const cuda::stream_ref stream(machine.stream);
    const cuda::std::execution::prop memory{cuda::mr::get_memory_resource, Reserved{machine.workspace}};
    const cuda::std::execution::env environment{guarantee, stream, memory};
    auto* result = reinterpret_cast<float*>(machine.result);
    measure<float>(machine, "cub-gpu-to-gpu", subject, expected, [&](size_t i) {
        CHECK(cub::DeviceReduce::Reduce(reinterpret_cast<const float*>(views[i]), result, uint32_t(count),
                                        cuda::std::plus<>{}, 0.0f, environment));
    });
}
#endif

/// Thrust allocates, and returns to the host, at every call: it has no time in a graph.
void measure_thrust(const Machine& machine, const Views& views, uint64_t count, const Subject& subject,
                    const std::string& expected) {
    float result = NAN;
    const auto reduce = [&](size_t i) {
        const auto* items = reinterpret_cast<const float*>(views[i]);
        result = thrust::reduce(thrust::cuda::par.on(machine.stream), items, items + count, 0.0f, cuda::std::plus<>{});
    };
    reduce(0);
    if (!is_right("thrust", subject, hexadecimal(result), expected)) return;
    row("thrust", subject, "host", host_times(machine, subject.bytes, reduce), expected);
}

template <class Operator>
void measure_operator(const Machine& machine, const char* operator_name, const char* item_name,
                      const std::vector<size_t>& sizes) {
    using Item = typename Operator::Item;
    progress(std::string(operator_name) + " of " + item_name);
    for (size_t bytes : sizes) {
        const Subject subject{operator_name, item_name, sizeof(Item), bytes};
        const uint64_t count = bytes / sizeof(Item);
        const Views views = machine.views(bytes);
        fill_views<Operator>(machine, views, count);
        std::string expected = "-";
        if constexpr (Operator::EXACT) expected = hexadecimal(expected_result<Operator>(machine, count));
        measure_cub<Operator>(machine, views, count, subject, expected);
        if constexpr (std::is_same_v<Operator, Sum<float>>) {
#if HAS_GPU_TO_GPU
            measure_gpu_to_gpu(machine, views, count, subject, expected);
#endif
            measure_thrust(machine, views, count, subject, expected);
        }
    }
}

int main(int argc, char** argv) {
    if (argc == 2 && !strcmp(argv[1], "--versions")) {
        printf("cuda,%d.%d\n", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
        printf("cub,%d.%d.%d\n", CCCL_MAJOR_VERSION, CCCL_MINOR_VERSION, CCCL_PATCH_VERSION);
        return 0;
    }
    const bool quick = argc == 2 && !strcmp(argv[1], "--quick");
    if (argc > 1 && !quick) {
        fprintf(stderr, "usage: peers [--quick | --versions]\n");
        return 2;
    }
    size_t unused, total;
    CHECK(cudaMemGetInfo(&unused, &total));
    const auto sizes_of = [&](std::vector<int> exponents) {
        if (quick) exponents = {10, 20, 22, 26, 28, 30};
        std::vector<size_t> sizes;
        for (int exponent : exponents)
            // Two arenas, and something to spare.
            if (2 * arena_of(size_t(1) << exponent) + 1024 * MIB < unused) sizes.push_back(size_t(1) << exponent);
        return sizes;
    };
    std::vector<int> every;
    for (int exponent = 10; exponent <= 34; ++exponent) every.push_back(exponent);
    const std::vector<size_t> all = sizes_of(every);
    const std::vector<size_t> some = sizes_of({10, 14, 18, 20, 22, 24, 26, 28, 30, 32, 34});
    size_t arena_bytes = 0;
    for (size_t bytes : all) arena_bytes = std::max(arena_bytes, arena_of(bytes));
    progress("CCCL " + std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) + "." +
             std::to_string(CCCL_PATCH_VERSION) + (HAS_GPU_TO_GPU ? "" : ", which has no gpu_to_gpu"));
    const Machine machine(arena_bytes);
    // What is read and copied first is as random as what is reduced later.
    fill_views<Min>(machine, {machine.arena, arena_bytes, 1}, arena_bytes / sizeof(Min::Item));

    measure_launch(machine);
    measure_read(machine, all);
    measure_copy(machine, some);
    measure_operator<Sum<float>>(machine, "sum", "f32", all);
    measure_operator<Max<uint8_t>>(machine, "max", "u8", some);
    measure_operator<Max<uint16_t>>(machine, "max", "u16", some);
    measure_operator<Min>(machine, "min", "i32", some);
    measure_operator<Sum<double>>(machine, "sum", "f64", some);
    measure_operator<MaxByNorm>(machine, "max-by-norm", "f32x3", some);
    measure_operator<MatrixProduct>(machine, "matrix-product", "u32x4", some);
    measure_operator<MaxOfFiveIntegers>(machine, "max", "u32x5", some);
    measure_operator<BoundingBox>(machine, "bounding-box", "f32x6", some);
    measure_operator<MaxOfFloats<8>>(machine, "max", "f32x8", some);
    measure_operator<MaxOfFloats<12>>(machine, "max", "f32x12", some);
    measure_operator<LogSumExp>(machine, "log-sum-exp", "f32x2", some);
    measure_operator<TopFour>(machine, "top-4", "f32x4", some);
    measure_operator<QuaternionProduct>(machine, "quaternion-product", "f32x4", some);
    measure_operator<Welford>(machine, "welford", "f64x3", some);
    progress(any_wrong ? "done; some results are wrong" : "done");
    return any_wrong;
}
