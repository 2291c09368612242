//! The record of a full run: the hashes that passed, in `tests/passed.txt`, and a row of
//! `docs/test-runs.csv`.
//!
//! Each part of a full run leaves its lines in `target/full/TREE/`. The record is written when all
//! parts of one tree have passed. The parts may run in sequence, or on several machines whose
//! folders are copied together.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::command::command;
use crate::tree::Tree;

const PASSED: &str = "tests/passed.txt";
const RUNS: &str = "docs/test-runs.csv";
const COLUMNS: &str = "date,tree,commit,seconds,checks,mutations";

/// A part of a full run. `2/3` is the second of three parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) number: u64,
    pub(crate) of: u64,
}

impl Shard {
    pub(crate) const WHOLE: Self = Self { number: 1, of: 1 };
}

impl std::str::FromStr for Shard {
    type Err = anyhow::Error;
    fn from_str(text: &str) -> Result<Self> {
        let numbers = text.split_once('/').map(|(number, of)| (number.parse(), of.parse()));
        match numbers {
            Some((Ok(number), Ok(of))) if 1 <= number && number <= of => Ok(Self { number, of }),
            _ => bail!("a part is I/N, with I from 1 to N, not `{text}`"),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

fn folder(tree: &Tree, shard: Shard) -> PathBuf {
    Path::new("target/full").join(&tree.hash).join(format!("{}-of-{}", shard.number, shard.of))
}

/// Creates an empty folder for the lines of a part.
pub(crate) fn begin(tree: &Tree, shard: Shard) -> Result<PathBuf> {
    let folder = folder(tree, shard);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder.canonicalize()?)
}

/// Notes that a part has passed. Writes the record if no part is missing.
pub(crate) fn end(tree: &Tree, shard: Shard, time: Duration) -> Result<()> {
    fs::write(folder(tree, shard).join("seconds"), time.as_secs().to_string())?;
    let parts: Vec<PathBuf> = (1..=shard.of).map(|number| folder(tree, Shard { number, ..shard })).collect();
    let missing: Vec<u64> = (1..=shard.of)
        .zip(&parts)
        .filter(|(_, part)| !part.join("seconds").exists())
        .map(|(k, _)| k)
        .collect();
    if !missing.is_empty() {
        println!("the record is written when all parts have passed; missing: {missing:?} of {}", shard.of);
        return Ok(());
    }
    ensure!(tree.hash == Tree::of_working_copy()?.hash, "files have changed while they were tested");
    let record = Record::read(&parts)?;
    fs::write(PASSED, record.passed(tree))?;
    let runs = fs::read_to_string(RUNS).unwrap_or_else(|_| format!("{COLUMNS}\n"));
    fs::write(RUNS, runs + &record.row(tree, &today()?))?;
    println!("{PASSED} and {RUNS} have the record: commit them");
    Ok(())
}

#[derive(Default)]
struct Record {
    hashes: BTreeSet<String>,
    /// Lines other than hashes: the test that found each mutation, and hashes of parts of checks.
    others: BTreeSet<String>,
    seconds: u64,
}

impl Record {
    fn read(parts: &[PathBuf]) -> Result<Self> {
        let mut record = Self::default();
        for part in parts {
            for entry in fs::read_dir(part)? {
                let path = entry?.path();
                let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                if path.ends_with("seconds") {
                    record.seconds += text.parse::<u64>()?;
                } else {
                    record.add(&text);
                }
            }
        }
        ensure!(!record.hashes.is_empty(), "no check passed");
        Ok(record)
    }

    fn add(&mut self, text: &str) {
        for line in text.lines() {
            let of_kind = if line.contains(' ') { &mut self.others } else { &mut self.hashes };
            of_kind.insert(line.to_owned());
        }
    }

    fn passed(&self, tree: &Tree) -> String {
        let mut text = format!("commit {}\n", tree.commit);
        for line in self.others.iter().chain(&self.hashes) {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    fn row(&self, tree: &Tree, date: &str) -> String {
        let Tree { hash, commit } = tree;
        let mutations = self.others.iter().filter(|line| line.starts_with("finder ")).count();
        format!("{date},{hash},{commit},{},{},{mutations}\n", self.seconds, self.hashes.len())
    }
}

/// The date in UTC, as `2026-11-28`.
fn today() -> Result<String> {
    let output = command("date -u +%F").output().context("date")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests;
