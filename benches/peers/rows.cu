// Times CUB's segmented sums of f32, for comparison with warpfold's rows and segments: by a fixed size
// and by offsets. Writes rows of CSV without a header.

#include <cstdio>
#include <string>
#include <vector>

#include <cub/device/device_segmented_reduce.cuh>

#include "checking.cuh"

struct Uniform {
    using Item = float;
    static BOTH float item(uint64_t index) { return uniform(index); }
};

constexpr size_t ELEMENTS = size_t(1) << 28;
/// The longest call that is measured, in microseconds.
constexpr double MOST_MICROSECONDS = 20000;

/// Measures a call that leaves sums in `results`, unless it takes too long.
void measure(const Machine& machine, const char* who, const Subject& subject, const Call& call) {
    call(0);
    CHECK(cudaStreamSynchronize(machine.stream));
    const auto start = std::chrono::steady_clock::now();
    call(1);
    CHECK(cudaStreamSynchronize(machine.stream));
    if (microseconds_since(start) > MOST_MICROSECONDS) {
        row(who, subject, "graph", {microseconds_since(start)}, "-");
        return;
    }
    row(who, subject, "graph", graph_times(machine, subject.bytes, call), "-");
}

/// The sums of `segments` segments of `length` elements.
void measure_shape(const Machine& machine, size_t segments, size_t length) {
    const size_t bytes = 4 * segments * length;
    const Views views = machine.views(bytes);
    fill_views<Uniform>(machine, views, segments * length);
    std::vector<unsigned> offsets(segments + 1);
    for (size_t i = 0; i <= segments; ++i) offsets[i] = unsigned(i * length);
    unsigned* on_device;
    float* results;
    CHECK(cudaMalloc(&on_device, 4 * offsets.size()));
    CHECK(cudaMalloc(&results, 4 * segments));
    CHECK(cudaMemcpy(on_device, offsets.data(), 4 * offsets.size(), cudaMemcpyHostToDevice));
    const auto view = [&](size_t i) { return reinterpret_cast<const float*>(views[i]); };
    size_t needed = 0;
    const std::string by_rows = "sum by rows of " + std::to_string(length), by_segments = "sum by segments of " + std::to_string(length);
    const auto fixed = [&](void* workspace, size_t i) {
        CHECK(cub::DeviceSegmentedReduce::Sum(workspace, needed, view(i), results, int64_t(segments), int(length), machine.stream));
    };
    if (length < size_t(1) << 31) {
        fixed(nullptr, 0);
        measure(machine, "cub", {by_rows.c_str(), "f32", 4, bytes}, [&](size_t i) { fixed(machine.workspace, i); });
    }
    const auto offset = [&](void* workspace, size_t i) {
        CHECK(cub::DeviceSegmentedReduce::Sum(workspace, needed, view(i), results, int64_t(segments), on_device, on_device + 1, machine.stream));
    };
    offset(nullptr, 0);
    measure(machine, "cub", {by_segments.c_str(), "f32", 4, bytes}, [&](size_t i) { offset(machine.workspace, i); });
    CHECK(cudaFree(on_device));
    CHECK(cudaFree(results));
}

int main() {
    const Machine machine(arena_of(4 * ELEMENTS));
    for (size_t length : {2, 3, 4, 5, 7, 8, 10, 16, 32, 33, 64, 100, 128, 256, 512, 1000, 1024, 5120, 8192, 100003}) {
        progress("segments of " + std::to_string(length));
        measure_shape(machine, ELEMENTS / length, length);
    }
    for (int exponent : {20, 24, 26, 28}) {
        progress("segments of 2^" + std::to_string(exponent));
        measure_shape(machine, ELEMENTS >> exponent, size_t(1) << exponent);
    }
    for (size_t length : {10, 1000, 10000})
        for (size_t segments : {1, 10, 100, 1000}) measure_shape(machine, segments, length);
    progress("done");
    return 0;
}
