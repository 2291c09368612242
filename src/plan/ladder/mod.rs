//! The rungs of the ladder, and the launch of each.

mod plan;

pub use self::plan::{Finish, Launcher, Plan};
use crate::Layout;

/// A way of reducing or scanning that courses on GPU programming teach, as a kernel.
///
/// Each rung is one file of `templates/ladder/`. Its head comment gives the idea, the cost, and the
/// improvement of the next rung. The order is that of lectures: reductions first, then scans.
///
/// ```
/// use warpfold::ladder::{Role, Rung};
///
/// let reductions: Vec<_> =
///     Rung::ALL.into_iter().filter(|rung| rung.role() == Role::Reduces).collect();
/// assert_eq!(reductions.first(), Some(&Rung::Sequential));
/// assert_eq!(reductions.last(), Some(&Rung::LastBlock));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rung {
    /// One thread combines all items.
    Sequential,
    /// Combines neighbours. One launch per level.
    BottomUp,
    /// One launch of one block. Each thread reduces a part of the input, then a tree combines the
    /// threads.
    TopDown,
    /// Combines the two halves of the input item by item. One launch per level.
    GlobalHalving,
    /// A tree of neighbours in shared memory. The working threads are spread over all warps.
    Interleaved,
    /// The same tree, with two items a thread.
    TwoItems,
    /// The same tree, by adjacent threads. Their words share banks.
    Strided,
    /// Combines halves in shared memory.
    SequentialAddressing,
    /// Each thread combines two items while it loads them.
    FirstCombine,
    /// The last five levels are unrolled, and one warp executes them.
    LastWarp,
    /// All levels are unrolled.
    Unrolled,
    /// Many items a thread, and few blocks.
    Cascading,
    /// The levels of a warp by shuffles.
    Shuffles,
    /// The blocks combine their partials in one word of memory.
    Atomics,
    /// The block that ends last combines the partials of all blocks.
    LastBlock,
    /// A scan of each block, in which almost all threads work at each step.
    KoggeStone,
    /// A scan of each block as a tree.
    BrentKung,
    /// Turns an inclusive scan into an exclusive one.
    Exclusive,
    /// A scan of many blocks, from the scans of the blocks and the scan of their values.
    Hierarchical,
}

/// The purpose of a rung.
///
/// ```
/// use warpfold::ladder::{Role, Rung};
///
/// let scans: Vec<_> = Rung::ALL.into_iter().filter(|rung| rung.role() == Role::Scans).collect();
/// assert_eq!(scans, [Rung::KoggeStone, Rung::BrentKung]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Reduces, in one launch or several.
    Reduces,
    /// Scans blocks.
    Scans,
    /// Turns one scan into another.
    Completes,
}

/// One launch of a rung.
///
/// ```
/// use warpfold::ladder::Rung;
///
/// // Each block reduces 256 items to one partial.
/// let step = Rung::Interleaved.step(256, 1000);
/// assert_eq!((step.blocks, step.left), (4, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rung whose kernel is launched.
    pub rung: Rung,
    /// Threads of a block.
    pub threads: u32,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of items that are read.
    pub length: u64,
    /// Number of values that remain: partials of a reduction, or scanned items.
    pub left: u64,
    /// Number of items that are written. The remaining values come first.
    pub written: u64,
    /// Items of a block that scans. For a rung that completes scans, the items of one of their
    /// blocks.
    pub block_items: u64,
}

/// Most shared memory of a block, in bytes. A kernel has it without opting in to more.
pub(crate) const MAX_SHARED_BYTES: usize = 48 << 10;
/// Number of threads that a large GPU runs at once.
const RESIDENT_THREADS: u64 = 1 << 18;
/// Most blocks that combine in one word.
const MAX_ATOMIC_BLOCKS: u64 = 256;

impl Rung {
    /// All rungs, in the order of lectures.
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

    /// The name of the rung.
    ///
    /// ```
    /// use warpfold::ladder::Rung;
    ///
    /// assert_eq!(Rung::KoggeStone.name(), "Kogge-Stone");
    /// ```
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

    /// The purpose of the rung.
    ///
    /// ```
    /// use warpfold::ladder::{Role, Rung};
    ///
    /// assert_eq!(Rung::Shuffles.role(), Role::Reduces);
    /// assert_eq!(Rung::Hierarchical.role(), Role::Completes);
    /// ```
    pub fn role(self) -> Role {
        match self {
            Self::KoggeStone | Self::BrentKung => Role::Scans,
            Self::Exclusive | Self::Hierarchical => Role::Completes,
            _ => Role::Reduces,
        }
    }

    /// Whether the operands stay in the order of the items. If not, the operator must commute.
    ///
    /// Trees of neighbours and scans keep the order. Rungs that combine halves, or items at
    /// strides, or partials in the order of arrival do not.
    ///
    /// ```
    /// use warpfold::ladder::Rung;
    ///
    /// // A tree of neighbours, and a tree of halves.
    /// assert!(Rung::Strided.keeps_order());
    /// assert!(!Rung::SequentialAddressing.keeps_order());
    /// ```
    pub fn keeps_order(self) -> bool {
        match self {
            Self::Sequential | Self::BottomUp | Self::TopDown => true,
            Self::Interleaved | Self::TwoItems | Self::Strided => true,
            Self::KoggeStone | Self::BrentKung | Self::Exclusive | Self::Hierarchical => true,
            Self::GlobalHalving | Self::SequentialAddressing | Self::FirstCombine | Self::LastWarp => false,
            Self::Unrolled | Self::Cascading | Self::Shuffles | Self::Atomics | Self::LastBlock => false,
        }
    }

    /// Items that a block holds in shared memory.
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
    ///
    /// ```
    /// use warpfold::{DeviceType, ladder::Rung};
    ///
    /// // Two items a thread.
    /// assert_eq!(Rung::Strided.shared_bytes(256, &f32::layout()), 2048);
    /// ```
    pub fn shared_bytes(self, threads: u32, item: &Layout) -> usize {
        self.shared_items(threads) as usize * item.size.next_multiple_of(4)
    }

    /// The launch of blocks of `threads` threads for an input that is not empty.
    ///
    /// ```
    /// use warpfold::ladder::Rung;
    ///
    /// // The first launch reduces a million items to the partials of its blocks.
    /// let first = Rung::Unrolled.step(256, 1_000_000);
    /// assert_eq!(first.left, 1954);
    /// // The second launch reads them.
    /// assert_eq!(Rung::Unrolled.step(256, first.left).left, 4);
    /// ```
    pub fn step(self, threads: u32, length: u64) -> Step {
        let each = u64::from(threads);
        let resident = length.div_ceil(2 * each).min((RESIDENT_THREADS / each).max(1));
        // The number of blocks, and of values that remain.
        let (blocks, left) = match self {
            Self::Sequential | Self::TopDown => (1, 1),
            Self::BottomUp | Self::GlobalHalving => (length.div_ceil(2).div_ceil(each), length.div_ceil(2)),
            Self::Interleaved => (length.div_ceil(each), length.div_ceil(each)),
            Self::TwoItems | Self::Strided | Self::SequentialAddressing => both(length.div_ceil(2 * each)),
            Self::FirstCombine | Self::LastWarp | Self::Unrolled => both(length.div_ceil(2 * each)),
            Self::Cascading | Self::Shuffles => both(resident),
            Self::Atomics => (resident.min(MAX_ATOMIC_BLOCKS), 1),
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
