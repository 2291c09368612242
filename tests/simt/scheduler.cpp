// Schedules threads: fibers, barriers, shuffles, and the launch as a whole.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <memory>
#include <random>

#include "machine.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define FIBER_START(save, bottom, size) __sanitizer_start_switch_fiber(save, bottom, size)
#define FIBER_FINISH(save, bottom, size) __sanitizer_finish_switch_fiber(save, bottom, size)
#else
#define FIBER_START(save, bottom, size)
#define FIBER_FINISH(save, bottom, size)
#endif

namespace simt {

Launch launch;
Fiber* current = nullptr;

namespace {

// Number of blocks that run at once, so that their threads interleave.
constexpr unsigned RESIDENT = 3;

std::vector<char*> stacks;
std::mt19937_64 random_numbers;
jmp_buf scheduler;
std::string failure;
// The scheduler's stack, for the sanitizers.
[[maybe_unused]] void* scheduler_fake_stack = nullptr;
[[maybe_unused]] const void* scheduler_stack = nullptr;
[[maybe_unused]] size_t scheduler_stack_size = 0;

}  // namespace

std::string at(Site site) {
    if (!site.code) return std::string(site.file) + ":" + std::to_string(site.line);
    char command[128], line[512] = "?";
    snprintf(command, sizeof command, "addr2line -e /proc/%d/exe %p", getpid(), site.code);
    if (FILE* said = popen(command, "r")) {
        if (!fgets(line, sizeof line, said)) strcpy(line, "?");
        pclose(said);
    }
    return std::string(line, strcspn(line, "\n"));
}

std::string who(const Fiber* fiber) {
    return "thread " + std::to_string(fiber->thread) + " of block " + std::to_string(fiber->block->index);
}

void leave() {
    Fiber* self = current;
    if (_setjmp(self->at) == 0) {
        FIBER_START(self->done ? nullptr : &self->fake_stack, scheduler_stack, scheduler_stack_size);
        _longjmp(scheduler, 1);
    }
    FIBER_FINISH(self->fake_stack, &scheduler_stack, &scheduler_stack_size);
}

[[noreturn]] void fail(const std::string& message) {
    failure = message;
    current->done = true;
    leave();
    abort();
}

namespace {

// Time limit of a launch, in seconds of processor time: a hundred times more than any launch needs.
constexpr int LONGEST_LAUNCH = 20;

void too_long(int, siginfo_t*, void* interrupted) {
    // No thread runs that could fail. The timer fires again.
    if (!current) return;
#if defined(__x86_64__)
    const auto code = static_cast<ucontext_t*>(interrupted)->uc_mcontext.gregs[REG_RIP];
    const Site site = {nullptr, 0, reinterpret_cast<void*>(code)};
#else
    const Site site = {"somewhere", 0, nullptr};
    (void)interrupted;
#endif
    fail(who(current) + " does not come to an end, " + at(current->looks_at.file ? current->looks_at : site));
}

// Sets the time limit of the launch that begins now. 0 removes the limit.
void limit(int seconds) {
    struct sigaction action = {};
    action.sa_sigaction = too_long;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGVTALRM, &action, nullptr);
    const itimerval timer = {{seconds ? 1 : 0, 0}, {seconds, 0}};
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

void entry() {
    FIBER_FINISH(nullptr, &scheduler_stack, &scheduler_stack_size);
    launch.kernel.run(launch.arguments, launch.op);
    current->done = true;
    leave();
}

void wait(const char* what, Site site) {
    current->waiting = true;
    current->what = what;
    current->site = site;
    leave();
}

}  // namespace

unsigned thread_index() { return current->thread; }
unsigned block_index() { return current->block->index; }
unsigned block_count() { return launch.blocks; }
unsigned block_warps() { return current->block->warps.size(); }

namespace {

// Waits until `threads` threads of the block, from the thread `first` on, have arrived at a
// barrier. Returns whether the current thread arrived last.
bool comes_last(Barrier& barrier, unsigned first, unsigned threads, const char* what, Site site) {
    Block& block = *current->block;
    if (barrier.arrived > 0 && (barrier.site.line != site.line || barrier.site.file != site.file))
        fail(who(current) + " waits at the barrier of " + at(site) + ", and others at that of " + at(barrier.site));
    for (unsigned k = first; block.left > 0 && k < first + threads; ++k)
        if (block.fibers[k]->done) fail(who(current) + " waits at the barrier of " + at(site) + ", and others have ended");
    if (barrier.arrived > 0 && barrier.threads != threads) fail(who(current) + " waits with other threads, " + at(site));
    barrier.site = site, barrier.threads = threads;
    if (++barrier.arrived < threads) return wait(what, site), false;
    barrier.arrived = 0;
    ++block.clock;
    if (launch.counting) {
        ++counts.barriers;
        for (unsigned warp = first / LANES; warp < (first + threads + LANES - 1) / LANES; ++warp) count(block, warp);
    }
    bool acquired = false;
    for (unsigned k = first; k < first + threads; ++k) acquired |= block.fibers[k]->acquired;
    for (unsigned k = first; k < first + threads; ++k) {
        Fiber& fiber = *block.fibers[k];
        fiber.waiting = false, fiber.acquired = acquired, fiber.epoch = block.clock;
    }
    return true;
}

}  // namespace

void block_barrier(Site site) {
    Block& block = *current->block;
    if (!comes_last(block.barrier, 0, block.fibers.size(), "block_barrier", site)) return;
    block.epoch = block.clock;
    // The thread that arrived last need not continue first.
    leave();
}

void group_barrier(unsigned group, unsigned warps, Site site) {
    Block& block = *current->block;
    const unsigned threads = warps * LANES;
    if (group > 14 || (group + 1) * threads > block.fibers.size() || current->thread / threads != group)
        fail(who(current) + " is not in a group that waits, " + at(site));
    current->group = group;
    if (comes_last(block.groups[group], group * threads, threads, "group_barrier", site)) leave();
}

unsigned exchange(unsigned word, unsigned source, const char* what, Site site) {
    Block& block = *current->block;
    const unsigned lane = current->thread % LANES, first = current->thread - lane;
    Warp& warp = block.warps[current->thread / LANES];
    if (warp.arrived && (warp.what != what || warp.site.line != site.line || warp.site.file != site.file))
        fail(who(current) + " waits in " + what + " of " + at(site) + ", and other lanes in " + warp.what + " of " +
             at(warp.site));
    for (unsigned k = 0; block.left > 0 && k < LANES; ++k)
        if (block.fibers[first + k]->done)
            fail(who(current) + " waits in " + what + " of " + at(site) + ", and lane " + std::to_string(k) + " has ended");
    warp.what = what;
    warp.site = site;
    warp.in[lane] = word;
    warp.arrived |= 1u << lane;
    if (warp.arrived == ~0u) {
        memcpy(warp.out, warp.in, sizeof warp.out);
        warp.arrived = 0;
        if (!strcmp(what, "warp_barrier")) {
            ++warp.epoch;
            if (launch.counting) ++counts.warp_barriers, count(block, current->thread / LANES);
        }
        for (unsigned k = 0; k < LANES; ++k) block.fibers[first + k]->waiting = false;
        leave();
    } else {
        wait(what, site);
    }
    return warp.out[source];
}

unsigned ballot(bool bit, Site site) {
    exchange(bit, 0, "ballot", site);
    unsigned bits = 0;
    for (unsigned k = 0; k < LANES; ++k) bits |= current->block->warps[current->thread / LANES].out[k] << k;
    return bits;
}

void warp_barrier(Site site) { exchange(0, 0, "warp_barrier", site); }

void trap(Site site) { fail(who(current) + " traps, " + at(site)); }

namespace {

char* new_stack() {
    if (!stacks.empty()) {
        char* stack = stacks.back();
        stacks.pop_back();
        return stack;
    }
    void* stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) abort();
    return static_cast<char*>(stack);
}

// Memory of blocks that have ended, which later blocks reuse.
std::vector<std::unique_ptr<Block>> spare;

std::unique_ptr<Block> new_block(unsigned index) {
    auto block = std::make_unique<Block>();
    if (!spare.empty()) {
        block->shared = spare.back()->shared;
        block->bytes = std::move(spare.back()->bytes);
        block->generation = spare.back()->generation;
        spare.pop_back();
    }
    ++block->generation;
    block->index = index;
    block->warps.resize((launch.threads + LANES - 1) / LANES);
    if (block->bytes.size() < launch.shared_bytes) {
        free(block->shared);
        block->shared = static_cast<char*>(aligned_alloc(256, (launch.shared_bytes + 255) / 256 * 256));
        memset(block->shared, 0xcd, launch.shared_bytes);
        block->bytes.resize(launch.shared_bytes);
    }
    for (unsigned thread = 0; thread < launch.threads; ++thread) {
        Fiber* fiber = new Fiber;
        fiber->stack = new_stack();
        fiber->thread = thread;
        fiber->block = block.get();
        block->fibers.push_back(fiber);
    }
    return block;
}

void free_block(std::unique_ptr<Block>& block) {
    for (Fiber* fiber : block->fibers) {
        stacks.push_back(fiber->stack);
        delete fiber;
    }
    spare.push_back(std::move(block));
}

// Runs a fiber until it calls `leave`.
void resume(Fiber* fiber) {
    current = fiber;
    if (_setjmp(scheduler) == 0) {
        FIBER_START(&scheduler_fake_stack, fiber->stack, STACK);
        if (fiber->started) _longjmp(fiber->at, 1);
        fiber->started = true;
        ucontext_t context;
        getcontext(&context);
        context.uc_stack.ss_sp = fiber->stack;
        context.uc_stack.ss_size = STACK;
        context.uc_link = nullptr;
        makecontext(&context, entry, 0);
        setcontext(&context);
    }
    FIBER_FINISH(scheduler_fake_stack, nullptr, nullptr);
    current = nullptr;
}

// Describes why no thread of the block can continue.
std::string stuck(const Block& block) {
    std::string text = "nobody can go on in block " + std::to_string(block.index) + ":";
    std::vector<std::string> seen;
    for (const Fiber* fiber : block.fibers) {
        std::string state = fiber->done ? "has ended" : std::string("waits in ") + fiber->what + " of " + at(fiber->site);
        bool is_new = true;
        for (const std::string& other : seen) is_new &= other != state;
        if (!is_new) continue;
        seen.push_back(state);
        text += " thread " + std::to_string(fiber->thread) + " " + state + ";";
    }
    return text;
}

void run_blocks() {
    std::vector<std::unique_ptr<Block>> resident;
    unsigned next = 0;
    while (failure.empty()) {
        while (resident.size() < RESIDENT && next < launch.blocks) resident.push_back(new_block(next++));
        if (resident.empty()) break;
        const size_t chosen = random_numbers() % resident.size();
        Block& block = *resident[chosen];
        std::vector<Fiber*> ready;
        for (Fiber* fiber : block.fibers)
            if (!fiber->done && !fiber->waiting) ready.push_back(fiber);
        if (ready.empty()) {
            if (block.left != launch.threads) {
                failure = stuck(block);
                break;
            }
            if (launch.counting) {
                for (unsigned warp = 0; warp < block.warps.size(); ++warp) count(block, warp);
                for (const Fiber* fiber : block.fibers) counts.steps = std::max(counts.steps, fiber->combined);
            }
            free_block(resident[chosen]);
            resident.erase(resident.begin() + chosen);
            continue;
        }
        // Resumes some of the ready threads, in random order.
        const size_t turns = 1 + random_numbers() % ready.size();
        for (size_t turn = 0; turn < turns && failure.empty(); ++turn) {
            std::swap(ready[turn], ready[turn + random_numbers() % (ready.size() - turn)]);
            Fiber* fiber = ready[turn];
            resume(fiber);
            if (fiber->done && failure.empty()) {
                ++block.left;
                if (block.barrier.arrived > 0)
                    failure = who(fiber) + " has ended, and others wait at the barrier of " + at(block.barrier.site);
                const auto group = block.groups.find(fiber->group);
                if (group != block.groups.end() && group->second.arrived > 0)
                    failure = who(fiber) + " has ended, and others of its group wait at the barrier of " + at(group->second.site);
                if (block.warps[fiber->thread / LANES].arrived)
                    failure = who(fiber) + " has ended, and other lanes wait in " +
                              block.warps[fiber->thread / LANES].what + " of " + at(block.warps[fiber->thread / LANES].site);
            }
        }
    }
    for (auto& block : resident) free_block(block);
}

}  // namespace

std::string run(uint64_t seed) {
    random_numbers.seed(seed);
    failure.clear();
    limit(LONGEST_LAUNCH);
    run_blocks();
    limit(0);
    return failure;
}

}  // namespace simt
