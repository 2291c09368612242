//! Runs each operator in a process of its own, so that earlier measurements do not affect it.
//!
//! In a process that has recorded about two dozen graphs, every launch of a later graph takes
//! longer, whichever kernel it has. A small program without warpfold shows the same after it
//! uploads a graph that it never launches.

use std::io::Write;
use std::process::Command;

use anyhow::{Result, ensure};

use super::operators::{self, Measured, Visitor, is_asked};

/// Marks a process that measures one operator.
pub const FLAG: &str = "--alone";

/// Writes the rows of each operator, measured by a process that also gets `options`.
pub fn all(out: &mut impl Write, only: &[String], options: &[String]) -> Result<()> {
    let mut processes = Processes { out, only, options, result: Ok(()) };
    operators::all(&mut processes);
    processes.result
}

struct Processes<'a, W> {
    out: &'a mut W,
    only: &'a [String],
    options: &'a [String],
    result: Result<()>,
}

impl<W: Write> Visitor for Processes<'_, W> {
    fn visit<M: Measured>(&mut self, operator: &str, item: &str, _: &str) {
        if self.result.is_ok() && is_asked(self.only, operator, item) {
            self.result = self.one(&format!("{operator}:{item}"));
        }
    }
}

impl<W: Write> Processes<'_, W> {
    fn one(&mut self, name: &str) -> Result<()> {
        let csv = tempfile::NamedTempFile::new()?;
        let mut command = Command::new(std::env::current_exe()?);
        let status = command.arg(csv.path()).arg(FLAG).args(self.options).arg(name).status()?;
        let rows = std::fs::read_to_string(csv.path())?;
        // Rows from before a failure are kept.
        for row in rows.lines().skip(1) {
            writeln!(self.out, "{row}")?;
        }
        self.out.flush()?;
        ensure!(status.success(), "{name}: {status}");
        Ok(())
    }
}
