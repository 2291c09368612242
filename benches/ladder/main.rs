//! Measures every rung of the ladder: its time, its share of the memory bandwidth, and its gain
//! over the rung before it. Without a GPU it explains the rungs and counts their work.
//!
//! ```text
//! cargo run --release --package warpfold-benches --example ladder
//! cargo run --release --package warpfold-benches --example ladder -- --sizes 20,24,28 --threads 256 --csv ladder.csv
//! cargo run --release --package warpfold-benches --example ladder -- --explain
//! ```

mod explain;
mod measure;
mod tables;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use warpfold::Device;

/// Measures or explains the rungs of the ladder.
#[derive(Parser)]
struct Arguments {
    /// Numbers of items, as powers of two.
    #[arg(long, value_delimiter = ',', default_values_t = 20..=29)]
    sizes: Vec<u32>,
    /// Numbers of threads in a block.
    #[arg(long, value_delimiter = ',', default_values_t = [128, 256, 512, 1024])]
    threads: Vec<u32>,
    /// CSV file for the figures.
    #[arg(long)]
    csv: Option<PathBuf>,
    /// SVG file for the plot.
    #[arg(long, default_value = "ladder.svg")]
    svg: PathBuf,
    /// Explains the rungs and counts their work, even if there is a GPU.
    #[arg(long)]
    explain: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    ensure!(
        arguments.sizes.iter().all(|size| (1..=34).contains(size)),
        "sizes are powers of two, from 1 to 34"
    );
    let device = Device::auto();
    if let (Some(_), Err(reason)) = (&arguments.csv, Device::cuda(0)) {
        bail!("there is nothing to measure: {reason}");
    }
    if arguments.explain || !device.is_gpu() {
        if !arguments.explain {
            println!(
                "There is no GPU to measure ({device}). This is what the rungs are, and what they do.\n"
            );
        }
        return explain::all();
    }
    println!("on {device}");
    let mut rows = Vec::new();
    for &size in &arguments.sizes {
        let of_size = measure::all(&device, 1 << size, &arguments.threads)?;
        tables::print(&of_size, size, &arguments.threads);
        rows.extend(of_size);
    }
    if let Some(path) = &arguments.csv {
        tables::write(&rows, path).with_context(|| path.display().to_string())?;
    }
    fs::write(&arguments.svg, tables::plot(&rows)?).with_context(|| arguments.svg.display().to_string())?;
    println!("\nplotted in {}", arguments.svg.display());
    Ok(())
}
