//! Runs rungs of the ladder on the executor, and counts their operations.

use std::iter::Sum;
use std::mem::{MaybeUninit, offset_of};
use std::ops::Add;

use warpfold::ladder::{Finish, Launcher, Plan, Rung, Step};
use warpfold::source::{RungArguments, Source};
use warpfold::{DeviceMonoid, DeviceType};

use super::input_bytes::bytes;
use super::programs::Kernels;
use super::simt::{AddressOffsets, Executor, Request, state};

/// An operator's rungs, with the number of the first one in its program.
#[derive(Clone, Copy)]
pub struct Rungs<M> {
    first: u32,
    pub operator: M,
    pub threads: u32,
}

/// Operations of launches, as `tests/simt/counts.h` counts them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// The largest number of combinations of one thread. For several launches, the sum of these
    /// numbers.
    pub steps: u64,
    pub combinations: u64,
    /// Instructions of a warp in which some of its lanes combine.
    pub combining_instructions: u64,
    /// Barriers of blocks, and of warps.
    pub barriers: u64,
    pub warp_barriers: u64,
    /// Accesses of a warp to shared memory, and their repetitions because of bank conflicts.
    pub shared_instructions: u64,
    pub bank_conflicts: u64,
    /// Accesses of a warp to global memory, and the sum of the sectors of 32 bytes that they touch.
    pub global_instructions: u64,
    pub sectors: u64,
    /// Number of launches, which the executor does not count.
    pub launches: u64,
}

/// Size of the executor's counts, in bytes.
const COUNTED: usize = 9 * 8;

impl Add for Counts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            combinations: self.combinations + other.combinations,
            combining_instructions: self.combining_instructions + other.combining_instructions,
            barriers: self.barriers + other.barriers,
            warp_barriers: self.warp_barriers + other.warp_barriers,
            shared_instructions: self.shared_instructions + other.shared_instructions,
            bank_conflicts: self.bank_conflicts + other.bank_conflicts,
            global_instructions: self.global_instructions + other.global_instructions,
            sectors: self.sectors + other.sectors,
            launches: self.launches + other.launches,
        }
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Self::add)
    }
}

impl Kernels {
    /// Adds every rung for an operator. `adds` says whether the operator is an addition.
    pub fn add_rungs<M: DeviceMonoid>(&mut self, operator: M, threads: u32, adds: bool) -> Rungs<M> {
        let source =
            |rung| Source::of_rung::<M>(rung, threads, adds).unwrap_or_else(|error| panic!("{error}"));
        let numbers = Rung::ALL.map(|rung| {
            // A rung that is impossible for the operator is replaced by another one, to keep the
            // numbering.
            let is_possible = rung != Rung::Atomics || adds || size_of::<M::Item>() <= 4;
            self.add_kernel(&source(if is_possible { rung } else { Rung::Sequential }))
        });
        Rungs { first: numbers[0], operator, threads }
    }
}

/// Launches rungs on an executor.
struct OnExecutor<'a, M> {
    executor: &'a mut Executor,
    rungs: Rungs<M>,
    count: bool,
    counts: Vec<Counts>,
}

impl<M: DeviceMonoid> Launcher for OnExecutor<'_, M> {
    type Memory = Vec<u8>;
    type Error = String;

    fn launch(&mut self, step: &Step, input: &Vec<u8>) -> Result<Vec<u8>, String> {
        let size = size_of::<M::Item>();
        let mut arguments = bytes(&[RungArguments {
            input: 0,
            length: step.length,
            output: 0,
            shared: 0,
            block_level: step.block_items.ilog2().into(),
            identity: match step.rung {
                Rung::Exclusive => MaybeUninit::new(self.rungs.operator.identity()),
                _ => MaybeUninit::zeroed(),
            },
        }]);
        if step.rung != Rung::Exclusive {
            // No other rung reads the identity. If one did, these bytes would show in the result.
            arguments[offset_of!(RungArguments<M::Item>, identity)..].fill(0xA5);
        }
        let op = state(&self.rungs.operator);
        let shared = [0; 16];
        let output = step.written as usize * size;
        let request = Request {
            kernel: self.rungs.first + step.rung as u32,
            blocks: step.blocks as u32,
            threads: step.threads,
            places: AddressOffsets {
                input: offset_of!(RungArguments<M::Item>, input) as u32,
                output: offset_of!(RungArguments<M::Item>, output) as u32,
                words: offset_of!(RungArguments<M::Item>, shared) as u32,
                ..AddressOffsets::default()
            },
            seed: self.executor.seed,
            shared: step.rung.shared_bytes(step.threads, &M::Item::layout()) as u64,
            arguments: arguments.len() as u64,
            op: op.len() as u64,
            input: input.len() as u64,
            output: output as u64,
            words: shared.len() as u64,
            count: self.count.into(),
            ..Request::default()
        };
        let request = [bytes(&[request]), arguments, op, input.clone(), shared.to_vec()].concat();
        let counted = if self.count { COUNTED } else { 0 };
        let answer = self.executor.ask(&request, output + shared.len() + counted)?;
        let (output, rest) = answer.split_at(output);
        let (left, counted) = rest.split_at(shared.len());
        if left != shared {
            return Err(format!("{:?} leaves {left:?} in what blocks share", step.rung));
        }
        if self.count {
            let mut words = counted.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
            let mut next = || words.next().unwrap_or_default();
            self.counts.push(Counts {
                steps: next(),
                combinations: next(),
                combining_instructions: next(),
                barriers: next(),
                warp_barriers: next(),
                shared_instructions: next(),
                bank_conflicts: next(),
                global_instructions: next(),
                sectors: next(),
                launches: 1,
            });
        }
        Ok(output.to_vec())
    }

    fn part(&mut self, of: &Vec<u8>, first: u64, count: u64) -> Result<Vec<u8>, String> {
        let size = size_of::<M::Item>();
        Ok(of[first as usize * size..(first + count) as usize * size].to_vec())
    }

    fn put(&mut self, items: &Vec<u8>, to: &mut Vec<u8>, first: u64, count: u64) -> Result<(), String> {
        let size = size_of::<M::Item>();
        to[first as usize * size..(first + count) as usize * size].copy_from_slice(items);
        Ok(())
    }
}

fn values<T: DeviceType>(bytes: &[u8], count: usize) -> Vec<T> {
    let value = |index: usize| bytes[index * size_of::<T>()..].as_ptr().cast();
    // SAFETY: the bytes are whole items, each of which was copied, or written by a kernel field by
    // field.
    (0..count).map(|index| unsafe { std::ptr::read_unaligned(value(index)) }).collect()
}

impl Executor {
    fn launcher<M: DeviceMonoid>(&mut self, rungs: Rungs<M>, count: bool) -> OnExecutor<'_, M> {
        OnExecutor { executor: self, rungs, count, counts: Vec::new() }
    }

    /// Reduces items by a rung. The error says what went wrong.
    pub fn reduce<M: DeviceMonoid>(
        &mut self,
        rungs: Rungs<M>,
        rung: Rung,
        finish: Finish,
        items: &[M::Item],
    ) -> Result<M::Item, String> {
        let launcher = &mut self.launcher(rungs, false);
        let plan = Plan { rung, threads: rungs.threads, finish };
        let (left, count) = plan.reduce(launcher, bytes(items), items.len() as u64)?;
        let left = values(&left, count as usize).into_iter();
        left.reduce(|left, right| rungs.operator.combine(left, right)).ok_or("nothing is left".to_owned())
    }

    /// Scans items by a rung. The error says what went wrong.
    pub fn climb_scan<M: DeviceMonoid>(
        &mut self,
        rungs: Rungs<M>,
        rung: Rung,
        exclusive: bool,
        items: &[M::Item],
    ) -> Result<Vec<M::Item>, String> {
        let launcher = &mut self.launcher(rungs, false);
        let plan = Plan { rung, threads: rungs.threads, finish: Finish::Launches };
        let scanned = plan.scan(launcher, exclusive, bytes(items), items.len() as u64)?;
        Ok(values(&scanned, items.len()))
    }

    /// Counts the operations of a rung's launches.
    pub fn counts<M: DeviceMonoid>(
        &mut self,
        rungs: Rungs<M>,
        rung: Rung,
        scans: bool,
        items: &[M::Item],
    ) -> Result<Counts, String> {
        let (input, length) = (bytes(items), items.len() as u64);
        let plan = Plan { rung, threads: rungs.threads, finish: Finish::Launches };
        let launcher = &mut self.launcher(rungs, true);
        match scans {
            true => drop(plan.scan(launcher, false, input, length)?),
            false => drop(plan.reduce(launcher, input, length)?),
        }
        Ok(launcher.counts.iter().copied().sum())
    }
}
