//! The record of one run on a GPU machine: a folder with what the machine is, and the rows of both measuring programs.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// What `run-gpu-tests` writes beside the rows: lines of `key,value`.
const MACHINE: &str = "machine.csv";
/// The rows of `benches/figures` and of `benches/peers`, and those of both on the CPU.
const ROWS: [&str; 3] = ["warpfold.csv", "peers.csv", "cpu.csv"];

/// Where and of what the rows were measured.
#[derive(Deserialize)]
pub(crate) struct Machine {
    pub(crate) gpu: String,
    pub(crate) driver: String,
    pub(crate) cuda: String,
    pub(crate) cub: String,
    pub(crate) cpu: String,
    pub(crate) cpu_threads: u32,
    pub(crate) date: String,
    pub(crate) commit: String,
}

/// How a time was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Time {
    /// On the GPU: a replayed graph of many calls, divided by their number.
    Graph,
    /// On the GPU: of calls that are enqueued one by one while it is busy.
    Stream,
    /// As `Graph`, of calls that all read and write the same memory, which a cache may have.
    Warm,
    /// On the host: from the call to the result in hand.
    Host,
    /// The same, where the CPU reduces.
    Cpu,
    /// Of a process with nothing in the cache: until all kernels are compiled, and the first call.
    Compile,
    First,
    /// The first call of one with images on the disk.
    Disk,
    /// The second call of that process.
    Again,
    /// And after it the first one of a second `Reduction`.
    Second,
    /// On the host: until a call is enqueued.
    Enqueue,
}

/// An operator and its item; both are `-` where something else than a reduction is measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub(crate) operator: String,
    pub(crate) item: String,
    pub(crate) item_bytes: u64,
}

/// What is measured at several sizes: one line of a plot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Series {
    who: String,
    operator: String,
    item: String,
    time: Time,
    /// Whether the input starts at a multiple of 256 bytes, and not one item's alignment later.
    aligned: bool,
}

impl Series {
    /// GPU times of aligned inputs.
    pub(crate) fn graph(who: &str, operator: &str, item: &str) -> Self {
        let [who, operator, item] = [who, operator, item].map(str::to_owned);
        Self { who, operator, item, time: Time::Graph, aligned: true }
    }

    /// The fastest pure read.
    pub(crate) fn read() -> Self {
        Self::graph("read", "-", "-")
    }

    pub(crate) fn of(who: &str, subject: &Subject) -> Self {
        Self::graph(who, &subject.operator, &subject.item)
    }

    pub(crate) fn taken(self, time: Time) -> Self {
        Self { time, ..self }
    }

    pub(crate) fn unaligned(self) -> Self {
        Self { aligned: false, ..self }
    }
}

/// A line of the CSVs, as far as the report is about it.
#[derive(Deserialize)]
struct Row {
    who: String,
    operator: String,
    item: String,
    item_bytes: u64,
    bytes: u64,
    offset: u64,
    time: Time,
    median_us: f64,
}

pub(crate) struct Record {
    pub(crate) machine: Machine,
    /// Who was measured with what, in the order of the rows.
    subjects: Vec<(String, Subject)>,
    /// The median microseconds of each size in bytes; more than one where it was measured more than once.
    medians: BTreeMap<Series, BTreeMap<u64, Vec<f64>>>,
}

impl Record {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| path.display().to_string())
        };
        let mut record =
            Self::new(&text(MACHINE)?).with_context(|| folder.join(MACHINE).display().to_string())?;
        for name in ROWS {
            record.add(&text(name)?).with_context(|| folder.join(name).display().to_string())?;
        }
        Ok(record)
    }

    /// A record without rows.
    pub(crate) fn new(machine: &str) -> Result<Self> {
        let mut reader = csv::Reader::from_reader(machine.as_bytes());
        let lines: Vec<(String, String)> = reader.deserialize().collect::<Result<_, _>>()?;
        if let Some((key, _)) = lines.iter().find(|(_, value)| value.is_empty()) {
            bail!("`{key}` has no value");
        }
        // Keys become columns, which serde can take by their names.
        let (keys, values): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
        let machine = csv::StringRecord::from(values).deserialize(Some(&csv::StringRecord::from(keys)))?;
        Ok(Self { machine, subjects: Vec::new(), medians: BTreeMap::new() })
    }

    /// Adds the rows of a CSV.
    pub(crate) fn add(&mut self, rows: &str) -> Result<()> {
        for (index, row) in csv::Reader::from_reader(rows.as_bytes()).deserialize().enumerate() {
            // The header is the first line.
            self.add_row(row?).with_context(|| format!("line {}", index + 2))?;
        }
        Ok(())
    }

    fn add_row(&mut self, row: Row) -> Result<()> {
        let Row { who, operator, item, item_bytes, bytes, offset, time, median_us } = row;
        ensure!(median_us.is_finite() && median_us > 0.0, "{median_us} is not a time");
        let subject = Subject { operator: operator.clone(), item: item.clone(), item_bytes };
        let subject = (who.clone(), subject);
        if !self.subjects.contains(&subject) {
            self.subjects.push(subject);
        }
        let series = Series { who, operator, item, time, aligned: offset == 0 };
        self.medians.entry(series).or_default().entry(bytes).or_default().push(median_us);
        Ok(())
    }

    /// What somebody was measured with, in the order of the rows.
    pub(crate) fn subjects(&self, who: &str) -> impl Iterator<Item = &Subject> {
        self.subjects.iter().filter(move |(of, _)| of == who).map(|(_, subject)| subject)
    }

    /// Median microseconds of `bytes`, if that was measured; the mean of those of several rows, so that none is picked.
    pub(crate) fn median(&self, series: &Series, bytes: u64) -> Option<f64> {
        self.medians.get(series)?.get(&bytes).map(|medians| mean(medians))
    }

    /// Sizes in bytes and their median microseconds, ascending.
    pub(crate) fn medians(&self, series: &Series) -> impl Iterator<Item = (u64, f64)> {
        self.medians.get(series).into_iter().flatten().map(|(&bytes, medians)| (bytes, mean(medians)))
    }

    /// The median of the fastest of some series at `bytes`.
    pub(crate) fn least_median(&self, series: impl IntoIterator<Item = Series>, bytes: u64) -> Option<f64> {
        series.into_iter().filter_map(|series| self.median(&series, bytes)).min_by(f64::total_cmp)
    }

    /// How fast a series is at `bytes`, as a fraction of another's speed.
    pub(crate) fn fraction(&self, series: &Series, of: &Series, bytes: u64) -> Option<f64> {
        Some(self.median(of, bytes)? / self.median(series, bytes)?)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
pub(crate) mod tests;
