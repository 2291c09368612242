// Times CUB's TransformReduce and ArgMax, for comparison with warpfold's aggregates of f32. `run`
// compiles and starts the program, which writes rows of CSV without a header.
//
// CUB keeps no order, so a result is compared with that of a plain loop to a relative error.

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include "checking.cuh"

/// Most relative difference of a result from the one of a plain loop.
constexpr double MOST_ERROR = 1e-4;

struct Uniform {
    using Item = float;
    static BOTH float item(uint64_t index) { return uniform(index); }
};

/// Times a call that leaves a number in `result`.
template <class Number>
void measure(const Machine& machine, const Subject& subject, double expected, const Call& call) {
    call(0);
    CHECK(cudaMemcpyAsync(machine.pinned, machine.result, sizeof(Number), cudaMemcpyDeviceToHost, machine.stream));
    CHECK(cudaStreamSynchronize(machine.stream));
    const double found = double(*reinterpret_cast<const Number*>(machine.pinned));
    if (!(fabs(found - expected) <= MOST_ERROR * fmax(1.0, fabs(expected)))) {
        fprintf(stderr, "WRONG: cub, %s, %zu bytes: %g, not %g\n", subject.operator_name, subject.bytes, found, expected);
        any_wrong = true;
        return;
    }
    row("cub", subject, "graph", graph_times(machine, subject.bytes, call), "-");
}

/// Times TransformReduce. `elements(i)` is an iterator over the elements of view i. `Number` is the
/// first part of the result.
template <class Number, class Item, class Combine, class Prepare, class Elements>
void transform_reduce(const Machine& machine, const Subject& subject, uint64_t count, double expected, Combine combine,
                      Prepare prepare, Item identity, const Elements& elements) {
    size_t needed = 0;
    const auto reduce = [&](void* workspace, size_t i) {
        CHECK(cub::DeviceReduce::TransformReduce(workspace, needed, elements(i), reinterpret_cast<Item*>(machine.result),
                                                 count, combine, prepare, identity, machine.stream));
    };
    reduce(nullptr, 0);
    measure<Number>(machine, subject, expected, [&](size_t i) { reduce(machine.workspace, i); });
}

struct Widen {
    BOTH double operator()(float x) const { return x; }
};
struct Product {
    BOTH double operator()(const thrust::tuple<float, float>& pair) const {
        return double(thrust::get<0>(pair)) * thrust::get<1>(pair);
    }
};
struct Single {
    BOTH Welford::Item operator()(float x) const { return {1, x, 0}; }
};
struct Exponent {
    BOTH LogSumExp::Item operator()(float x) const { return {x, 1}; }
};

void measure_size(const Machine& machine, size_t bytes) {
    const uint64_t count = bytes / sizeof(float);
    const Views views = machine.views(bytes);
    fill_views<Uniform>(machine, views, count);
    const auto view = [&](size_t i) { return reinterpret_cast<const float*>(views[i]); };
    double sum = 0, dot = 0, most = -INFINITY;
    uint64_t largest = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const float x = uniform(i);
        sum += x;
        if (x > most) most = x, largest = i;
        if (i < count / 2) dot += double(x) * uniform(i + count / 2);
    }
    const auto subject = [&](const char* name) { return Subject{name, "f32", 4, bytes}; };
    transform_reduce<double>(machine, subject("mean"), count, sum, cuda::std::plus<>{}, Widen{}, 0.0, view);
    transform_reduce<double>(machine, subject("variance"), count, double(count), Welford::Combine{}, Single{},
                             Welford::identity(), view);
    // The first part of the item is the largest exponent.
    transform_reduce<float>(machine, subject("log-sum-exp"), count, most, LogSumExp::Combine{}, Exponent{},
                            LogSumExp::identity(), view);
    transform_reduce<double>(machine, subject("dot product"), count / 2, dot, cuda::std::plus<>{}, Product{}, 0.0,
                             [&](size_t i) {
                                 return thrust::make_zip_iterator(thrust::make_tuple(view(i), view(i) + count / 2));
                             });
    size_t needed = 0;
    auto* index = reinterpret_cast<int64_t*>(machine.result);
    const auto argmax = [&](void* workspace, size_t i) {
        CHECK(cub::DeviceReduce::ArgMax(workspace, needed, view(i), reinterpret_cast<float*>(index + 1), index,
                                        int64_t(count), machine.stream));
    };
    argmax(nullptr, 0);
    measure<int64_t>(machine, subject("argmax"), double(largest), [&](size_t i) { argmax(machine.workspace, i); });
}

int main(int argc, char** argv) {
    const bool quick = argc == 2 && std::string(argv[1]) == "--quick";
    if (argc > 1 && !quick) {
        fprintf(stderr, "usage: aggregates [--quick]\n");
        return 2;
    }
    const std::vector<int> exponents = quick ? std::vector<int>{12, 20, 24, 30} : std::vector<int>{12, 14, 16, 18, 20, 22, 24, 28, 30};
    const Machine machine(arena_of(size_t(1) << exponents.back()));
    for (int exponent : exponents) {
        progress("aggregates of 2^" + std::to_string(exponent) + " bytes");
        measure_size(machine, size_t(1) << exponent);
    }
    progress(any_wrong ? "done; some results are wrong" : "done");
    return any_wrong;
}
