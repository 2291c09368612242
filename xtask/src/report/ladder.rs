//! The tables of `docs/LADDER.md`, from the figures of the example `ladder`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::table::{NOT_MEASURED, Table, hundredths, three_digits};
use super::units::rate;

/// The file that the example writes.
const FILE: &str = "ladder.csv";
/// The number of items at which block sizes and transfers are compared.
const LENGTH: u64 = 1 << 28;
/// The number of threads in a block, if only one block size is compared.
const THREADS: u32 = 256;
const PRODUCT: &str = "warpfold";

/// The location of the items when the clock starts, and the kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Place {
    Device,
    Scan,
    Pageable,
    Pinned,
    Streams,
    Cpu,
}

#[derive(Deserialize)]
struct Row {
    length: u64,
    /// Threads in a block; 0 if there is no choice.
    threads: u32,
    what: String,
    place: Place,
    us: f64,
}

/// The rows of the example. Empty if it did not run.
#[derive(Default)]
pub(crate) struct Ladder(Vec<Row>);

impl Ladder {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        match path.exists() {
            true => Self::new(&std::fs::read_to_string(&path)?).with_context(|| path.display().to_string()),
            false => Ok(Self::default()),
        }
    }

    fn new(rows: &str) -> Result<Self> {
        let rows: Vec<Row> =
            csv::Reader::from_reader(rows.as_bytes()).deserialize().collect::<Result<_, _>>()?;
        for row in &rows {
            ensure!(row.us.is_finite() && row.us > 0.0, "{} is not a time", row.us);
        }
        Ok(Self(rows))
    }

    /// The Markdown for a marker's name. `None` if the marker is not about the ladder.
    pub(crate) fn block(&self, name: &str) -> Option<String> {
        match name {
            "ladder" => Some(self.steps(Place::Device, "read ceiling", 1)),
            "ladder-sizes" => Some(self.sizes()),
            "ladder-transfers" => Some(self.transfers()),
            "ladder-scans" => Some(self.steps(Place::Scan, "copy ceiling", 2)),
            _ => None,
        }
    }

    /// The names measured in a place, in the order of the rows, without the ceiling.
    fn whats(&self, place: Place) -> Vec<&str> {
        let mut whats: Vec<&str> = Vec::new();
        for row in self.0.iter().filter(|row| row.place == place && !row.what.ends_with("ceiling")) {
            if !whats.contains(&row.what.as_str()) {
                whats.push(&row.what);
            }
        }
        whats
    }

    fn best(&self, what: &str, place: Place, length: u64) -> Option<f64> {
        let of_it =
            self.0.iter().filter(|row| row.what == what && row.place == place && row.length == length);
        of_it.map(|row| row.us).min_by(f64::total_cmp)
    }

    fn of_block(&self, what: &str, place: Place, threads: u32) -> Option<f64> {
        let is_it =
            |row: &&Row| (row.place, row.threads, row.length) == (place, threads, LENGTH) && row.what == what;
        self.0.iter().find(is_it).map(|row| row.us)
    }

    /// Compares each rung with the one before it, in blocks of every size. Each item is moved
    /// `ways` times through memory.
    fn steps(&self, place: Place, ceiling: &str, ways: u64) -> String {
        let of_place = self.0.iter().filter(|row| row.place == place && row.threads > 0);
        let threads: BTreeSet<u32> = of_place.map(|row| row.threads).collect();
        let blocks = threads.iter().map(|threads| format!("{threads} threads"));
        let figures: Vec<String> =
            blocks.chain(["GB/s", "of the ceiling", "step", "cumulative"].map(str::to_owned)).collect();
        let figures: Vec<&str> = figures.iter().map(String::as_str).collect();
        let mut table = Table::new(&["rung"], &figures);
        let (mut first, mut before) = (None, None);
        for what in self.whats(place) {
            let Some(best) = self.best(what, place, LENGTH) else { continue };
            let of_blocks = threads.iter().map(|&threads| {
                self.of_block(what, place, threads).map_or(NOT_MEASURED.to_owned(), three_digits)
            });
            let of_blocks: Vec<String> = match what == PRODUCT {
                true => threads.iter().map(|_| three_digits(best)).collect(),
                false => of_blocks.collect(),
            };
            let times = |than: Option<f64>| {
                than.map_or(NOT_MEASURED.to_owned(), |than| format!("{:.2}x", than / best))
            };
            let of_ceiling = self.best(ceiling, place, LENGTH).map(|ceiling| ceiling / best);
            let speed = format!("{:.1}", rate(ways * 4 * LENGTH, best));
            let gains = [times(before), times(first)];
            table.row(
                [vec![what.to_owned()], of_blocks, vec![speed, hundredths(of_ceiling)], gains.to_vec()]
                    .concat(),
            );
            first = first.or(Some(best));
            before = Some(best);
        }
        table.or_nothing()
    }

    /// GB/s of each rung with its best block size, for every number of items.
    fn sizes(&self) -> String {
        let lengths: BTreeSet<u64> = self.0.iter().map(|row| row.length).collect();
        let figures: Vec<String> = lengths.iter().map(|length| format!("2^{}", length.ilog2())).collect();
        let figures: Vec<&str> = figures.iter().map(String::as_str).collect();
        let mut table = Table::new(&["GB/s"], &figures);
        for what in self.whats(Place::Device).into_iter().chain(["read ceiling"]) {
            let speed = |&length: &u64| {
                let best = self.best(what, Place::Device, length);
                best.map_or(NOT_MEASURED.to_owned(), |best| format!("{:.1}", rate(4 * length, best)))
            };
            if !lengths.is_empty() {
                table.row(std::iter::once(what.to_owned()).chain(lengths.iter().map(speed)));
            }
        }
        table.or_nothing()
    }

    /// Milliseconds of each rung, for every location of the items.
    fn transfers(&self) -> String {
        let mut table =
            Table::new(&["rung"], &["no transfers", "pageable", "pinned", "pinned, four streams"]);
        let ms = |us: Option<f64>| us.map_or(NOT_MEASURED.to_owned(), |us| three_digits(us / 1e3));
        for what in self.whats(Place::Pinned) {
            let on_device = match what == PRODUCT {
                true => self.best(what, Place::Device, LENGTH),
                false => self.of_block(what, Place::Device, THREADS),
            };
            let moved = [Place::Pageable, Place::Pinned, Place::Streams]
                .map(|place| ms(self.best(what, place, LENGTH)));
            table.row([what.to_owned(), ms(on_device)].into_iter().chain(moved));
        }
        for what in self.whats(Place::Cpu) {
            let name = if what == PRODUCT { "the CPU, all threads" } else { "the CPU, one thread" };
            let time = ms(self.best(what, Place::Cpu, LENGTH));
            table.row([name.to_owned(), time].into_iter().chain([""; 3].map(str::to_owned)));
        }
        table.or_nothing()
    }
}

#[cfg(test)]
mod tests;
