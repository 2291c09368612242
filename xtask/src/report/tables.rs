//! The Markdown between the markers of the documents, made from a record.

use anyhow::{Context, Result, bail};

use super::record::{Machine, Record, Series, Subject, Time};
use super::table::{NOT_MEASURED, Table, cell, hundredths, in_milliseconds, three_digits, with_unit};
use super::units::{in_words, rate};

/// Bytes of the inputs at which large inputs are compared.
pub(crate) const LARGE: [u64; 2] = [1 << 28, 1 << 30];
/// Bytes of the small input in the headline table.
const SMALL: u64 = 1 << 22;
/// Operators that instructions bound as well as memory, on some GPUs.
const COMPUTE_HEAVY: [&str; 5] = ["bounding-box", "welford", "quaternion-product", "log-sum-exp", "top-4"];

pub(crate) fn is_compute_heavy(subject: &Subject) -> bool {
    COMPUTE_HEAVY.contains(&subject.operator.as_str())
}

/// The Markdown for a marker's name.
pub(crate) fn block(record: &Record, name: &str) -> Result<String> {
    match name {
        "machine" => Ok(machine(record)),
        "headline" => headline(record),
        "large" => Ok(large(record, |subject| !is_compute_heavy(subject))),
        "compute-heavy" => Ok(large(record, is_compute_heavy)),
        "graph" => Ok(sizes(record, Time::Graph)),
        "host" => Ok(sizes(record, Time::Host)),
        "cold" => Ok(cold(record)),
        "cpu" => Ok(cpu(record)),
        "cpu-sum" => cpu_sum(record),
        "enqueue" => Ok(enqueue(record)),
        "scans" => Ok(scans(record)),
        "scans-by-operator" => Ok(scans_by_operator(record)),
        "scans-cpu" => Ok(scans_cpu(record)),
        _ => bail!("no table is called `{name}`"),
    }
}

fn machine(record: &Record) -> String {
    let machine = &record.machine;
    format!(
        "One {} (driver {}, CUDA {}, CUB {}), {}, commit {}.\n",
        machine.gpu, machine.driver, machine.cuda, machine.cub, machine.date, machine.commit
    )
}

/// Host times of calls, beside CUB's.
fn headline(record: &Record) -> Result<String> {
    let rows = [
        (SMALL, "sum", "f32", "`f32`, sum"),
        (LARGE[1], "sum", "f32", "`f32`, sum"),
        (LARGE[1], "max-by-norm", "f32x3", "12-byte points, farthest from the origin"),
        (LARGE[1], "matrix-product", "u32x4", "2x2 matrices of `u32`, product in order"),
        (LARGE[1], "max", "u8", "`u8`, maximum"),
    ];
    let mut table = Table::new(&["input"], &["time", "rate", "of the read ceiling", "CUB's time"]);
    for (bytes, operator, item, words) in rows {
        let series = Series::graph("warpfold", operator, item).taken(Time::Host);
        let time = record
            .median(&series, bytes)
            .with_context(|| format!("{operator} of {item}, {} was not measured", in_words(bytes)))?;
        let cub = record.median(&Series::graph("cub", operator, item).taken(Time::Host), bytes);
        // A launch bounds the time of a small input, so its rate means little.
        let large = (bytes != SMALL).then_some(());
        table.row([
            format!("{} of {words}", in_words(bytes)),
            with_unit(Some(time)),
            large.map_or(NOT_MEASURED.to_owned(), |()| format!("{:.0} GB/s", rate(bytes, time))),
            hundredths(large.and_then(|()| record.fraction(&series, &Series::read(), bytes))),
            with_unit(cub),
        ]);
    }
    Ok(table.markdown)
}

/// GPU time of large inputs, as a fraction of the read ceiling and of CUB's rate.
fn large(record: &Record, wanted: impl Fn(&Subject) -> bool) -> String {
    let [less, more] = LARGE;
    let mut table = Table::new(
        &["operator", "item"],
        &[&in_words(less), "of CUB", &in_words(more), "of CUB", &format!("{}, unaligned", in_words(more))],
    );
    for subject in record.subjects("warpfold").filter(|subject| wanted(subject)) {
        let ours = Series::of("warpfold", subject);
        let cub = Series::of("cub", subject);
        let of_ceiling = |series: &Series, bytes| hundredths(record.fraction(series, &Series::read(), bytes));
        let rate = record.median(&ours, more).map(|time| format!("{:.0} GB/s, ", rate(more, time)));
        table.row([
            subject.operator.clone(),
            subject.item.clone(),
            of_ceiling(&ours, less),
            hundredths(record.fraction(&ours, &cub, less)),
            rate.unwrap_or_default() + &of_ceiling(&ours, more),
            hundredths(record.fraction(&ours, &cub, more)),
            of_ceiling(&ours.clone().unaligned(), more),
        ]);
    }
    table.markdown
}

/// Microseconds of a sum of f32 by every program, at every size measured.
fn sizes(record: &Record, time: Time) -> String {
    let series = |who: &str| Series::graph(who, "sum", "f32").taken(time);
    let (ours, cub, gpu_to_gpu) = (series("warpfold"), series("cub"), series("cub-gpu-to-gpu"));
    let (others, headings) = match time {
        // Thrust waits for the stream, so it cannot be recorded in a graph.
        Time::Graph => ([series("pytorch"), series("cupy"), Series::read()], ["PyTorch", "CuPy", "read"]),
        _ => ([series("pytorch"), series("cupy"), series("thrust")], ["PyTorch", "CuPy", "Thrust"]),
    };
    let mut columns = vec!["warpfold", "CUB", "of CUB", "`gpu_to_gpu`", "of `gpu_to_gpu`"];
    columns.extend(headings);
    let mut table = Table::new(&["`f32` sum of"], &columns);
    for (bytes, median) in record.medians(&ours) {
        let mut cells = vec![
            in_words(bytes),
            three_digits(median),
            cell(record.median(&cub, bytes)),
            hundredths(record.fraction(&ours, &cub, bytes)),
            cell(record.median(&gpu_to_gpu, bytes)),
            hundredths(record.fraction(&ours, &gpu_to_gpu, bytes)),
        ];
        cells.extend(others.iter().map(|other| cell(record.median(other, bytes))));
        table.row(cells);
    }
    table.markdown
}

/// Times of first calls.
fn cold(record: &Record) -> String {
    let mut table = Table::new(
        &["operator", "item", "input"],
        &[
            "nothing in the cache",
            "`compile`",
            "images on the disk",
            "the same again",
            "then a second `Reduction`",
        ],
    );
    for subject in record.subjects("warpfold") {
        let series = |time| Series::of("warpfold", subject).taken(time);
        for (bytes, first) in record.medians(&series(Time::First)) {
            table.row([
                subject.operator.clone(),
                subject.item.clone(),
                in_words(bytes),
                in_milliseconds(Some(first)),
                in_milliseconds(record.median(&series(Time::Compile), bytes)),
                in_milliseconds(record.median(&series(Time::Disk), bytes)),
                with_unit(record.median(&series(Time::Again), bytes)),
                with_unit(record.median(&series(Time::Second), bytes)),
            ]);
        }
    }
    table.markdown
}

/// Times on the CPU, beside other libraries.
fn cpu(record: &Record) -> String {
    let bytes = LARGE[1];
    let peers = [
        ("rayon", "`reduce_with`"),
        ("rayon-sum", "`par_iter().sum()`"),
        ("std-sum", "`iter().sum()`"),
        ("numpy", "NumPy"),
        ("pytorch-cpu", "PyTorch"),
    ];
    let mut figures = vec!["time", "rate", "of the read ceiling"];
    figures.extend(peers.iter().map(|(_, heading)| heading));
    let mut table = Table::new(&["operator", "item"], &figures);
    for subject in record.subjects("warpfold-cpu") {
        let series = |who| Series::of(who, subject).taken(Time::Cpu);
        let time = record.median(&series("warpfold-cpu"), bytes);
        let read = record.least_median(["read-cpu", "read-ahead-cpu"].map(series), bytes);
        let mut cells = vec![
            subject.operator.clone(),
            subject.item.clone(),
            in_milliseconds(time),
            time.map_or(NOT_MEASURED.to_owned(), |time| format!("{:.0} GB/s", rate(bytes, time))),
            hundredths(read.zip(time).map(|(read, time)| read / time)),
        ];
        cells.extend(peers.iter().map(|(who, _)| in_milliseconds(record.median(&series(who), bytes))));
        table.row(cells);
    }
    table.markdown
}

/// A sentence about the sum on the CPU, which all libraries have.
fn cpu_sum(record: &Record) -> Result<String> {
    let bytes = LARGE[1];
    let time = |who: &str| {
        let median = record.median(&Series::graph(who, "sum", "f32").taken(Time::Cpu), bytes);
        median.map(|_| in_milliseconds(median)).with_context(|| format!("{who} was not measured"))
    };
    let Machine { cpu, cpu_threads, .. } = &record.machine;
    Ok(format!(
        "On the CPU of that machine ({cpu}, {cpu_threads} threads) {} of `f32` is summed in {}; rayon's `par_iter().sum()` takes \
         {}, NumPy {}, PyTorch {}.\n",
        in_words(bytes),
        time("warpfold-cpu")?,
        time("rayon-sum")?,
        time("numpy")?,
        time("pytorch-cpu")?
    ))
}

/// The host's time to enqueue a call.
fn enqueue(record: &Record) -> String {
    let mut table =
        Table::new(&["operator", "item", "input"], &["`run_into`", "the driver's calls alone", "difference"]);
    for subject in record.subjects("driver") {
        let series = |who| Series::of(who, subject).taken(Time::Enqueue);
        for (bytes, ours) in record.medians(&series("warpfold")) {
            let driver = record.median(&series("driver"), bytes);
            table.row([
                subject.operator.clone(),
                subject.item.clone(),
                in_words(bytes),
                with_unit(Some(ours)),
                with_unit(driver),
                driver.map_or(NOT_MEASURED.to_owned(), |driver| format!("{:.2} µs", ours - driver)),
            ]);
        }
    }
    table.or_nothing()
}

/// A copy of as many bytes as a scan reads.
fn copying() -> Series {
    Series::graph("copy", "-", "-")
}

/// Microseconds of a scan by sum of f32, at every size measured.
fn scans(record: &Record) -> String {
    let (ours, cub) = (Series::graph("warpfold-scan", "sum", "f32"), Series::graph("cub-scan", "sum", "f32"));
    let mut table = Table::new(&["`f32` scan of"], &["warpfold", "CUB", "of CUB", "copy", "of copying"]);
    for (bytes, median) in record.medians(&ours) {
        table.row([
            in_words(bytes),
            three_digits(median),
            cell(record.median(&cub, bytes)),
            hundredths(record.fraction(&ours, &cub, bytes)),
            cell(record.median(&copying(), bytes)),
            hundredths(record.fraction(&ours, &copying(), bytes)),
        ]);
    }
    table.or_nothing()
}

/// Times of large scans by every operator measured.
fn scans_by_operator(record: &Record) -> String {
    let bytes = LARGE[1];
    let heading = in_words(bytes);
    let figures = [heading.as_str(), "read and written", "of copying", "of CUB", "unaligned, of copying"];
    let mut table = Table::new(&["operator", "item"], &figures);
    for subject in record.subjects("warpfold-scan") {
        let (ours, cub) = (Series::of("warpfold-scan", subject), Series::of("cub-scan", subject));
        let time = record.median(&ours, bytes);
        table.row([
            subject.operator.clone(),
            subject.item.clone(),
            with_unit(time),
            time.map_or(NOT_MEASURED.to_owned(), |time| format!("{:.0} GB/s", rate(2 * bytes, time))),
            hundredths(record.fraction(&ours, &copying(), bytes)),
            hundredths(record.fraction(&ours, &cub, bytes)),
            hundredths(record.fraction(&ours.clone().unaligned(), &copying(), bytes)),
        ]);
    }
    table.or_nothing()
}

/// Scans on the CPU, as fractions of the fastest of three copies.
fn scans_cpu(record: &Record) -> String {
    let columns = ["256 MiB", "of copying", "1 GiB", "of copying"];
    let mut table = Table::new(&["operator", "item"], &columns);
    for subject in record.subjects("warpfold-scan-cpu") {
        let series = |who| Series::of(who, subject).taken(Time::Cpu);
        let figures = LARGE.into_iter().flat_map(|bytes| {
            let time = record.median(&series("warpfold-scan-cpu"), bytes);
            let copy =
                record.least_median(["copy-cpu", "copy-large-cpu", "copy-ahead-cpu"].map(series), bytes);
            let fraction = copy.zip(time).map(|(copy, time)| copy / time);
            [in_milliseconds(time), hundredths(fraction)]
        });
        let words = [subject.operator.clone(), subject.item.clone()];
        table.row(words.into_iter().chain(figures));
    }
    table.or_nothing()
}

#[cfg(test)]
mod tests;
