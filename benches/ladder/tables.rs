//! The tables and the plot of the ladder.

use std::fs::File;
use std::path::Path;

use anyhow::Result;
use plotters::prelude::*;
use warpfold::ladder::Rung;

use crate::measure::{CEILING, COPY, LOOP, PRODUCT, Place, Row, climbs};

/// Prints the tables for one number of items.
pub fn print(rows: &[Row], size: u32, threads: &[u32]) {
    let bytes = 4.0 * (1_u64 << size) as f64;
    let best = |what: &str, place: Place| {
        let of_it = rows.iter().filter(|row| row.what == what && row.place == place);
        of_it.map(|row| row.seconds).min_by(f64::total_cmp)
    };
    let of_block = |what: &str, place: Place, threads: u32| {
        let mut found =
            rows.iter().filter(|row| row.what == what && row.place == place && row.threads == threads);
        found.next().map_or("-".to_owned(), |row| format!("{:.1}", row.seconds * 1e6))
    };
    let speed = |seconds: f64, ways: f64| ways * bytes / seconds / 1e9;
    let blocks: String = threads.iter().map(|threads| format!(" {threads:>9}")).collect();
    println!("\n2^{size} items of 4 bytes, in device memory");
    println!("{:34}{blocks} us in blocks of so many threads, and the best", "");
    println!(
        "{:34}{:width$} {:>8} {:>8} {:>8} {:>10}",
        "rung",
        "",
        "GB/s",
        "ceiling",
        "step",
        "cumulative",
        width = blocks.len()
    );
    for (place, ways, ceiling) in [(Place::Device, 1.0, CEILING), (Place::Scan, 2.0, COPY)] {
        let (mut first, mut before) = (None, None);
        let lines = whats(place);
        for what in lines.iter().map(String::as_str).chain([PRODUCT, ceiling]) {
            let Some(seconds) = best(what, place) else { continue };
            let of_blocks: String = match what == PRODUCT || what == ceiling {
                true => format!("{:>width$}", format!("{:.1}", seconds * 1e6), width = blocks.len()),
                false => {
                    threads.iter().map(|&threads| format!(" {:>9}", of_block(what, place, threads))).collect()
                }
            };
            let of_ceiling = best(ceiling, place).map_or(f64::NAN, |ceiling| ceiling / seconds);
            let times =
                |than: Option<f64>| than.map_or("-".to_owned(), |than| format!("{:.2}x", than / seconds));
            let [step, cumulative] = [before, first].map(|than| times(than.filter(|_| what != ceiling)));
            println!(
                "{what:34}{of_blocks} {:>8.1} {of_ceiling:>8.3} {step:>8} {cumulative:>10}",
                speed(seconds, ways)
            );
            first = first.or(Some(seconds));
            before = Some(seconds);
        }
    }
    println!("\nwith the way to the GPU, us, blocks of 256 threads");
    println!("{:34} {:>12} {:>12} {:>12} {:>12}", "rung", "no transfers", "pageable", "pinned", "streams");
    let lines = whats(Place::Device);
    for what in lines.iter().map(String::as_str).chain([PRODUCT]) {
        let of = |place: Place| {
            best(what, place).map_or("-".to_owned(), |seconds| format!("{:.1}", seconds * 1e6))
        };
        let device = if what == PRODUCT { of(Place::Device) } else { of_block(what, Place::Device, 256) };
        println!(
            "{what:34} {device:>12} {:>12} {:>12} {:>12}",
            of(Place::Pageable),
            of(Place::Pinned),
            of(Place::Streams)
        );
    }
    for (what, place) in [("the CPU, all threads", PRODUCT), ("the CPU, one thread", LOOP)] {
        if let Some(seconds) = best(place, Place::Cpu) {
            println!("{what:34} {:>12.1}", seconds * 1e6);
        }
    }
}

/// The names of the lines of a table, except for warpfold's own and the ceiling.
fn whats(place: Place) -> Vec<String> {
    match place {
        Place::Scan => [Rung::KoggeStone, Rung::BrentKung].map(|rung| rung.name().to_owned()).to_vec(),
        _ => climbs().into_iter().map(|climb| climb.name).collect(),
    }
}

pub fn write(rows: &[Row], path: &Path) -> Result<()> {
    let mut out = csv::Writer::from_writer(File::create(path)?);
    out.write_record(["length", "threads", "what", "place", "us"])?;
    for row in rows {
        let place = format!("{:?}", row.place).to_lowercase();
        let (length, threads, us) =
            (row.length.to_string(), row.threads.to_string(), format!("{:.3}", row.seconds * 1e6));
        out.write_record([&length, &threads, &row.what, &place, &us])?;
    }
    Ok(out.flush()?)
}

/// Plots the bandwidth of each rung over the number of items, as an SVG.
pub fn plot(rows: &[Row]) -> Result<String> {
    const SIZE: (u32, u32) = (1100, 700);
    let of_place = |row: &&Row| row.place == Place::Device;
    let speed = |row: &Row| 4.0 * row.length as f64 / row.seconds / 1e9;
    let size = |row: &Row| (row.length as f64).log2();
    let sizes = rows.iter().map(size);
    let (least, most) =
        sizes.fold((f64::INFINITY, 0.0_f64), |(least, most), size| (least.min(size), most.max(size)));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption("Every rung, items in device memory", ("sans-serif", 22))
            .margin(12)
            .set_label_area_size(LabelAreaPosition::Left, 70)
            .set_label_area_size(LabelAreaPosition::Bottom, 45)
            .build_cartesian_2d(least..most + 3.0, (0.001_f64..10_000.0).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("items")
            .x_label_formatter(&|size| format!("2^{size:.0}"))
            .y_desc("GB/s")
            .draw()?;
        let lines = whats(Place::Device);
        let count = lines.len() + 2;
        let lines = lines.iter().map(String::as_str).chain([PRODUCT, CEILING]);
        for (index, what) in lines.enumerate() {
            let mut best: Vec<(f64, f64)> = Vec::new();
            for row in rows.iter().filter(of_place).filter(|row| row.what == what) {
                match best.last_mut() {
                    Some(last) if last.0 == size(row) => last.1 = last.1.max(speed(row)),
                    _ => best.push((size(row), speed(row))),
                }
            }
            // Hues run from red for the first rung to violet.
            let color = HSLColor(0.8 * index as f64 / count as f64, 0.9, 0.4).to_rgba();
            let points = best.iter().map(|point| Circle::new(*point, 3, color.filled()));
            chart.draw_series(points)?;
            let line = chart.draw_series(LineSeries::new(best.clone(), color.stroke_width(2)))?;
            line.label(what)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        }
        let labels = chart.configure_series_labels();
        { labels }.background_style(WHITE.mix(0.8)).position(SeriesLabelPosition::MiddleRight).draw()?;
        area.present()?;
    }
    Ok(svg)
}
