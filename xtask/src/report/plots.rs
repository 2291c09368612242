//! Makes the plots of a record, as SVGs.

use anyhow::Result;

use super::canvas::{BLUE, GREEN, Heading, INK, ORANGE, PURPLE, SKY, Stroke, VERMILION};
use super::items;
use super::lines::{Figure, Line, Panel, Scale};
use super::record::{Record, Series, Time};
use super::units::rate;

/// Bytes. For smaller inputs, a rate only shows the time of a launch.
const LEAST_THROUGHPUT_BYTES: u64 = 1 << 18;
/// Bytes. For larger inputs, a time only shows the speed of memory.
const MOST_LATENCY_BYTES: u64 = 1 << 26;

/// The programs to draw, from back to front, with their names in the legend and their strokes.
const DRAWN: [(&str, &str, Stroke); 7] = [
    ("read", "read ceiling", Stroke::new(INK, 3).dashed()),
    ("thrust", "Thrust", Stroke::new(SKY, 4)),
    ("cupy", "CuPy", Stroke::new(PURPLE, 4)),
    ("pytorch", "PyTorch", Stroke::new(GREEN, 4)),
    ("cub-gpu-to-gpu", "CUB gpu_to_gpu", Stroke::new(ORANGE, 4)),
    ("cub", "CUB", Stroke::new(VERMILION, 4)),
    ("warpfold", "warpfold", Stroke::new(BLUE, 6)),
];

/// Names and contents of the SVG files.
pub(crate) fn all(record: &Record) -> Result<[(&'static str, String); 3]> {
    Ok([
        ("throughput.svg", throughput(record)?),
        ("latency.svg", latency(record)?),
        (
            "ceiling-by-item.svg",
            items::plot(
                record,
                heading(record, "Fraction of the read ceiling by item", "GPU time in a replayed graph"),
            )?,
        ),
    ])
}

/// GB/s over bytes.
fn throughput(record: &Record) -> Result<String> {
    let panel = |title: &str, operator, item| {
        let mut lines = lines(record, Time::Graph, operator, item);
        for line in &mut lines {
            line.points.retain(|&(bytes, _)| bytes >= LEAST_THROUGHPUT_BYTES);
            for (bytes, value) in &mut line.points {
                *value = rate(*bytes, *value);
            }
        }
        Panel { title: title.to_owned(), lines, floor: None }
    };
    Figure {
        heading: heading(record, "GB/s over the size of the input", "GPU time in a replayed graph"),
        panels: [
            panel("sum of f32, GB/s", "sum", "f32"),
            panel("12-byte points, farthest from the origin, GB/s", "max-by-norm", "f32x3"),
        ],
        scale: Scale::Linear,
    }
    .draw()
}

/// Microseconds over bytes.
fn latency(record: &Record) -> Result<String> {
    let panel = |title: &str, time, (launch, words)| {
        let mut lines = lines(record, time, "sum", "f32");
        for line in &mut lines {
            line.points.retain(|&(bytes, _)| bytes <= MOST_LATENCY_BYTES);
        }
        let floor = record.median(&Series::graph("launch", launch, "-").taken(time), 0);
        Panel { title: title.to_owned(), lines, floor: floor.map(|time| (time, words)) }
    };
    let mapped = ("mapped", "a kernel that answers through mapped memory");
    Figure {
        heading: heading(record, "Microseconds over the size of the input", "sum of f32"),
        panels: [
            panel("GPU time in a replayed graph, µs", Time::Graph, ("empty", "an empty kernel")),
            panel("call to result in hand, µs", Time::Host, mapped),
        ],
        scale: Scale::Logarithmic,
    }
    .draw()
}

/// Microseconds of a reduction by every program, and of a pure read.
fn lines(record: &Record, time: Time, operator: &str, item: &str) -> Vec<Line> {
    let line = |(who, name, stroke)| {
        let series = if who == "read" { Series::read() } else { Series::graph(who, operator, item) };
        Line { name, stroke, points: record.medians(&series.taken(time)).collect() }
    };
    DRAWN.map(line).into()
}

fn heading(record: &Record, title: &'static str, subtitle: &'static str) -> Heading {
    let machine = &record.machine;
    Heading { title, subtitle, origin: format!("{}, {}, {}", machine.gpu, machine.date, machine.commit) }
}

#[cfg(test)]
mod tests;
