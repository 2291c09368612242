// Times the copy ceiling and CUB's inclusive scans, for comparison with warpfold's scans. `run`
// compiles and starts the program, which writes rows of CSV without a header.
//
// Before a scan is timed, its last element and one in the middle are compared with the result of a
// plain loop. A wrong scan is reported and not timed, and makes the program fail.

#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include <cub/device/device_scan.cuh>

#include "ceilings.cuh"
#include "checking.cuh"

template <class Operator>
void measure_cub_scan(const Machine& machine, const Views& views, uint64_t count, const Subject& subject) {
    using Item = typename Operator::Item;
    const Views targets{machine.copies, views.stride, views.count};
    size_t needed = 0;
    const auto scan = [&](void* workspace, size_t i) {
        const auto* from = reinterpret_cast<const Item*>(views[i]);
        auto* to = reinterpret_cast<Item*>(targets[i]);
        if constexpr (std::is_same_v<Operator, Sum<Item>>)
            CHECK(cub::DeviceScan::InclusiveSum(workspace, needed, from, to, count, machine.stream));
        else
            CHECK(cub::DeviceScan::InclusiveScan(workspace, needed, from, to, typename Operator::Combine{}, count,
                                                 machine.stream));
    };
    scan(nullptr, 0);
    if (needed > WORKSPACE_BYTES) {
        fprintf(stderr, "CUB asks for a workspace of %zu bytes\n", needed);
        exit(1);
    }
    scan(machine.workspace, 0);
    CHECK(cudaStreamSynchronize(machine.stream));
    std::string last = "-";
    for (uint64_t length : {count / 2 + 1, count}) {
        Item item;
        CHECK(cudaMemcpy(&item, targets[0] + (length - 1) * sizeof(Item), sizeof item, cudaMemcpyDeviceToHost));
        const std::string expected = hexadecimal(expected_result<Operator>(machine, length));
        if (!is_right("cub-scan", subject, hexadecimal(item), expected)) return;
        last = expected;
    }
    const Call call = [&](size_t i) { scan(machine.workspace, i); };
    row("cub-scan", subject, "graph", graph_times(machine, subject.bytes, call), last);
    // Sizes that are no powers of two are also measured in a stream, and with inputs that a cache
    // may hold. warpfold's rows are the same.
    if ((subject.bytes & (subject.bytes - 1)) != 0) {
        const Call again = [&](size_t) { scan(machine.workspace, 0); };
        row("cub-scan", subject, "stream", stream_times(machine, subject.bytes, call), last);
        row("cub-scan", subject, "warm", graph_times(machine, subject.bytes, again), last);
    }
}

template <class Operator>
void measure_operator(const Machine& machine, const char* operator_name, const char* item_name,
                      const std::vector<size_t>& sizes) {
    using Item = typename Operator::Item;
    progress(std::string("scan by ") + operator_name + " of " + item_name);
    for (size_t bytes : sizes) {
        const Views views = machine.views(bytes);
        fill_views<Operator>(machine, views, bytes / sizeof(Item));
        measure_cub_scan<Operator>(machine, views, bytes / sizeof(Item), {operator_name, item_name, sizeof(Item), bytes});
    }
}

int main(int argc, char** argv) {
    const bool quick = argc == 2 && std::string(argv[1]) == "--quick";
    if (argc > 1 && !quick) {
        fprintf(stderr, "usage: scans [--quick]\n");
        return 2;
    }
    std::vector<size_t> sizes, some;
    for (int exponent : quick ? std::vector<int>{20, 24, 28, 30} : std::vector<int>{12, 16, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 32})
        sizes.push_back(size_t(1) << exponent);
    for (int exponent : quick ? std::vector<int>{30} : std::vector<int>{20, 24, 28, 30}) some.push_back(size_t(1) << exponent);
    const auto and_counts = [](std::vector<size_t> sizes) {
        for (size_t count : {1000, 10000, 100000, 1000000, 10000000}) sizes.push_back(count * 4);
        return sizes;
    };
    const Machine machine(arena_of(sizes.back()));
    measure_copy(machine, sizes);
    measure_operator<Sum<float>>(machine, "sum", "f32", and_counts(sizes));
    measure_operator<Max<uint8_t>>(machine, "max", "u8", some);
    measure_operator<Min>(machine, "min", "i32", and_counts(some));
    measure_operator<Sum<double>>(machine, "sum", "f64", some);
    measure_operator<MaxByNorm>(machine, "max-by-norm", "f32x3", some);
    measure_operator<AffineMaps>(machine, "affine-composition", "f32x2", some);
    measure_operator<MatrixProduct>(machine, "matrix-product", "u32x4", some);
    progress(any_wrong ? "done; some results are wrong" : "done");
    return any_wrong;
}
