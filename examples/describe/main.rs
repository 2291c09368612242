//! Describes the numeric columns of a file: count, missing numbers, mean, standard deviation,
//! extremes, and a histogram in the terminal.
//!
//! ```text
//! cargo run --release -p describe -- examples/data/bunny.csv
//! cargo run --release -p describe -- table.parquet
//! ```
//!
//! - A `.csv` file: the first line holds names if none of its fields is a number. Numbers are read as
//!   `f64`. An empty field, `NA`, `NaN` and `null` are missing. A column with other text is skipped.
//! - A `.npy` file of shape (rows) or (rows, columns): `f32`, `f64`, or integers of 8 to 64 bits. A
//!   NaN is missing. Integers up to `u32` are read as `i64`.
//! - A `.parquet` file: columns of floats and integers, flat or in structs. Nulls and NaNs are missing.
//!   Lists, texts, dates and decimals are skipped.
//!
//! All answers about a column come from one read of it, by a tuple of aggregates. One of them is the
//! example's own (`adaptive_histogram.rs`): a histogram whose intervals follow from the numbers.

mod adaptive_histogram;
mod chart;
mod read_csv;
mod read_npy;
mod read_parquet;
mod summary;
mod table;

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use summary::{Described, Summary};
use table::{Column, Data, Table, Validity};
use warpfold::Device;

/// Describes the numeric columns of a file.
#[derive(Parser)]
struct Arguments {
    /// A `.csv` or `.parquet` file, or a `.npy` file of shape (rows) or (rows, columns).
    file: PathBuf,
}

fn main() -> Result<()> {
    let path = Arguments::parse().file;
    let table = read(&path).with_context(|| path.display().to_string())?;
    match write(&mut io::stdout().lock(), &path, &table) {
        // The reader of a pipe, such as `head`, has seen enough.
        Err(error) if is_closed_pipe(&error) => Ok(()),
        written => written,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.root_cause().downcast_ref().is_some_and(|error: &io::Error| error.kind() == ErrorKind::BrokenPipe)
}

fn write(out: &mut impl Write, path: &Path, table: &Table) -> Result<()> {
    let device = Device::auto();
    writeln!(out, "device   {device}")?;
    writeln!(out, "file     {}: {} rows, counted from 0", path.display(), table.rows)?;
    for Column { name, data } in &table.columns {
        let text = match data {
            Data::F32(numbers) => describe(&device, "f32", numbers, None),
            Data::F64(numbers) => describe(&device, "f64", numbers, None),
            Data::I64(numbers, validity) => describe(&device, "i64", numbers, validity.as_ref()),
            Data::U64(numbers, validity) => describe(&device, "u64", numbers, validity.as_ref()),
        };
        let text = text.with_context(|| format!("column {name}"))?;
        writeln!(out, "\n{name} {text}")?;
    }
    for skipped in &table.skipped {
        writeln!(out, "\n{skipped}")?;
    }
    Ok(())
}

/// Reads a table, with a bar of the bytes that are read.
fn read(path: &Path) -> Result<Table> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let parse: fn(File, &ProgressBar) -> Result<Table> = match extension.as_deref() {
        Some("csv") => |file, bar| read_csv::read(&mut read_with(file, bar)),
        Some("npy") => |file, bar| read_npy::read(&mut read_with(file, bar)),
        Some("parquet") => read_parquet::read,
        _ => bail!("expected a .csv, .npy or .parquet file"),
    };
    let file = File::open(path)?;
    let style = ProgressStyle::with_template("reading {bar:40} {bytes}/{total_bytes} {eta}")?;
    let bar = ProgressBar::new(file.metadata()?.len()).with_style(style);
    let table = parse(file, &bar);
    bar.finish_and_clear();
    table
}

/// A file that advances the bar.
fn read_with(file: File, bar: &ProgressBar) -> impl Read {
    BufReader::with_capacity(1 << 20, bar.wrap_read(file))
}

/// The answers about a column, as lines of text.
fn describe<T: Described + Debug>(
    device: &Device,
    kind: &str,
    numbers: &[T],
    validity: Option<&Validity>,
) -> Result<String> {
    let validity = validity.map(|validity| &validity.bytes[..]);
    let Summary { spread, smallest, largest, counts } = summary::of(device, numbers, validity)?;
    let count = spread.map_or(0, |spread| spread.count);
    let missing = numbers.len() as u64 - count;
    let mut text = format!("({kind})\ncount    {count}\nmissing  {missing}");
    let (Some(spread), Some(smallest), Some(largest)) = (spread, smallest, largest) else {
        return Ok(text);
    };
    text += &format!("\nmean     {:?}", spread.mean);
    text += &match spread.sample_variance() {
        Some(variance) => format!("\nstd      {:?} (of the sample)", variance.sqrt()),
        None => "\nstd      none: one number".to_owned(),
    };
    text += &format!("\nmin      {:?} in row {}", smallest.value, smallest.index);
    text += &format!("\nmax      {:?} in row {}\n", largest.value, largest.index);
    text += &match counts.bins().len() {
        0 => "no histogram: no number is finite".to_owned(),
        1 => "no histogram: all finite numbers are the same `f64`, or next to it".to_owned(),
        _ => chart::of(&counts),
    };
    Ok(text)
}
