// What warpfold is measured beside, as far as it is C++: the ceilings of the machine (pure read, copy, empty launch), and
// the reductions of CUB and Thrust. `run` compiles and starts it; it writes rows of CSV, whose header `run` gives.
//
// The data. Any program can make the same items from their index alone, and so compare its results with these:
//     mix(k)          the finalizer of splitmix64, of (k + 1) * 0x9E3779B97F4A7C15, wrapping
//     sign(k)         (mix(k) >> 40) % 3 - 1, one of -1, 0, 1 (sums)
//     uniform(k)      (mix(k) >> 40) / 2^23 - 1, in [-1, 1), without rounding (maxima, minima, norms, statistics)
//     bits(k)         the low bits of mix(k), as many as the type has (integers)
//     signed_half(k)  1/2 if mix(k) is odd, else -1/2 (quaternions)
// At k = 0, 1, 2: mix e220a8397b1dcdaf 6e789e6aa1b965f4 06c45d188009454f; sign -1 0 0;
// uniform 0x1.8882ap-1 -0x1.18762p-3 -0x1.e4ee8cp-1; signed_half 1/2 -1/2 1/2.
// Lane l of item i is made of k = i * lanes + l, as in one flat array, unless the operator below says otherwise.
//
// Sums of -1, 0 and 1 are whole numbers, and in whatever order a program adds 2^32 of such noise, no partial sum comes
// near 2^24: every order gives the same bits. Four lanes of +-1/2 are a unit of Hurwitz's quaternions, and so are all
// products of such: they neither grow, vanish nor round. No two points here are nearly as far from the origin as the
// farthest, so a fused multiply-add moves nothing.
//
// The rows. An input of `bytes` has bytes / item_bytes items, rounded down; items of several lanes are named by them, as
// f32x3 is. Copies read `bytes` and write as many. `result` is the hexadecimal of the result's bytes as they lie in
// memory, or - where programs need not agree.
//
// The times. All inputs are cold: calls go round views of the same data, 256 MiB of them or more, and something else is
// read before each replay, so that no view is found in the cache. `graph` is the time of a replayed CUDA graph of many
// calls divided by their number; `host` is from the call to the scalar in the host's hand. A result is compared with one
// made here by a plain loop before it is timed; one that differs is reported, not timed, and fails the program.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <cub/device/device_reduce.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/version>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

// CUB's sum that gives the same bits on every GPU came with CCCL 3.1.
#define HAS_GPU_TO_GPU (CCCL_VERSION >= 3001000)
#if HAS_GPU_TO_GPU
#    include <cuda/__execution/determinism.h>
#    include <cuda/__execution/require.h>
#    include <cuda/__memory_resource/get_memory_resource.h>
#    include <cuda/std/__execution/env.h>
#    include <cuda/stream_ref>
#endif

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error));      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define BOTH __host__ __device__ inline

// ---- The data ----

BOTH uint64_t mix(uint64_t k) {
    uint64_t z = (k + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
template <class T>
BOTH T sign(uint64_t k) {
    return T(int(mix(k) >> 40) % 3 - 1);
}
BOTH float uniform(uint64_t k) { return float(uint32_t(mix(k) >> 40)) * 0x1p-23f - 1.0f; }
template <class T>
BOTH T bits(uint64_t k) {
    return T(mix(k));
}
BOTH float signed_half(uint64_t k) { return mix(k) & 1 ? 0.5f : -0.5f; }

// ---- The operators ----
//
// Each has an `Item`, the item of an index, an identity (which CUB asks for), what combines (CUB's own function objects
// where it has them: it knows them and is faster with them), and whether every order must give the same bits.

/// Aligned as far as its size permits, up to 16 bytes, so that the compiler may load it in the widest words.
template <class T, int LANES>
struct alignas(std::min<size_t>(16, sizeof(T) * LANES & -(sizeof(T) * LANES))) Lanes {
    T lane[LANES];
};

template <class T, int LANES, class Lane>
BOTH Lanes<T, LANES> lanes_of_item(uint64_t item, Lane lane) {
    Lanes<T, LANES> lanes;
    for (int l = 0; l < LANES; ++l) lanes.lane[l] = lane(item * LANES + l);
    return lanes;
}

template <class T>
struct Sum {
    using Item = T;
    using Combine = cuda::std::plus<>;
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return sign<T>(index); }
    static BOTH Item identity() { return 0; }
};

template <class T>
struct Max {
    using Item = T;
    using Combine = cuda::maximum<>;
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return bits<T>(index); }
    static BOTH Item identity() { return 0; }
};

struct Min {
    using Item = int32_t;
    using Combine = cuda::minimum<>;
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return bits<int32_t>(index); }
    static BOTH Item identity() { return INT32_MAX; }
};

struct MaxByNorm {
    using Item = Lanes<float, 3>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            const float left = a.lane[0] * a.lane[0] + a.lane[1] * a.lane[1] + a.lane[2] * a.lane[2];
            const float right = b.lane[0] * b.lane[0] + b.lane[1] * b.lane[1] + b.lane[2] * b.lane[2];
            if (right > left) return b;
            return a;
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return lanes_of_item<float, 3>(index, uniform); }
    static BOTH Item identity() { return {0, 0, 0}; }
};

/// Rows; wrapping. The diagonal is odd and the rest even, by the lowest bit: so is every product, which never vanishes.
/// CUB does not keep the order, so what it makes is not the product.
struct MatrixProduct {
    using Item = Lanes<uint32_t, 4>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            return {a.lane[0] * b.lane[0] + a.lane[1] * b.lane[2], a.lane[0] * b.lane[1] + a.lane[1] * b.lane[3],
                    a.lane[2] * b.lane[0] + a.lane[3] * b.lane[2], a.lane[2] * b.lane[1] + a.lane[3] * b.lane[3]};
        }
    };
    static constexpr bool EXACT = false;
    static BOTH Item item(uint64_t index) {
        const Item any = lanes_of_item<uint32_t, 4>(index, bits<uint32_t>);
        return {any.lane[0] | 1, any.lane[1] & ~1u, any.lane[2] & ~1u, any.lane[3] | 1};
    }
    static BOTH Item identity() { return {1, 0, 0, 1}; }
};

/// The least of the first three lanes, the greatest of the last three.
struct BoundingBox {
    using Item = Lanes<float, 6>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            Item box;
            for (int l = 0; l < 3; ++l) box.lane[l] = fminf(a.lane[l], b.lane[l]);
            for (int l = 3; l < 6; ++l) box.lane[l] = fmaxf(a.lane[l], b.lane[l]);
            return box;
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return lanes_of_item<float, 6>(index, uniform); }
    static BOTH Item identity() { return {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY}; }
};

struct MaxOfFiveIntegers {
    using Item = Lanes<uint32_t, 5>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            Item largest;
            for (int l = 0; l < 5; ++l) largest.lane[l] = a.lane[l] < b.lane[l] ? b.lane[l] : a.lane[l];
            return largest;
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return lanes_of_item<uint32_t, 5>(index, bits<uint32_t>); }
    static BOTH Item identity() { return {}; }
};

template <int LANES>
struct MaxOfFloats {
    using Item = Lanes<float, LANES>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            Item largest;
            for (int l = 0; l < LANES; ++l) largest.lane[l] = fmaxf(a.lane[l], b.lane[l]);
            return largest;
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return lanes_of_item<float, LANES>(index, uniform); }
    static BOTH Item identity() {
        Item smallest;
        for (int l = 0; l < LANES; ++l) smallest.lane[l] = -INFINITY;
        return smallest;
    }
};

/// Lanes: count, mean, sum of squared distances from it. Item i is {1, uniform(i), 0}.
struct Welford {
    using Item = Lanes<double, 3>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            if (a.lane[0] == 0) return b;
            if (b.lane[0] == 0) return a;
            const double count = a.lane[0] + b.lane[0];
            const double delta = b.lane[1] - a.lane[1];
            const double weight = b.lane[0] / count;
            return {count, a.lane[1] + delta * weight, a.lane[2] + b.lane[2] + delta * delta * a.lane[0] * weight};
        }
    };
    static constexpr bool EXACT = false;
    static BOTH Item item(uint64_t index) { return {1, uniform(index), 0}; }
    static BOTH Item identity() { return {0, 0, 0}; }
};

/// Lanes: w, x, y, z. CUB does not keep the order, so what it makes is not the product.
struct QuaternionProduct {
    using Item = Lanes<float, 4>;
    struct Combine {
        BOTH Item operator()(const Item& p, const Item& q) const {
            const float *a = p.lane, *b = q.lane;
            return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
        }
    };
    static constexpr bool EXACT = false;
    static BOTH Item item(uint64_t index) { return lanes_of_item<float, 4>(index, signed_half); }
    static BOTH Item identity() { return {1, 0, 0, 0}; }
};

/// Lanes: the largest exponent, and the sum of exponentials over that of the largest. Item i is {uniform(i), 1}.
struct LogSumExp {
    using Item = Lanes<float, 2>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            if (b.lane[0] <= a.lane[0]) {
                const float rest = b.lane[1] == 0 ? 0.0f : b.lane[1] * expf(b.lane[0] - a.lane[0]);
                return {a.lane[0], a.lane[1] + rest};
            }
            const float rest = a.lane[1] == 0 ? 0.0f : a.lane[1] * expf(a.lane[0] - b.lane[0]);
            return {b.lane[0], rest + b.lane[1]};
        }
    };
    static constexpr bool EXACT = false;
    static BOTH Item item(uint64_t index) { return {uniform(index), 1}; }
    static BOTH Item identity() { return {-INFINITY, 0}; }
};

/// The four largest, largest first. The four lanes of an item are put in that order.
struct TopFour {
    using Item = Lanes<float, 4>;
    /// Puts four numbers in order that go up and then down, as two ordered lists of four do where they meet.
    static BOTH Item merge(float p, float q, float r, float s) {
        const float p1 = fmaxf(p, r), r1 = fminf(p, r), q1 = fmaxf(q, s), s1 = fminf(q, s);
        return {fmaxf(p1, q1), fminf(p1, q1), fmaxf(r1, s1), fminf(r1, s1)};
    }
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            return merge(fmaxf(a.lane[0], b.lane[3]), fmaxf(a.lane[1], b.lane[2]), fmaxf(a.lane[2], b.lane[1]),
                         fmaxf(a.lane[3], b.lane[0]));
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) {
        const Item any = lanes_of_item<float, 4>(index, uniform);
        return merge(fminf(any.lane[0], any.lane[1]), fmaxf(any.lane[0], any.lane[1]), fmaxf(any.lane[2], any.lane[3]),
                     fminf(any.lane[2], any.lane[3]));
    }
    static BOTH Item identity() { return {-INFINITY, -INFINITY, -INFINITY, -INFINITY}; }
};

// ---- The kernels ----

/// Makes `views` copies of the first `count` items, `stride` bytes apart.
template <class Operator>
__global__ void fill(char* views, size_t stride, uint64_t count) {
    auto* items = reinterpret_cast<typename Operator::Item*>(views + blockIdx.y * stride);
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) items[i] = Operator::item(i);
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
struct Cached {
    static __device__ uint4 load(const uint4* word) { return *word; }
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

// ---- The machine ----

constexpr size_t MIB = size_t(1) << 20;
/// What calls go round, at least: several times the cache.
constexpr size_t COLD_BYTES = 256 * MIB;
constexpr size_t WORKSPACE_BYTES = 64 * MIB;
constexpr size_t MOST_CALLS = 2000;

const auto START = std::chrono::steady_clock::now();
bool any_wrong = false;

double microseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void progress(const std::string& text) {
    fprintf(stderr, "[%6.1f s] %s\n", microseconds_since(START) / 1e6, text.c_str());
}

/// Copies of one input, which calls go round.
struct Views {
    char* first;
    size_t stride, count;
    char* operator[](size_t call) const { return first + call % count * stride; }
};

size_t stride_of(size_t bytes) { return (bytes + 255) / 256 * 256; }

size_t views_of(size_t bytes) {
    const size_t cold = (COLD_BYTES + bytes - 1) / bytes;
    // The end of one view evicts its start: from 4 GiB on, nothing of it is left when its turn comes again.
    const size_t least = bytes < (size_t(4) << 30) ? 2 : 1;
    return std::min(MOST_CALLS, std::max(cold, least));
}

size_t arena_of(size_t bytes) { return views_of(bytes) * stride_of(bytes); }

/// As many calls as take a few milliseconds at 4 TB/s and 2 us a call.
size_t calls_of(size_t bytes) {
    return std::clamp(size_t(4000 / (2 + double(bytes) / 4e6)), size_t(2), MOST_CALLS);
}

struct Machine {
    int multiprocessors;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    char *arena, *copies, *workspace, *result;  // on the device
    uint4* other;                               // read between replays
    char* pinned;

    explicit Machine(size_t arena_bytes) {
        CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
        CHECK(cudaMalloc(&arena, arena_bytes));
        CHECK(cudaMalloc(&copies, arena_bytes));
        CHECK(cudaMalloc(&workspace, WORKSPACE_BYTES));
        CHECK(cudaMalloc(&result, 256));
        CHECK(cudaMalloc(&other, COLD_BYTES));
        CHECK(cudaMemset(other, 0x5a, COLD_BYTES));
        CHECK(cudaMallocHost(&pinned, 256));
        CHECK(cudaDeviceSynchronize());
    }

    Views views(size_t bytes) const { return {arena, stride_of(bytes), views_of(bytes)}; }

    void evict() const {
        read_words<Cached, 4><<<multiprocessors * 8, THREADS, 0, stream>>>(
            other, COLD_BYTES / sizeof(uint4), reinterpret_cast<unsigned*>(result) + 32);
        CHECK(cudaGetLastError());
    }
};

// ---- The times ----

struct Times {
    double median, low, high;
    size_t samples;
};

Times times_of(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double part) { return samples[size_t(part * double(samples.size() - 1) + 0.5)]; };
    return {at(0.5), at(0.1), at(0.9), samples.size()};
}

using Call = std::function<void(size_t)>;

/// Time per call, where `call(i)` puts work on the stream. It has been called before: nothing is loaded late.
Times graph_times(const Machine& machine, size_t calls, size_t samples, const Call& call) {
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CHECK(cudaStreamSynchronize(machine.stream));
    CHECK(cudaStreamBeginCapture(machine.stream, cudaStreamCaptureModeThreadLocal));
    for (size_t i = 0; i < calls; ++i) call(i);
    CHECK(cudaStreamEndCapture(machine.stream, &graph));
    CHECK(cudaGraphInstantiate(&replay, graph, 0));
    CHECK(cudaGraphUpload(replay, machine.stream));
    const size_t warm_up = 2;
    std::vector<double> microseconds;
    for (size_t i = 0; i < warm_up + samples; ++i) {
        machine.evict();
        CHECK(cudaEventRecord(machine.start, machine.stream));
        CHECK(cudaGraphLaunch(replay, machine.stream));
        CHECK(cudaEventRecord(machine.stop, machine.stream));
        CHECK(cudaEventSynchronize(machine.stop));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, machine.start, machine.stop));
        if (i >= warm_up) microseconds.push_back(milliseconds * 1e3 / double(calls));
    }
    CHECK(cudaGraphExecDestroy(replay));
    CHECK(cudaGraphDestroy(graph));
    return times_of(microseconds);
}

Times graph_times(const Machine& machine, size_t bytes, const Call& call) {
    return graph_times(machine, calls_of(bytes), bytes < (size_t(4) << 30) ? 15 : 7, call);
}

/// Of several ways to do the same, the times of the fastest.
Times best_graph_times(const Machine& machine, size_t bytes, const std::vector<Call>& ways) {
    size_t best = 0;
    double least = INFINITY;
    for (size_t way = 0; way < ways.size(); ++way) {
        ways[way](0);
        const double median =
            graph_times(machine, std::max<size_t>(2, calls_of(bytes) / 4), bytes < (size_t(4) << 30) ? 3 : 1, ways[way]).median;
        if (median < least) {
            least = median;
            best = way;
        }
    }
    return graph_times(machine, bytes, ways[best]);
}

/// Time of `call(i)`, which returns when the host has the result.
Times host_times(const Machine& machine, size_t bytes, const Call& call) {
    const size_t warm_up = 5;
    const size_t samples = bytes < COLD_BYTES ? 101 : bytes < (size_t(4) << 30) ? 15 : 7;
    for (size_t i = 0; i < warm_up; ++i) call(i);
    machine.evict();
    CHECK(cudaStreamSynchronize(machine.stream));
    std::vector<double> microseconds;
    for (size_t i = 0; i < samples; ++i) {
        const auto start = std::chrono::steady_clock::now();
        call(warm_up + i);
        microseconds.push_back(microseconds_since(start));
    }
    return times_of(microseconds);
}

struct Subject {
    const char *operator_name, *item_name;
    size_t item_bytes, bytes;
};

void row(const char* who, const Subject& subject, const char* time, const Times& times, const std::string& result) {
    printf("%s,%s,%s,%zu,%zu,0,%s,%.3f,%.3f,%.3f,%zu,%s\n", who, subject.operator_name, subject.item_name,
           subject.item_bytes, subject.bytes, time, times.median, times.low, times.high, times.samples, result.c_str());
    fflush(stdout);
}

// ---- The ceilings ----

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
                reinterpret_cast<const uint4*>(views[i]), words, reinterpret_cast<unsigned*>(machine.result) + 32);
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
    CHECK(cudaMemcpyAsync(values.data(), machine.workspace, runs * sizeof(Item), cudaMemcpyDeviceToHost, machine.stream));
    CHECK(cudaStreamSynchronize(machine.stream));
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
void measure(const Machine& machine, const char* who, const Subject& subject, const std::string& expected, const Call& call) {
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
    // Early versions refuse a 64-bit length.
    if (count > INT32_MAX) return;
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
    const bool quick = argc == 2 && !strcmp(argv[1], "--quick");
    if (argc > 1 && !quick) {
        fprintf(stderr, "usage: peers [--quick]\n");
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
