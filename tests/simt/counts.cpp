#include "counts.h"

#include <algorithm>

#include "machine.h"

namespace simt {

Counts counts;

void count(Block& block, unsigned warp) {
    constexpr unsigned BANKS = 32, SECTOR = 32;
    for (unsigned lane = 0; lane < LANES; ++lane) block.fibers[warp * LANES + lane]->came.clear();
    for (const auto& [place, instruction] : block.warps[warp].instructions) {
        if (instruction.what == WarpInstruction::COMBINES) {
            ++counts.combining_instructions;
        } else if (instruction.what == WarpInstruction::SHARED) {
            unsigned of_bank[BANKS] = {}, most = 0;
            for (const uint64_t word : instruction.words) most = std::max(most, ++of_bank[word % BANKS]);
            ++counts.shared_instructions;
            counts.bank_conflicts += most - (instruction.words.size() + BANKS - 1) / BANKS;
        } else {
            std::set<uint64_t> sectors;
            for (const uint64_t word : instruction.words) sectors.insert(word * 4 / SECTOR);
            ++counts.global_instructions;
            counts.sectors += sectors.size();
        }
    }
    block.warps[warp].instructions.clear();
}

WarpInstruction& instruction(Site site) {
    const Place place = {site.code ? site.code : site.file, site.line};
    Warp& warp = current->block->warps[current->thread / LANES];
    WarpInstruction& instruction = warp.instructions[{place, current->came[place]++}];
    ++instruction.lanes;
    return instruction;
}

void count_access(const void* address, size_t bytes, bool is_shared, Site site) {
    WarpInstruction& now = instruction(site);
    now.what = is_shared ? WarpInstruction::SHARED : WarpInstruction::GLOBAL;
    const uint64_t first = reinterpret_cast<uint64_t>(address);
    for (uint64_t word = first / 4; word <= (first + bytes - 1) / 4; ++word) now.words.insert(word);
}

void combines() {
    if (!launch.counting || !current) return;
    ++current->combined;
    ++counts.combinations;
    instruction({nullptr, 0, __builtin_extract_return_addr(__builtin_return_address(0))}).what = WarpInstruction::COMBINES;
}

}  // namespace simt
