// The machine, the times of calls on it, and the rows of CSV.
//
// An input of `bytes` has bytes / item_bytes items, rounded down. The name of an item gives its
// lanes, as in f32x3. A copy reads `bytes` and writes the same number. `result` is the bytes of the
// result in memory order, in hexadecimal, or - if the programs need not agree.
//
// All inputs are cold. The calls of a sample alternate between views, which are copies of the same
// data: 256 MiB of them, or one for each call of a graph. A kernel reads other memory before each
// replay, to evict the views from the cache.
//
// The times are:
// - `graph`: a replayed CUDA graph of many calls, divided by the number of calls.
// - `stream`: a call, where calls are enqueued singly while the GPU is busy.
// - `host`: from the call to the scalar in host memory.

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                                     \
    do {                                                                                                \
        const cudaError_t error = (call);                                                               \
        if (error != cudaSuccess) {                                                                     \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));   \
            exit(1);                                                                                    \
        }                                                                                               \
    } while (0)

constexpr size_t MIB = size_t(1) << 20;
/// Least bytes of all views: several times the cache.
constexpr size_t COLD_BYTES = 256 * MIB;
constexpr size_t WORKSPACE_BYTES = 64 * MIB;
constexpr size_t MOST_CALLS = 2000;
/// Calls in a sample of `stream`, and reads of COLD_BYTES before them. A read takes about 60 us, so
/// the GPU is busy while the calls are enqueued.
constexpr size_t IN_STREAM = 100;
constexpr size_t BUSY = 12;

const auto START = std::chrono::steady_clock::now();

double microseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void progress(const std::string& text) {
    fprintf(stderr, "[%6.1f s] %s\n", microseconds_since(START) / 1e6, text.c_str());
}

/// Copies of one input, between which calls alternate.
struct Views {
    char* first;
    size_t stride, count;
    char* operator[](size_t call) const { return first + call % count * stride; }
};

size_t stride_of(size_t bytes) { return (bytes + 255) / 256 * 256; }

size_t views_of(size_t bytes) {
    const size_t cold = (COLD_BYTES + bytes - 1) / bytes;
    // The end of a view evicts its start. From 4 GiB on, one view is enough: none of its start is
    // left in the cache when the next call reads it.
    const size_t least = bytes < (size_t(4) << 30) ? 2 : 1;
    return std::min(MOST_CALLS, std::max(cold, least));
}

size_t arena_of(size_t bytes) { return views_of(bytes) * stride_of(bytes); }

/// Number of calls that take a few milliseconds together, at 4 TB/s and 2 us a call.
size_t calls_of(size_t bytes) {
    return std::clamp(size_t(4000 / (2 + double(bytes) / 4e6)), size_t(2), MOST_CALLS);
}

__global__ void read_into_cache(const uint4* words, uint64_t count, unsigned* never) {
    unsigned all = 0;
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        all ^= words[i].x ^ words[i].y ^ words[i].z ^ words[i].w;
    // Almost never true. The store keeps the compiler from removing the loads.
    if (all == 0x12345678) *never = all;
}

struct Machine {
    int multiprocessors;
    bool begins_early;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    char *arena, *copies, *workspace, *result;  // on the device
    uint4* other;                               // on the device; read between replays
    unsigned* never;                            // on the device; target of stores that almost never happen
    char* pinned;

    explicit Machine(size_t arena_bytes) {
        CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
        int major;
        CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
        begins_early = major >= 9;
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
        CHECK(cudaMalloc(&arena, arena_bytes));
        CHECK(cudaMalloc(&copies, arena_bytes));
        CHECK(cudaMalloc(&workspace, WORKSPACE_BYTES));
        CHECK(cudaMalloc(&result, 256));
        CHECK(cudaMalloc(&never, sizeof *never));
        CHECK(cudaMalloc(&other, COLD_BYTES));
        CHECK(cudaMemset(other, 0x5a, COLD_BYTES));
        CHECK(cudaMallocHost(&pinned, 256));
        CHECK(cudaDeviceSynchronize());
    }

    Views views(size_t bytes) const { return {arena, stride_of(bytes), views_of(bytes)}; }

    void evict() const {
        read_into_cache<<<multiprocessors * 8, 256, 0, stream>>>(other, COLD_BYTES / sizeof(uint4), never);
        CHECK(cudaGetLastError());
    }
};

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

/// Time of a call, by a graph of calls. `call(i)` enqueues work on the stream. It must have run
/// before, so that nothing is loaded during the capture.
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

/// GPU time of a call. Calls are enqueued singly while the GPU is busy with other work.
Times stream_times(const Machine& machine, size_t bytes, const Call& call) {
    const size_t calls = std::min(calls_of(bytes), IN_STREAM);
    const size_t warm_up = 2, samples = bytes < (size_t(4) << 30) ? 15 : 7;
    std::vector<double> microseconds;
    for (size_t i = 0; i < warm_up + samples; ++i) {
        for (size_t busy = 0; busy < BUSY; ++busy) machine.evict();
        CHECK(cudaEventRecord(machine.start, machine.stream));
        for (size_t j = 0; j < calls; ++j) call(j);
        CHECK(cudaEventRecord(machine.stop, machine.stream));
        CHECK(cudaEventSynchronize(machine.stop));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, machine.start, machine.stop));
        if (i >= warm_up) microseconds.push_back(milliseconds * 1e3 / double(calls));
    }
    return times_of(microseconds);
}

/// The times of the fastest of several ways to do the same work.
Times best_graph_times(const Machine& machine, size_t bytes, const std::vector<Call>& ways) {
    size_t best = 0;
    double least = INFINITY;
    for (size_t way = 0; way < ways.size(); ++way) {
        ways[way](0);
        const size_t calls = std::max<size_t>(2, calls_of(bytes) / 4);
        const double median = graph_times(machine, calls, bytes < (size_t(4) << 30) ? 3 : 1, ways[way]).median;
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
    const size_t samples = bytes <= 16 * MIB ? 1001 : bytes < COLD_BYTES ? 101 : bytes < (size_t(4) << 30) ? 15 : 7;
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

void row(const char* who, const Subject& subject, const char* time, const Times& times,
         const std::string& result) {
    printf("%s,%s,%s,%zu,%zu,0,%s,%.3f,%.3f,%.3f,%zu,%s\n", who, subject.operator_name, subject.item_name,
           subject.item_bytes, subject.bytes, time, times.median, times.low, times.high, times.samples, result.c_str());
    fflush(stdout);
}
