#include "counts.h"

#include <algorithm>

#include "machine.h"

namespace simt {

Counts counts;

void count(Block& block, unsigned warp) {
    constexpr unsigned BANKS = 32, SECTOR = 32;
    for (unsigned lane = 0; lane < LANES; ++lane) block.fibers[warp * LANES + lane]->came.clear();
    for (const auto& [place, turn] : block.warps[warp].turns) {
        if (turn.what == Turn::COMBINES) {
            ++counts.combining_turns;
        } else if (turn.what == Turn::SHARED) {
            unsigned of_bank[BANKS] = {}, most = 0;
            for (const uint64_t word : turn.words) most = std::max(most, ++of_bank[word % BANKS]);
            ++counts.shared_turns;
            counts.bank_conflicts += most - (turn.words.size() + BANKS - 1) / BANKS;
        } else {
            std::set<uint64_t> sectors;
            for (const uint64_t word : turn.words) sectors.insert(word * 4 / SECTOR);
            ++counts.global_turns;
            counts.sectors += sectors.size();
        }
    }
    block.warps[warp].turns.clear();
}

Turn& turn(Site site) {
    const Place place = {site.code ? site.code : site.file, site.line};
    Warp& warp = current->block->warps[current->thread / LANES];
    Turn& turn = warp.turns[{place, current->came[place]++}];
    ++turn.lanes;
    return turn;
}

void count_access(const void* address, size_t bytes, bool is_shared, Site site) {
    Turn& now = turn(site);
    now.what = is_shared ? Turn::SHARED : Turn::GLOBAL;
    const uint64_t first = reinterpret_cast<uint64_t>(address);
    for (uint64_t word = first / 4; word <= (first + bytes - 1) / 4; ++word) now.words.insert(word);
}

void combines() {
    if (!launch.counting || !current) return;
    ++current->combined;
    ++counts.combinations;
    turn({nullptr, 0, __builtin_extract_return_addr(__builtin_return_address(0))}).what = Turn::COMBINES;
}

}  // namespace simt
