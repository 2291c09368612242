// Checks every access to memory.
//
// Accesses are seen in two ways. The intrinsics report theirs. All others are seen because the
// kernels are compiled with -fsanitize=thread, which calls a function at each access. This file
// defines those functions, and no sanitizer is linked.

#include <string.h>

#include "machine.h"

namespace simt {
namespace {

extern "C" char __executable_start, end;

uint64_t identity() { return (uint64_t(current->block->index) << 32 | current->thread) + 1; }

bool in_stack(const void* address) {
    const char* byte = static_cast<const char*>(address);
    return current && byte >= current->stack && byte < current->stack + STACK;
}

void check_shared(Block& block, size_t from, size_t count, bool write, Site site) {
    const unsigned self = current->thread;
    for (size_t k = from; k < from + count; ++k) {
        bool inside = k >= STATIC_SHARED;
        for (const Array& array : block.arrays) inside |= k >= array.begin && k < array.begin + array.bytes;
        if (!inside) fail(who(current) + " touches shared memory that nobody declared, " + at(site));
        Byte& byte = block.byte(k);
        const unsigned warp_epoch = block.warps[self / LANES].epoch;
        if (byte.in_flight) fail(who(current) + " touches what an asynchronous copy has not yet brought, " + at(site));
        if (SEES_ALL && !write && !byte.written) fail(who(current) + " reads shared memory that nobody wrote, " + at(site));
        // Two accesses since the last barrier, of the group or else of the block, are ordered in
        // two cases. Either one thread makes both, or one warp makes both and passes a barrier of
        // its own between them.
        const auto is_since = [&](unsigned other, unsigned epoch) {
            const bool same_group = block.fibers[other]->group == current->group;
            return epoch >= (same_group ? current->epoch : block.epoch);
        };
        const auto unordered = [&](unsigned other, unsigned epoch, unsigned other_warp_epoch) {
            const bool same_warp = other / LANES == self / LANES;
            return is_since(other, epoch) && other != self && !(same_warp && other_warp_epoch < warp_epoch);
        };
        // Readers of other groups. Apart from this mask only the last reader is known.
        const unsigned other_groups = current->group == NO_GROUP ? ~0u : ~(1u << current->group);
        if (write && byte.reading_since == block.epoch && (byte.reading_groups & other_groups))
            fail(who(current) + " races with another group for shared memory, " + at(site));
        const bool raced_write = byte.written && unordered(byte.writer, byte.write_epoch, byte.write_warp_epoch);
        const bool of_my_warp = !byte.many_warps && byte.reader / LANES == self / LANES;
        const bool raced_read = unordered(byte.reader, byte.read_epoch, byte.read_warp_epoch) ||
                                (byte.many_readers && is_since(byte.reader, byte.read_epoch) &&
                                 !(of_my_warp && byte.read_warp_epoch < warp_epoch));
        if (raced_write || (write && raced_read))
            fail(who(current) + " races with thread " + std::to_string(raced_write ? byte.writer : byte.reader) +
                 " for shared memory, " + at(site));
        if (write) {
            byte.written = true, byte.writer = self, byte.write_epoch = current->epoch, byte.write_warp_epoch = warp_epoch;
        } else {
            const bool another = unordered(byte.reader, byte.read_epoch, byte.read_warp_epoch);
            const bool before = byte.many_readers && is_since(byte.reader, byte.read_epoch);
            byte.many_warps = (before && byte.many_warps) || (another && byte.reader / LANES != self / LANES);
            byte.many_readers = another || (before && (byte.many_warps || byte.read_warp_epoch == warp_epoch));
            if (byte.reading_since != block.epoch) byte.reading_groups = 0, byte.reading_since = block.epoch;
            if (current->group != NO_GROUP) byte.reading_groups |= 1u << current->group;
            byte.reader = self, byte.read_epoch = current->epoch, byte.read_warp_epoch = warp_epoch;
        }
    }
}

// Publishes the thread's fenced writes, as part of an atomic operation.
void tell() {
    if (!current->fenced) return;
    current->fenced = false;
    for (Region& region : launch.regions)
        for (size_t k = 0; k < region.fencer.size(); ++k)
            if (region.fencer[k] == identity()) region.published[k] = true, region.fencer[k] = 0;
}

// Fails if a thread writes, or accesses words that blocks share, before it has waited for the
// previous launch.
void check_turn(Site site) {
    if (launch.early && !current->waited) fail(who(current) + " touches what the launch before may yet touch, " + at(site));
}

// Checks an access to a whole 64-bit word, either of the memory that blocks share or of a shared
// array of the block.
void check_word(const void* address, Site site) {
    Block& block = *current->block;
    for (const Array& array : block.arrays) {
        const char* const begin = block.shared + array.begin;
        const size_t at_byte = static_cast<const char*>(address) - begin;
        if (address < begin || at_byte % 8 != 0 || at_byte + 8 > array.bytes) continue;
        // The word was written by this thread, or before the last barrier of the block.
        const Byte& byte = block.byte(array.begin + at_byte);
        const bool is_known = byte.writer == current->thread || byte.write_epoch < block.epoch;
        if (SEES_ALL && (!byte.written || !is_known)) fail(who(current) + " touches a word that nobody has given a value, " + at(site));
        return;
    }
    const size_t at_byte = static_cast<const char*>(address) - launch.words;
    if (at_byte % 8 != 0 || at_byte + 8 > launch.word_bytes)
        fail(who(current) + " touches a word that blocks do not share, " + at(site));
    check_turn(site);
}

template <class Number>
void add_number(unsigned long long* address, Number value, Site site) {
    check_word(address, site);
    leave();
    Number before;
    memcpy(&before, address, sizeof before);
    before += value;
    memcpy(address, &before, sizeof before);
    leave();
}

}  // namespace

void* shared(size_t bytes, size_t align, Site site) {
    Block& block = *current->block;
    size_t next = 0;
    for (const Array& array : block.arrays) {
        if (array.site.line == site.line && array.site.file == site.file) return block.shared + array.begin;
        next = array.begin + array.bytes;
    }
    next = (next + align - 1) / align * align;
    if (next + bytes > STATIC_SHARED) fail("more than 48 KiB of shared memory, " + at(site));
    block.arrays.push_back({site, next, bytes});
    return block.shared + next;
}

unsigned char* dynamic_shared() { return reinterpret_cast<unsigned char*>(current->block->shared) + STATIC_SHARED; }

void fence(Site) {
    current->acquired |= current->saw;
    for (Region& region : launch.regions) {
        for (size_t k = 0; k < region.writer.size(); ++k) {
            const uint64_t writer = region.writer[k];
            if (writer == 0 || writer == ATOMIC || writer == HOST) continue;
            const bool of_block = (writer - 1) >> 32 == current->block->index;
            if (writer == identity() || (of_block && region.epoch[k] < current->block->epoch))
                region.fencer[k] = identity(), current->fenced = true;
        }
    }
}

unsigned atomic_add(unsigned* address, unsigned value, Site site) {
    for (Region& region : launch.regions) {
        const size_t at_byte = reinterpret_cast<char*>(address) - region.begin;
        if (!region.writable || at_byte + 4 > region.bytes) continue;
        for (size_t k = at_byte; k < at_byte + 4; ++k) {
            if (region.writer[k] != 0 && region.writer[k] != ATOMIC)
                fail(who(current) + " adds to what was written without an atomic operation, " + at(site));
            if (region.writer[k] == 0) region.begin_byte(k) = 0;
            region.writer[k] = ATOMIC;
        }
        tell();
        const unsigned before = *address;
        *address += value;
        current->acquired = true;
        leave();
        return before;
    }
    fail(who(current) + " adds out of bounds, " + at(site));
}

// Other threads may run before and after the store.
void publish(unsigned long long* address, unsigned long long value, Site site) {
    check_word(address, site);
    leave();
    *address = value;
    leave();
}
unsigned long long published(const unsigned long long* address, Site site) {
    check_word(address, site);
    current->looks_at = site;
    leave();
    current->looks_at = {};
    return *address;
}
// Either word of a pair may arrive before the other.
void published(const unsigned long long* address, unsigned long long (&pair)[2], Site site) {
    if (reinterpret_cast<uintptr_t>(address) % sizeof pair != 0)
        fail(who(current) + " loads " + std::to_string(sizeof pair) + " bytes from a misaligned address, " + at(site));
    const unsigned sooner = current->thread % 2;
    pair[sooner] = published(address + sooner, site);
    pair[1 - sooner] = published(address + 1 - sooner, site);
}
// These operations are relaxed: only the thread's next fence acquires the values that they read.
unsigned long long atomic_add(unsigned long long* address, unsigned long long value, Site site) {
    check_word(address, site);
    leave();
    tell();
    const unsigned long long before = *address;
    *address += value;
    current->saw = true;
    leave();
    return before;
}
void atomic_add(unsigned long long* address, float value, Site site) { add_number(address, value, site); }
void atomic_add(unsigned long long* address, double value, Site site) { add_number(address, value, site); }
unsigned long long compare_and_swap(unsigned long long* address, unsigned long long expected, unsigned long long value,
                                    Site site) {
    check_word(address, site);
    leave();
    const unsigned long long before = *address;
    if (before == expected) tell(), *address = value;
    current->saw = true;
    leave();
    return before;
}

void async_copy(void* to, const void* from, size_t bytes, Site site) {
    access(from, bytes, bytes, false, site);
    access(to, bytes, bytes, true, site);
    Block& block = *current->block;
    for (size_t k = 0; k < bytes; ++k) block.byte(static_cast<char*>(to) - block.shared + k).in_flight = true;
    current->copies.push_back({static_cast<char*>(to), static_cast<const char*>(from), bytes});
}

void async_wait(Site) {
    Block& block = *current->block;
    for (const Copy& copy : current->copies) {
        memcpy(copy.to, copy.from, copy.bytes);
        for (size_t k = 0; k < copy.bytes; ++k) {
            // The byte counts as written now, not when the copy was requested.
            Byte& byte = block.byte(copy.to - block.shared + k);
            byte.in_flight = false, byte.write_epoch = current->epoch;
            byte.write_warp_epoch = block.warps[current->thread / LANES].epoch;
        }
    }
    current->copies.clear();
}

void access(const void* address, size_t count, size_t align, bool write, Site site) {
    if (!current || count == 0 || in_stack(address)) return;
    const char* begin = static_cast<const char*>(address);
    if (reinterpret_cast<uintptr_t>(address) % align != 0)
        fail(who(current) + " loads " + std::to_string(count) + " bytes from a misaligned address, " + at(site));
    Block& block = *current->block;
    const bool is_shared = begin >= block.shared && begin < block.shared + launch.shared_bytes;
    const bool is_parameter = begin >= launch.parameters_begin && begin + count <= launch.parameters_end;
    if (launch.counting && !is_parameter) count_access(address, count, is_shared, site);
    if (is_shared) return check_shared(block, begin - block.shared, count, write, site);
    if (is_parameter && !write) return;
    for (Region& region : launch.regions) {
        if (begin + count <= region.begin || begin >= region.begin + region.bytes) continue;
        if (begin < region.begin || begin + count > region.begin + region.bytes) break;
        if (!region.writable) {
            if (write) fail(who(current) + " writes to its input, " + at(site));
            return;
        }
        if (write) check_turn(site);
        for (size_t k = begin - region.begin; k < size_t(begin - region.begin) + count; ++k) {
            uint64_t& writer = region.writer[k];
            if (SEES_ALL && !write && writer == 0) fail(who(current) + " reads output that nobody wrote, " + at(site));
            if (writer == ATOMIC) fail(who(current) + " touches what is changed by atomic operations, " + at(site));
            const bool of_block = (writer - 1) >> 32 == block.index && region.epoch[k] < block.epoch;
            const bool seen = region.published[k] && current->acquired;
            const bool of_host = writer == HOST;
            if (writer != 0 && !of_host && writer != identity() && !of_block && (write || !seen))
                fail(who(current) + " touches output that another thread wrote in this launch, " + at(site));
            if (write) writer = identity(), region.epoch[k] = block.epoch, region.published[k] = false, region.fencer[k] = 0;
        }
        return;
    }
    // Constants of the program.
    if (!write && begin >= &__executable_start && begin < &end) return;
    fail(who(current) + (write ? " writes" : " reads") + " out of bounds, " + at(site));
}

void ask(const void* address, Site site) {
    const char* const begin = static_cast<const char*>(address);
    for (const Region& region : launch.regions) {
        if (begin >= region.begin && begin < region.begin + region.bytes) return;
    }
    fail(who(current) + " asks for what is out of bounds, " + at(site));
}

void waits() { current->waited = true; }
void check_waited(Site site) {
    if (!current->waited) fail(who(current) + " reads what the launch before may yet write, " + at(site));
}

void move(void* to, const void* from, size_t bytes) { memcpy(to, from, bytes); }

}  // namespace simt

// Functions that the compiler calls at each access of a kernel.
#define SIMT_HERE {nullptr, 0, __builtin_extract_return_addr(__builtin_return_address(0))}
#define SIMT_HOOK(bytes)                                                                                            \
    extern "C" void __tsan_read##bytes(void* address) { simt::access(address, bytes, 1, false, SIMT_HERE); }        \
    extern "C" void __tsan_write##bytes(void* address) { simt::access(address, bytes, 1, true, SIMT_HERE); }        \
    extern "C" void __tsan_unaligned_read##bytes(void* address) { simt::access(address, bytes, 1, false, SIMT_HERE); } \
    extern "C" void __tsan_unaligned_write##bytes(void* address) { simt::access(address, bytes, 1, true, SIMT_HERE); }
SIMT_HOOK(1)
SIMT_HOOK(2)
SIMT_HOOK(4)
SIMT_HOOK(8)
SIMT_HOOK(16)
extern "C" void __tsan_read_range(void* address, unsigned long bytes) {
    simt::access(address, bytes, 1, false, SIMT_HERE);
}
extern "C" void __tsan_write_range(void* address, unsigned long bytes) {
    simt::access(address, bytes, 1, true, SIMT_HERE);
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
extern "C" void __tsan_vptr_read(void**) {}
