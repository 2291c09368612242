// The layout in shared memory by which the lanes of a warp exchange runs of bytes.
//
// A warp loads adjacent chunks, one for each lane. Then each lane reads a run of chunks of its own.
// The layout of chunks of 16 bytes has no bank conflicts in either direction.

namespace warpfold {

WARPFOLD_DEVICE constexpr unsigned lowest_bit(unsigned number) { return number & (~number + 1); }

// The place of each byte, for rows of 32 runs of RUN_BYTES. Lanes move chunks of up to 16 bytes.
template <unsigned RUN_BYTES, unsigned ROWS = 1>
struct Exchange {
    static constexpr unsigned WIDEST = 16, LINE_CHUNKS = 8;
    static constexpr unsigned CHUNK = lowest_bit(RUN_BYTES) < WIDEST ? lowest_bit(RUN_BYTES) : WIDEST;
    // Chunks of a lane in a row, and of all lanes in all rows.
    static constexpr unsigned RUN = RUN_BYTES / CHUNK, CHUNKS = WARP_LANES * RUN * ROWS;

    // Eight lanes that load a chunk of 16 bytes each use different banks if their runs begin an odd
    // number of chunks apart. Therefore a chunk is left out after every PERIOD chunks, which is a
    // whole number of runs. Narrower loads share banks, so their layout has no gaps.
    static constexpr unsigned EVEN = lowest_bit(RUN) < LINE_CHUNKS ? lowest_bit(RUN) : LINE_CHUNKS;
    static constexpr unsigned ODD = EVEN == 1 ? 1 : RUN / EVEN;
    static constexpr unsigned PERIOD = LINE_CHUNKS * ODD;
    static constexpr bool HAS_GAPS = EVEN > 1 && CHUNK == WIDEST;
    static constexpr unsigned BYTES = CHUNK * (CHUNKS + (HAS_GAPS ? CHUNKS / PERIOD : 0));

    static WARPFOLD_DEVICE constexpr unsigned place(unsigned chunk) {
        return CHUNK * (chunk + (HAS_GAPS ? chunk / PERIOD : 0));
    }
    static WARPFOLD_DEVICE unsigned of_byte(unsigned byte) { return place(byte / CHUNK) + byte % CHUNK; }
};

}  // namespace warpfold
