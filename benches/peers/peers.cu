// Times the peers of warpfold's reductions that are C++: the machine's ceilings, and the reductions
// of CUB and Thrust. `run` compiles and starts the program, which writes rows of CSV without a
// header.
//
// Before a reduction is timed, its result is compared with that of a plain loop. A wrong result is
// reported and not timed, and makes the program fail.

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

#include "ceilings.cuh"
#include "checking.cuh"

// CCCL 3.1 introduced CUB's sum that gives the same bits on every GPU.
#define HAS_GPU_TO_GPU (CCCL_VERSION >= 3001000)
#if HAS_GPU_TO_GPU
#    include <cuda/__execution/determinism.h>
#    include <cuda/__execution/require.h>
#    include <cuda/__memory_resource/get_memory_resource.h>
#    include <cuda/std/__execution/env.h>
#    include <cuda/stream_ref>
#endif

/// Times a call that leaves its result in device memory.
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
    row(who, subject, "stream", stream_times(machine, subject.bytes, call), expected);
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
/// Gives CUB memory that is already allocated. Otherwise CUB allocates at every call, which takes
/// longer than a small reduction.
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
    // Early versions refuse a 64-bit length, and version 3.5 gives a different sum for 2^30 items.
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

/// Thrust allocates and synchronises at every call, so it cannot be recorded in a graph.
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
            // There are two arenas. The remainder is for other memory.
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
    // The ceilings read and copy data as random as the operators' items.
    fill_views<Min>(machine, {machine.arena, arena_bytes, 1}, arena_bytes / sizeof(Min::Item));

    measure_launch(machine);
    measure_read(machine, all);
    measure_early(machine, all);
    measure_operator<Sum<float>>(machine, "sum", "f32", all);
    measure_operator<Max<uint8_t>>(machine, "max", "u8", some);
    measure_operator<Max<uint16_t>>(machine, "max", "u16", some);
    measure_operator<Min>(machine, "min", "i32", some);
    measure_operator<Sum<double>>(machine, "sum", "f64", some);
    measure_operator<MaxByNorm>(machine, "max-by-norm", "f32x3", some);
    measure_operator<MatrixProduct>(machine, "matrix-product", "u32x4", some);
    measure_operator<MaxOfIntegers<5>>(machine, "max", "u32x5", some);
    measure_operator<BoundingBox>(machine, "bounding-box", "f32x6", some);
    measure_operator<MaxOfFloats<8>>(machine, "max", "f32x8", some);
    measure_operator<MaxOfFloats<12>>(machine, "max", "f32x12", some);
    measure_operator<MaxOfIntegers<16>>(machine, "max", "u32x16", some);
    measure_operator<LogSumExp>(machine, "log-sum-exp", "f32x2", some);
    measure_operator<TopFour>(machine, "top-4", "f32x4", some);
    measure_operator<QuaternionProduct>(machine, "quaternion-product", "f32x4", some);
    measure_operator<Welford>(machine, "welford", "f64x3", some);
    progress(any_wrong ? "done; some results are wrong" : "done");
    return any_wrong;
}
