//! The rungs of the ladder, and how each is launched.

mod plan;

pub use self::plan::{Finish, Launcher, Plan};
use crate::Layout;

/// A way of reducing or scanning that courses on GPU programming teach, as a kernel: one file of `templates/ladder/`, whose
/// head comment says what its idea is, what it costs, and what the next rung mends.
///
/// In the order of the lectures: reductions, then scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rung {
    /// One thread.
    Sequential,
    /// Neighbours, one launch a level.
    BottomUp,
    /// A part of the input for each thread of one block, then a tree, in one launch.
    TopDown,
    /// Halves, one launch a level.
    GlobalHalving,
    /// A tree of neighbours in shared memory, by threads that lie apart.
    Interleaved,
    /// The same of two items a thread.
    TwoItems,
    /// The same by threads side by side, on words that share banks.
    Strided,
    /// Halves in shared memory.
    SequentialAddressing,
    /// The first level on the way from memory.
    FirstCombine,
    /// The last five levels by one warp, written out.
    LastWarp,
    /// All levels written out.
    Unrolled,
    /// Many items a thread, and few blocks.
    Cascading,
    /// Levels of a warp from register to register.
    Shuffles,
    /// The blocks' partials met in one word of memory.
    Atomics,
    /// The blocks' partials combined by the block that ends last.
    LastBlock,
    /// A scan of blocks in which all threads work at each step.
    KoggeStone,
    /// A scan of blocks as a tree.
    BrentKung,
    /// An exclusive scan of an inclusive one.
    Exclusive,
    /// A scan of many blocks of theirs and that of their values.
    Hierarchical,
}

/// What a rung is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It reduces, in one launch or several.
    Reduces,
    /// It scans blocks.
    Scans,
    /// It makes of a scan another one.
    Completes,
}

/// One launch of a rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whose kernel it is.
    pub rung: Rung,
    /// Threads of a block.
    pub threads: u32,
    /// How many there are.
    pub blocks: u64,
    /// Items that are read.
    pub length: u64,
    /// Values that are left of a reduction, or scanned items.
    pub left: u64,
    /// Items that are written, those which are left first.
    pub written: u64,
    /// Items of a block that scans, or of those whose scans are completed.
    pub block_items: u64,
}

/// Shared memory of a block, at most: what a kernel has without asking for more.
pub(crate) const MOST_SHARED_BYTES: usize = 48 << 10;
/// Threads that a large GPU runs at once.
const RESIDENT_THREADS: u64 = 1 << 18;
/// Blocks that meet at one word, at most.
const MEETING_BLOCKS: u64 = 256;

impl Rung {
    /// All of them, from the ground.
    pub const ALL: [Self; 19] = [
        Self::Sequential,
        Self::BottomUp,
        Self::TopDown,
        Self::GlobalHalving,
        Self::Interleaved,
        Self::TwoItems,
        Self::Strided,
        Self::SequentialAddressing,
        Self::FirstCombine,
        Self::LastWarp,
        Self::Unrolled,
        Self::Cascading,
        Self::Shuffles,
        Self::Atomics,
        Self::LastBlock,
        Self::KoggeStone,
        Self::BrentKung,
        Self::Exclusive,
        Self::Hierarchical,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::BottomUp => "bottom-up",
            Self::TopDown => "top-down",
            Self::GlobalHalving => "halving in global memory",
            Self::Interleaved => "interleaved",
            Self::TwoItems => "two items a thread",
            Self::Strided => "strided",
            Self::SequentialAddressing => "sequential addressing",
            Self::FirstCombine => "first combine during load",
            Self::LastWarp => "last warp unrolled",
            Self::Unrolled => "completely unrolled",
            Self::Cascading => "algorithm cascading",
            Self::Shuffles => "warp shuffles",
            Self::Atomics => "atomics",
            Self::LastBlock => "last block",
            Self::KoggeStone => "Kogge-Stone",
            Self::BrentKung => "Brent-Kung",
            Self::Exclusive => "exclusive by shifting",
            Self::Hierarchical => "hierarchical",
        }
    }

    /// What it is for.
    pub fn role(self) -> Role {
        match self {
            Self::KoggeStone | Self::BrentKung => Role::Scans,
            Self::Exclusive | Self::Hierarchical => Role::Completes,
            _ => Role::Reduces,
        }
    }

    /// Whether operands stay in the order of the items, so that the operator need not commute. Trees of neighbours keep it,
    /// and scans; whoever combines halves, or takes items at strides or as they come, does not.
    pub fn keeps_order(self) -> bool {
        match self {
            Self::Sequential | Self::BottomUp | Self::TopDown => true,
            Self::Interleaved | Self::TwoItems | Self::Strided => true,
            Self::KoggeStone | Self::BrentKung | Self::Exclusive | Self::Hierarchical => true,
            Self::GlobalHalving | Self::SequentialAddressing | Self::FirstCombine | Self::LastWarp => false,
            Self::Unrolled | Self::Cascading | Self::Shuffles | Self::Atomics | Self::LastBlock => false,
        }
    }

    /// Items that a block has in shared memory.
    fn shared_items(self, threads: u32) -> u32 {
        match self {
            Self::Sequential | Self::BottomUp | Self::GlobalHalving => 0,
            Self::Exclusive | Self::Hierarchical => 0,
            Self::TwoItems | Self::Strided | Self::SequentialAddressing | Self::BrentKung => 2 * threads,
            Self::TopDown | Self::Interleaved | Self::KoggeStone => threads,
            Self::FirstCombine | Self::LastWarp | Self::Unrolled | Self::Cascading => threads,
            // One for each warp.
            Self::Shuffles | Self::Atomics | Self::LastBlock => threads / 32,
        }
    }

    /// Shared memory of a block, in bytes.
    pub fn shared_bytes(self, threads: u32, item: &Layout) -> usize {
        self.shared_items(threads) as usize * item.size.next_multiple_of(4)
    }

    /// The launch of blocks of so many threads for an input that is not empty.
    pub fn step(self, threads: u32, length: u64) -> Step {
        let each = u64::from(threads);
        let resident = length.div_ceil(2 * each).min((RESIDENT_THREADS / each).max(1));
        // Blocks, and what they leave.
        let (blocks, left) = match self {
            Self::Sequential | Self::TopDown => (1, 1),
            Self::BottomUp | Self::GlobalHalving => (length.div_ceil(2).div_ceil(each), length.div_ceil(2)),
            Self::Interleaved => (length.div_ceil(each), length.div_ceil(each)),
            Self::TwoItems | Self::Strided | Self::SequentialAddressing => both(length.div_ceil(2 * each)),
            Self::FirstCombine | Self::LastWarp | Self::Unrolled => both(length.div_ceil(2 * each)),
            Self::Cascading | Self::Shuffles => both(resident),
            Self::Atomics => (resident.min(MEETING_BLOCKS), 1),
            Self::LastBlock => (resident, 1),
            Self::KoggeStone | Self::Exclusive | Self::Hierarchical => (length.div_ceil(each), length),
            Self::BrentKung => (length.div_ceil(2 * each), length),
        };
        let beside = match self {
            Self::LastBlock => blocks,
            Self::KoggeStone | Self::BrentKung if blocks > 1 => blocks,
            _ => 0,
        };
        let block_items = if self == Self::BrentKung { 2 * each } else { each };
        let threads = if self == Self::Sequential { 32 } else { threads };
        Step { rung: self, threads, blocks, length, left, written: left + beside, block_items }
    }
}

fn both(count: u64) -> (u64, u64) {
    (count, count)
}

#[cfg(test)]
mod tests;
