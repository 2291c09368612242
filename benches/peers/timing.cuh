// The machine, the times of calls on it, and the rows that hold them.
//
// An input of `bytes` has bytes / item_bytes items, rounded down; items of several lanes are named by them, as
// f32x3 is. Copies read `bytes` and write as many. `result` is the hexadecimal of the result's bytes as they lie in
// memory, or - where programs need not agree.
//
// All inputs are cold: calls go round views of the same data, 256 MiB of them (or as many views as a graph has calls),
// and something else is read before each replay, so that no view is found in the cache. `graph` is the time of a
// replayed CUDA graph of many calls divided by their number; `stream` is that of calls that are enqueued one by one while
// the GPU is busy; `host` is from the call to the scalar in the host's hand.

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
/// What calls go round, at least: several times the cache.
constexpr size_t COLD_BYTES = 256 * MIB;
constexpr size_t WORKSPACE_BYTES = 64 * MIB;
constexpr size_t MOST_CALLS = 2000;
/// Calls in a stream, and readings of COLD_BYTES before them, of some 60 us each, for which they are enqueued.
constexpr size_t IN_STREAM = 100;
constexpr size_t BUSY = 12;

const auto START = std::chrono::steady_clock::now();

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

__global__ void read_into_cache(const uint4* words, uint64_t count, unsigned* never) {
    unsigned all = 0;
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        all ^= words[i].x ^ words[i].y ^ words[i].z ^ words[i].w;
    // Hardly ever true, but only who has read everything knows.
    if (all == 0x12345678) *never = all;
}

struct Machine {
    int multiprocessors;
    bool begins_early;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    char *arena, *copies, *workspace, *result;  // on the device
    uint4* other;                               // on the device; read between replays
    unsigned* never;                            // on the device; where kernels pretend to write what they read
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

/// Time per call on the GPU, of calls that are enqueued one by one while it is busy with something else.
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

/// Of several ways to do the same, the times of the fastest.
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
