//! The record of one run on a GPU machine. Its folder holds a description of the machine and the
//! rows of the measuring programs.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// A file of `run-gpu-tests`, with lines of `key,value`.
const MACHINE: &str = "machine.csv";
/// The rows of `benches/figures`, the rows of `benches/peers`, and the rows of both on the CPU.
const ROWS: [&str; 3] = ["warpfold.csv", "peers.csv", "cpu.csv"];

/// The machine, and the versions that were measured.
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

/// The kind of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Time {
    /// On the GPU: a replayed graph of many calls, divided by the number of calls.
    Graph,
    /// On the GPU: a call, where calls are enqueued singly while the GPU is busy.
    Stream,
    /// Like `Graph`, but all calls use the same memory, which a cache may hold.
    Warm,
    /// On the host: from the call to the result on the host.
    Host,
    /// Like `Host`, for a reduction on the CPU.
    Cpu,
    /// Of a process with an empty cache: the compilation of all kernels, and the first call.
    Compile,
    First,
    /// The first call of a process with images on the disk.
    Disk,
    /// The second call of that process.
    Again,
    /// The next call of that process, by a second `Reduction`.
    Second,
    /// On the host: the time to enqueue a call.
    Enqueue,
}

/// An operator and its item. Both are `-` for the read and copy ceilings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub(crate) operator: String,
    pub(crate) item: String,
    pub(crate) item_bytes: u64,
}

/// Measurements at several sizes, such as one line of a plot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Series {
    who: String,
    operator: String,
    item: String,
    time: Time,
    /// Whether the input starts at a multiple of 256 bytes. Otherwise it starts one alignment of
    /// the item later.
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

/// A line of a CSV, with the columns that the report uses.
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
    /// The programs and what they measured, in the order of the rows.
    subjects: Vec<(String, Subject)>,
    /// Median microseconds by bytes. There are several if a size was measured several times.
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
        // Keys become column names, which serde matches with the fields.
        let (keys, values): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
        let machine = csv::StringRecord::from(values).deserialize(Some(&csv::StringRecord::from(keys)))?;
        Ok(Self { machine, subjects: Vec::new(), medians: BTreeMap::new() })
    }

    /// Adds the rows of a CSV.
    pub(crate) fn add(&mut self, rows: &str) -> Result<()> {
        for (index, row) in csv::Reader::from_reader(rows.as_bytes()).deserialize().enumerate() {
            // Line 1 is the header.
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

    /// The subjects of a program, in the order of the rows.
    pub(crate) fn subjects(&self, who: &str) -> impl Iterator<Item = &Subject> {
        self.subjects.iter().filter(move |(of, _)| of == who).map(|(_, subject)| subject)
    }

    /// Median microseconds of `bytes`, if measured. The mean over several rows, so that none is
    /// selected.
    pub(crate) fn median(&self, series: &Series, bytes: u64) -> Option<f64> {
        self.medians.get(series)?.get(&bytes).map(|medians| mean(medians))
    }

    /// Sizes in bytes and their median microseconds, ascending.
    pub(crate) fn medians(&self, series: &Series) -> impl Iterator<Item = (u64, f64)> {
        self.medians.get(series).into_iter().flatten().map(|(&bytes, medians)| (bytes, mean(medians)))
    }

    /// The median of the fastest of several series at `bytes`.
    pub(crate) fn least_median(&self, series: impl IntoIterator<Item = Series>, bytes: u64) -> Option<f64> {
        series.into_iter().filter_map(|series| self.median(&series, bytes)).min_by(f64::total_cmp)
    }

    /// The speed of a series at `bytes`, as a fraction of the speed of another series.
    pub(crate) fn fraction(&self, series: &Series, of: &Series, bytes: u64) -> Option<f64> {
        Some(self.median(of, bytes)? / self.median(series, bytes)?)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
pub(crate) mod tests;
