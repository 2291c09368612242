//! Answers about each group of a table: of each symbol the number of trades, the mean price weighted
//! with the volume, the first, the last and the largest trade.
//!
//! ```text
//! cargo run --release --example groups -- examples/data/trades.csv
//! ```
//!
//! The file has the columns `symbol`, `price` and `volume`. The host sorts the trades by symbol, and
//! keeps their order otherwise. Then the symbols are segments of the prices and the volumes, which are
//! read in step, once.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use warpfold::aggregates::{ArgMax, Count, First, Indexed, Last, Mapped, WeightedMean};
use warpfold::{Device, Reduction, device};

/// Describes the trades of each symbol.
#[derive(Parser)]
struct Arguments {
    /// A `.csv` file with the columns `symbol`, `price` and `volume`.
    #[arg(default_value = "examples/data/trades.csv")]
    file: PathBuf,
}

#[device(type = Price)]
fn price(price: f64, _volume: f64) -> f64 {
    price
}

#[device(type = Volume)]
fn volume(_price: f64, volume: f64) -> f64 {
    volume
}

/// Five answers in one read.
type OfTrades = (
    Mapped<Price, Count<f64>>,
    WeightedMean<f64>,
    Mapped<Price, First<f64>>,
    Mapped<Price, Last<f64>>,
    Mapped<Volume, ArgMax<f64>>,
);

type Answer = (u64, Option<f64>, Option<f64>, Option<f64>, Option<Indexed<f64>>);

/// A trade: symbol, price, volume.
type Trade = (String, f64, f64);

fn main() -> Result<()> {
    let path = Arguments::parse().file;
    let trades = read(&path).with_context(|| path.display().to_string())?;
    let device = Device::auto();
    println!("on {device}: {} trades", trades.len());
    for line in describe(&device, trades)? {
        println!("{line}");
    }
    Ok(())
}

fn read(path: &PathBuf) -> Result<Vec<Trade>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path)?;
    let names = reader.headers()?.clone();
    let column = |name: &str| {
        names.iter().position(|found| found == name).with_context(|| format!("there is no column `{name}`"))
    };
    let (symbol, price, volume) = (column("symbol")?, column("price")?, column("volume")?);
    let mut trades = Vec::new();
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |field: usize| {
            let text = &record[field];
            text.parse::<f64>().with_context(|| format!("line {line}: {text:?} is not a number"))
        };
        trades.push((record[symbol].to_owned(), number(price)?, number(volume)?));
    }
    Ok(trades)
}

/// A line for each symbol.
fn describe(device: &Device, mut trades: Vec<Trade>) -> Result<Vec<String>> {
    trades.sort_by(|a, b| a.0.cmp(&b.0));
    let groups: Vec<&[Trade]> = trades.chunk_by(|a, b| a.0 == b.0).collect();
    let ends = groups.iter().scan(0, |end, group| {
        *end += group.len();
        Some(*end)
    });
    let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
    let (prices, volumes): (Vec<f64>, Vec<f64>) = trades.iter().map(|trade| (trade.1, trade.2)).unzip();
    let answers = Reduction::<OfTrades>::new(device.clone()).segments((&prices, &volumes), &offsets)?;
    Ok(groups.iter().zip(answers).map(|(group, answer)| line(group, answer)).collect())
}

fn line(group: &[Trade], (count, mean, first, last, largest): Answer) -> String {
    let text = |number: Option<f64>| number.map_or("none".to_owned(), |number| format!("{number:.2}"));
    let largest = largest.map_or("none".to_owned(), |largest| {
        format!("{} at {:.2}", largest.value, group[largest.index as usize].1)
    });
    format!(
        "{:<6} {count:>4} trades, mean {:>8}, first {:>8}, last {:>8}, largest {largest}",
        group[0].0,
        text(mean),
        text(first),
        text(last)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_symbol_has_a_line() {
        let trades = [("B", 10.0, 1.0), ("A", 4.0, 2.0), ("B", 13.0, 2.0), ("B", 11.0, 1.0)];
        let trades = trades.map(|(symbol, price, volume)| (symbol.to_owned(), price, volume));
        let lines = describe(&Device::cpu(), trades.to_vec()).expect("reduces");
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("A") && lines[0].contains("1 trades, mean     4.00"));
        assert!(
            lines[1].contains("3 trades, mean    11.75, first    10.00, last    11.00, largest 2 at 13.00")
        );
    }

    #[test]
    fn no_trades_have_no_lines() {
        assert!(describe(&Device::cpu(), Vec::new()).expect("reduces").is_empty());
    }
}
