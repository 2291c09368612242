// An executor that runs GPU kernels on the CPU, and is stricter than a GPU.
//
// Each GPU thread is a fiber. A fiber runs until it must wait, for its block at a barrier or for
// its warp at a shuffle. Then a seeded generator chooses another fiber that can continue, of
// several blocks (scheduler.cpp). These are errors, even where a GPU tolerates them:
//
// - a barrier or a shuffle that some thread misses;
// - threads that wait at different places;
// - an access that is out of bounds or misaligned, or to memory that no thread has written;
// - two accesses to shared memory by different threads without a barrier between them, if one of
//   the two writes (memory.cpp).
//
// The program reads requests from its standard input, one launch each, and answers on its standard
// output.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memory>

#include "machine.h"

namespace simt {
namespace {

std::vector<Kernel>& kernels() {
    static std::vector<Kernel> all;
    return all;
}

struct Request {
    uint32_t kernel, blocks, threads;
    // Bytes past an aligned address, of the input and of a separate output.
    uint32_t misalignment, output_misalignment, in_place;
    // Offsets in the kernel's first parameter, in bytes: of the addresses of the input, of the
    // output, of the words that blocks share, of the bounds of segments, and of the second of the
    // words. 0: the kernel has no such parameter.
    uint32_t input_at, output_at, words_at, bounds_at, second_word_at;
    uint64_t seed, shared, arguments, op, input, output;
    // Size of the words that blocks share, in bytes. They are part of the request and of the
    // answer.
    uint64_t words;
    // Whether the answer has the counts, and whether the previous launch may still run.
    uint64_t count, early;
    // The number of arrays in the input. Their places follow the request. 0: the whole input is one
    // array. NO_ARRAY: the kernel reads no input.
    uint64_t arrays;
    // How many of the arrays, the last ones, are offsets of segments: of both ends, or of begins and of
    // ends. An offset has `bound_bytes`.
    uint64_t bounds, bound_bytes;
    // Whether some bytes of the output may stay unwritten.
    uint64_t may_have_gaps;
};
constexpr uint64_t NO_ARRAY = ~uint64_t(0);

// The place of an array in the input, in bytes. Of a bitmap also the first bit, or NO_BITMAP.
struct Array {
    uint64_t begin, bytes, first_bit;
    // A kernel gets the address of a bit as 8 times that of its byte, plus its number.
    uint64_t address_in(const char* input) const {
        const uint64_t address = reinterpret_cast<uint64_t>(input + begin);
        return first_bit == NO_BITMAP ? address : 8 * address + first_bit;
    }
    static constexpr uint64_t NO_BITMAP = ~uint64_t(0);
};

void get(void* to, size_t bytes) {
    if (bytes > 0 && fread(to, 1, bytes, stdin) != bytes) exit(0);
}

// `from` may be null if there are no bytes.
void put(const void* from, size_t bytes) {
    if (bytes > 0) fwrite(from, 1, bytes, stdout);
}
typedef std::unique_ptr<char, void (*)(void*)> Memory;

// Allocates exactly `bytes`, so that the sanitizers find overruns. Even 0 bytes have an address.
Memory memory_of(size_t bytes) {
    void* memory = nullptr;
    if (posix_memalign(&memory, 256, bytes > 0 ? bytes : 1) != 0) abort();
    return Memory(static_cast<char*>(memory), free);
}

void serve(const Request& request) {
    std::vector<Array> arrays(request.arrays == NO_ARRAY ? 0 : request.arrays);
    get(arrays.data(), arrays.size() * sizeof(Array));
    if (request.arrays == 0) arrays.push_back({0, request.input, Array::NO_BITMAP});
    std::vector<char> sent(request.arguments + request.op);
    get(sent.data(), sent.size());
    const Memory input_memory = memory_of(request.input + request.misalignment);
    char* const input = input_memory.get() + request.misalignment;
    get(input, request.input);
    const Memory output_memory = memory_of(request.output + request.output_misalignment);
    char* const output = request.in_place ? input : output_memory.get() + request.output_misalignment;
    if (!request.in_place) memset(output, 0xa5, request.output);
    const char* const output_address = request.output > 0 ? output : nullptr;
    std::vector<unsigned long long> words(request.words / 8);
    get(words.data(), request.words);
    char* const shared_words = reinterpret_cast<char*>(words.data());
    // The address of an empty output is null.
    for (size_t k = 0; k + request.bounds < arrays.size(); ++k) {
        const uint64_t address = arrays[k].address_in(input);
        memcpy(sent.data() + request.input_at + k * sizeof address, &address, sizeof address);
    }
    if (request.bounds > 0) {
        const uint64_t begins = arrays[arrays.size() - request.bounds].address_in(input);
        const uint64_t bounds[2] = {begins, request.bounds == 2 ? arrays.back().address_in(input) : begins + request.bound_bytes};
        memcpy(sent.data() + request.bounds_at, bounds, sizeof bounds);
    }
    memcpy(sent.data() + request.output_at, &output_address, sizeof output_address);
    if (request.words) memcpy(sent.data() + request.words_at, &shared_words, sizeof shared_words);
    const char* const second_word = shared_words + 8;
    if (request.second_word_at) memcpy(sent.data() + request.second_word_at, &second_word, sizeof second_word);
    const size_t op_at = (request.arguments + 255) / 256 * 256;
    const Memory parameters = memory_of(op_at + request.op);
    memcpy(parameters.get(), sent.data(), request.arguments);
    memcpy(parameters.get() + op_at, sent.data() + request.arguments, request.op);

    launch = {};
    launch.kernel = kernels()[request.kernel];
    launch.arguments = parameters.get();
    launch.op = parameters.get() + op_at;
    launch.blocks = request.blocks;
    launch.threads = request.threads;
    launch.shared_bytes = STATIC_SHARED + request.shared;
    launch.parameters_begin = parameters.get();
    launch.parameters_end = parameters.get() + op_at + request.op;
    launch.words = shared_words;
    launch.word_bytes = request.words;
    for (const Array& array : arrays)
        if (!request.in_place) launch.regions.push_back({input + array.begin, array.bytes, false, {}, {}, {}, {}});
    launch.regions.push_back({output, request.output, true, std::vector<uint64_t>(request.output, request.in_place ? HOST : 0),
                              std::vector<unsigned>(request.output), std::vector<uint64_t>(request.output),
                              std::vector<bool>(request.output)});
    launch.counting = request.count != 0;
    launch.early = request.early != 0;
    counts = {};
    std::string wrong = run(request.seed);
    const std::vector<uint64_t>& writer = launch.regions.back().writer;
    for (size_t k = 0; SEES_ALL && !request.may_have_gaps && k < request.output && wrong.empty(); ++k)
        if (writer[k] == 0 || writer[k] == HOST) wrong = "byte " + std::to_string(k) + " of the output was never written";
    const uint64_t length = wrong.size();
    put(&length, sizeof length);
    put(wrong.data(), length);
    if (wrong.empty()) {
        put(output, request.output);
        put(words.data(), request.words);
        if (launch.counting) put(&counts, sizeof counts);
    }
    fflush(stdout);
}

}  // namespace

void add(unsigned number, Kernel kernel) {
    if (kernels().size() <= number) kernels().resize(number + 1);
    kernels()[number] = kernel;
}

}  // namespace simt

int main() {
    simt::Request request;
    for (;;) {
        simt::get(&request, sizeof request);
        simt::serve(request);
    }
}
