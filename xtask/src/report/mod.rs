//! `cargo xtask report`: writes the tables and plots of the documents from the newest whole record in
//! `docs/gpu-runs/`, and the tables of mutations from the tests.
//!
//! A table stands between `<!-- report: NAME -->` and `<!-- end -->`. The text outside the markers
//! is written by hand. The same record always gives the same bytes, so `--check` can compare the
//! documents with the record.

mod canvas;
mod items;
mod ladder;
mod lines;
mod mutations;
mod plots;
mod record;
mod table;
mod tables;
mod units;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use self::ladder::Ladder;
use self::record::Record;

const RUNS: &str = "docs/gpu-runs";
/// The files of a whole record. Other folders have some of them.
const FILES: [&str; 5] = ["machine.csv", "warpfold.csv", "peers.csv", "cpu.csv", "ladder.csv"];
const PLOTS: &str = "docs/performance";
const DOCUMENTS: [&str; 4] = ["README.md", "docs/LADDER.md", "docs/PERFORMANCE.md", "docs/mutations.md"];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Writes nothing. Fails if a document or a plot differs from the record.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.check { check() } else { write() }
}

fn write() -> Result<()> {
    fs::create_dir_all(PLOTS)?;
    for (path, text) in files()? {
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        println!("{}", path.display());
    }
    Ok(())
}

pub(crate) fn check() -> Result<()> {
    let mut stale = Vec::new();
    for (path, text) in files()? {
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            stale.push(path.display().to_string());
        }
    }
    ensure!(stale.is_empty(), "not what the record gives (run `cargo xtask report`): {}", stale.join(", "));
    Ok(())
}

/// The contents of all files of the report.
fn files() -> Result<Vec<(PathBuf, String)>> {
    let folder = newest(Path::new(RUNS))?;
    let (record, ladder) = (Record::read(&folder)?, Ladder::read(&folder)?);
    let block = |name: &str| match mutations::block(name) {
        Some(table) => table,
        None => ladder.block(name).map_or_else(|| tables::block(&record, name), Ok),
    };
    let mut files = Vec::new();
    for path in DOCUMENTS {
        let text = fs::read_to_string(path).with_context(|| path.to_owned())?;
        let text = filled(&text, block).with_context(|| path.to_owned())?;
        files.push((path.into(), text));
    }
    for (name, plot) in plots::all(&record)? {
        files.push((Path::new(PLOTS).join(name), plot));
    }
    Ok(files)
}

/// The newest folder that has all files of a record. Names of folders start with the date.
fn newest(runs: &Path) -> Result<PathBuf> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(runs).with_context(|| runs.display().to_string())? {
        let path = entry?.path();
        if FILES.iter().all(|name| path.join(name).is_file()) {
            folders.push(path);
        }
    }
    folders.into_iter().max().with_context(|| format!("no folder of a run in {}", runs.display()))
}

/// Replaces the text between the markers of a document.
fn filled(document: &str, block: impl Fn(&str) -> Result<String>) -> Result<String> {
    const OPEN: &str = "<!-- report: ";
    const CLOSE: &str = " -->";
    const END: &str = "<!-- end -->";
    let mut text = String::new();
    let mut rest = document;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (name, after) = after.split_once(CLOSE).context("a marker that does not close")?;
        let (old, after) = after.split_once(END).with_context(|| format!("`{name}` has no {END}"))?;
        ensure!(!old.contains(OPEN), "`{name}` has no {END}");
        // Markdown requires an empty line before a table.
        text += &format!("{before}{OPEN}{name}{CLOSE}\n\n{}\n{END}", block(name)?);
        rest = after;
    }
    Ok(text + rest)
}

#[cfg(test)]
mod tests;
