//! Four uses of scans, on a GPU if there is one: cutting a sausage, picking numbers, counting
//! repetitions, and running a filter.
//!
//! ```text
//! cargo run --release --example scans
//! ```

#[path = "scans/mod.rs"]
mod scans;

use anyhow::Result;
use scans::{compaction, recurrence, run_length, sausage};
use warpfold::Device;

fn main() -> Result<()> {
    let device = Device::auto();
    println!("on {device}");

    let (cuts, left) = sausage::cut(&device, 100, &[3, 5, 2, 7, 28, 4, 3, 0, 8, 1])?;
    println!("a sausage of 100 inches is cut at {cuts:?}; {left} inches are left");

    let numbers: Vec<u32> = (0..1_000_000).map(|k| k * 2_654_435_761_u64 as u32 % 1000).collect();
    let picked = compaction::keep(&device, &numbers, |number| number % 250 == 0)?;
    println!("of {} numbers, {} are multiples of 250: {:?}...", numbers.len(), picked.len(), &picked[..8]);

    let text = b"aaaabbbccdaaaaaaaaaaaabbb";
    let runs = run_length::encode(&device, text)?;
    let runs: Vec<String> =
        runs.iter().map(|&(value, length)| format!("{length}{}", char::from(value))).collect();
    println!("{} is {}", String::from_utf8_lossy(text), runs.join(" "));

    let steps: Vec<f64> = (0..1_000_000).map(|k| f64::from(k % 100 < 50)).collect();
    let smooth = recurrence::smooth(&device, 0.9, &steps)?;
    println!(
        "a square wave, smoothed, is {:.3} at the end of a high half and {:.3} at that of a low one",
        smooth[49], smooth[99]
    );
    Ok(())
}
