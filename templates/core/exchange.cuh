// How lanes exchange a run of bytes each through shared memory: what one loads lies beside what its neighbours load, and
// what it gets back is its own.

namespace warpfold {

WARPFOLD_DEVICE constexpr unsigned lowest_bit(unsigned number) { return number & (~number + 1); }

// Where the bytes of rows of 32 runs, one after another, stand in shared memory: in chunks of up to 16 bytes, which lanes
// move at once.
template <unsigned RUN_BYTES, unsigned ROWS = 1>
struct Exchange {
    static constexpr unsigned WIDEST = 16, LINE_CHUNKS = 8;
    static constexpr unsigned CHUNK = lowest_bit(RUN_BYTES) < WIDEST ? lowest_bit(RUN_BYTES) : WIDEST;
    // Chunks of a lane, and of all.
    static constexpr unsigned RUN = RUN_BYTES / CHUNK, CHUNKS = WARP_LANES * RUN * ROWS;

    // Eight lanes that load a chunk each at once find it in banks of their own if their runs begin an odd number of chunks
    // apart (narrower loads share banks). So, where RUN = EVEN * ODD, a chunk is left out after every 8 * ODD, which is a whole number of runs.
    static constexpr unsigned EVEN = lowest_bit(RUN) < LINE_CHUNKS ? lowest_bit(RUN) : LINE_CHUNKS;
    static constexpr unsigned ODD = EVEN == 1 ? 1 : RUN / EVEN;
    static constexpr unsigned PERIOD = LINE_CHUNKS * ODD;
    static constexpr bool LEAVES_OUT = EVEN > 1 && CHUNK == WIDEST;
    static constexpr unsigned BYTES = CHUNK * (CHUNKS + (LEAVES_OUT ? CHUNKS / PERIOD : 0));

    static WARPFOLD_DEVICE constexpr unsigned place(unsigned chunk) {
        return CHUNK * (chunk + (LEAVES_OUT ? chunk / PERIOD : 0));
    }
    static WARPFOLD_DEVICE unsigned of_byte(unsigned byte) { return place(byte / CHUNK) + byte % CHUNK; }
};

}  // namespace warpfold
