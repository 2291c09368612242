//! The launches that a rung needs for an input, independent of the launcher.

use super::{Rung, Step};

/// How the partials of a launch are combined.
///
/// ```
/// use warpfold::ladder::{Finish, Ladder};
/// use warpfold::{Device, operators::Sum};
///
/// assert_eq!(Finish::default(), Finish::Launches);
/// let ladder = Ladder::<Sum<f32>>::new(Device::auto()).finish(Finish::HostBelowBlock);
/// println!("{ladder:?}");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// By further launches of the same rung, until one value remains.
    #[default]
    Launches,
    /// By the host, after one launch.
    Host,
    /// By the host, as soon as a block has a thread for each partial.
    HostBelowBlock,
}

/// Executes the launches: a GPU, or the executor in tests.
pub trait Launcher {
    /// Items in the launcher's memory.
    type Memory;
    /// The error of a failed launch or copy.
    type Error;

    /// Launches a rung, and returns the items that it writes.
    fn launch(&mut self, step: &Step, input: &Self::Memory) -> Result<Self::Memory, Self::Error>;

    /// Copies `count` items from position `first` on.
    fn part(&mut self, of: &Self::Memory, first: u64, count: u64) -> Result<Self::Memory, Self::Error>;

    /// Copies `count` items to position `first` and the following ones.
    fn put(
        &mut self,
        items: &Self::Memory,
        to: &mut Self::Memory,
        first: u64,
        count: u64,
    ) -> Result<(), Self::Error>;
}

/// A rung, the threads of its blocks, and how the partials are combined.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub rung: Rung,
    pub threads: u32,
    pub finish: Finish,
}

impl Plan {
    /// Reduces at least one item. Returns the remaining values, for the host to combine, and their
    /// number.
    pub fn reduce<L: Launcher>(
        &self,
        launcher: &mut L,
        input: L::Memory,
        length: u64,
    ) -> Result<(L::Memory, u64), L::Error> {
        let (mut values, mut length, mut launches) = (input, length, 0);
        loop {
            let is_done = match self.finish {
                Finish::Launches => length == 1 && launches > 0,
                Finish::Host => launches == 1,
                Finish::HostBelowBlock => length <= self.threads.into(),
            };
            if is_done {
                return Ok((values, length));
            }
            let step = self.rung.step(self.threads, length);
            values = launcher.launch(&step, &values)?;
            length = step.left;
            launches += 1;
        }
    }

    /// Scans at least one item.
    pub fn scan<L: Launcher>(
        &self,
        launcher: &mut L,
        exclusive: bool,
        input: L::Memory,
        length: u64,
    ) -> Result<L::Memory, L::Error> {
        let Self { rung, threads, .. } = *self;
        let step = rung.step(threads, length);
        let mut scanned = launcher.launch(&step, &input)?;
        if step.blocks > 1 {
            let of_blocks = launcher.part(&scanned, length, step.blocks)?;
            let of_blocks = self.scan(launcher, false, of_blocks, step.blocks)?;
            launcher.put(&of_blocks, &mut scanned, length, step.blocks)?;
            let completed =
                Step { block_items: step.block_items, ..Rung::Hierarchical.step(threads, length) };
            scanned = launcher.launch(&completed, &scanned)?;
        }
        if exclusive {
            scanned = launcher.launch(&Rung::Exclusive.step(threads, length), &scanned)?;
        }
        Ok(scanned)
    }
}
