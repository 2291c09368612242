//! Which launches a rung needs for an input, whoever launches.

use super::{Rung, Step};

/// Who combines the values that a launch leaves, if it leaves several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// Further launches of the same rung, until one is left.
    #[default]
    Launches,
    /// The host, after one launch.
    Host,
    /// The host, once there are no more than a block has threads.
    HostBelowBlock,
}

/// What launches rungs: a GPU, or what stands for one in tests.
pub trait Launcher {
    /// Items, wherever they are.
    type Memory;
    /// Why it could not.
    type Error;

    /// What a launch writes.
    fn launch(&mut self, step: &Step, input: &Self::Memory) -> Result<Self::Memory, Self::Error>;

    /// A copy of the items from `first` on.
    fn part(&mut self, of: &Self::Memory, first: u64, count: u64) -> Result<Self::Memory, Self::Error>;

    /// Copies `count` items to the places from `first` on.
    fn put(
        &mut self,
        items: &Self::Memory,
        to: &mut Self::Memory,
        first: u64,
        count: u64,
    ) -> Result<(), Self::Error>;
}

/// A rung in blocks of so many threads, and who finishes it.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub rung: Rung,
    pub threads: u32,
    pub finish: Finish,
}

impl Plan {
    /// Reduces items, of which there are some, and returns the values that are left for the host to combine.
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

    /// Scans items, of which there are some.
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
