// The items of an operator in the machine's memory, and the check of results.

#pragma once

#include <cstring>

#include "operators.cuh"
#include "timing.cuh"

bool any_wrong = false;

/// Makes `views` copies of the first `count` items, `stride` bytes apart.
template <class Operator>
__global__ void fill(char* views, size_t stride, uint64_t count) {
    auto* items = reinterpret_cast<typename Operator::Item*>(views + blockIdx.y * stride);
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        items[i] = Operator::item(i);
}

/// Combines a run of items in each thread, in order. The items are made again from their indices,
/// so that a result also checks the items in memory.
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

/// Whether a result is the expected one. Reports a wrong result.
bool is_right(const char* who, const Subject& subject, const std::string& result, const std::string& expected) {
    if (expected == "-" || result == expected) return true;
    fprintf(stderr, "WRONG: %s, %s of %s, %zu bytes: %s, not %s\n", who, subject.operator_name, subject.item_name,
            subject.bytes, result.c_str(), expected.c_str());
    any_wrong = true;
    return false;
}
