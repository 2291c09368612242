//! Prints the explanation of each rung, and the work that it does on a few items. The executor of
//! the tests counts the work.

use anyhow::{Result, anyhow};
use warpfold::ladder::{Role, Rung};
use warpfold::operators::Sum;

use support::cpp::compiler;
use support::programs::{Checks, Kernels};
use support::rungs::Counts;
use support::simt::seed;

const ITEMS: usize = 1 << 12;
const THREADS: u32 = 256;
const LANES: f64 = 32.0;

pub fn all() -> Result<()> {
    let counts = counts()?;
    for (rung, counts) in Rung::ALL.into_iter().zip(&counts) {
        println!("{} ({})", rung.name().to_uppercase(), rung.file());
        let order = if rung.keeps_order() { "keeps the order" } else { "the operator must commute" };
        println!("{}[{order}]", rung.explanation());
        if let Some(counts) = counts {
            println!("{}", in_words(counts));
        }
        println!();
    }
    if counts.iter().all(Option::is_none) {
        println!("Nothing was counted: that takes a C++ compiler.");
        return Ok(());
    }
    println!("{ITEMS} items in blocks of {THREADS} threads");
    println!(
        "{:26} {:>8} {:>6} {:>12} {:>8} {:>13} {:>12} {:>9} {:>8}",
        "rung",
        "launches",
        "steps",
        "combinations",
        "barriers",
        "warp barriers",
        "active lanes",
        "conflicts",
        "sectors"
    );
    for (rung, counts) in Rung::ALL.into_iter().zip(&counts) {
        let Some(counts) = counts else { continue };
        println!(
            "{:26} {:>8} {:>6} {:>12} {:>8} {:>13} {:>12} {:>9} {:>8}",
            rung.name(),
            counts.launches,
            counts.steps,
            counts.combinations,
            counts.barriers,
            counts.warp_barriers,
            active_lanes(counts),
            counts.bank_conflicts,
            counts.sectors,
        );
    }
    Ok(())
}

/// The counts of each rung. `None` for a rung that only completes others, or without a C++
/// compiler.
fn counts() -> Result<Vec<Option<Counts>>> {
    if compiler().is_none() {
        return Ok(vec![None; Rung::ALL.len()]);
    }
    let mut kernels = Kernels::new(Checks::Accesses);
    let rungs = kernels.add_rungs(Sum::<f32>::new(), THREADS, true);
    let mut executor = kernels.build(2).map_err(|said| anyhow!(said))?.start(seed());
    let items = vec![1.0; ITEMS];
    let count = |rung: Rung| match rung.role() {
        Role::Completes => Ok(None),
        role => executor.counts(rungs, rung, role == Role::Scans, &items).map(Some),
    };
    Rung::ALL.into_iter().map(count).collect::<Result<_, _>>().map_err(|wrong| anyhow!(wrong))
}

/// Average number of lanes that combine, in the warps that combine.
fn active_lanes(counts: &Counts) -> String {
    let turns = counts.combining_instructions as f64;
    format!("{:.1} of 32", counts.combinations as f64 / turns.max(1.0)).replace("32.0 of", "all of")
}

fn in_words(counts: &Counts) -> String {
    let Counts { launches, steps, combinations, combining_instructions, barriers, .. } = counts;
    let lanes = *combinations as f64 / (*combining_instructions).max(1) as f64;
    format!(
        "{ITEMS} items: {launches} launches, {steps} steps one after another, {combinations} combinations by {lanes:.1} of \
         {LANES} lanes at a time, {barriers} barriers of blocks and {} of warps, {} bank conflicts in {} accesses of warps to \
         shared memory, {} sectors of memory in {} accesses of warps.",
        counts.warp_barriers,
        counts.bank_conflicts,
        counts.shared_instructions,
        counts.sectors,
        counts.global_instructions
    )
}
