//! Each operator in a process of its own.
//!
//! In one that had recorded two dozen graphs every later graph took a third of a microsecond more for each launch, whichever
//! kernel; and so it did in a program of a page, without warpfold, once a graph was uploaded that was never launched. Where the
//! driver keeps a graph seems to matter, and what was measured before is to matter nothing.

use std::io::Write;
use std::process::Command;

use anyhow::{Result, ensure};
use warpfold::DeviceMonoid;

use super::operators::{self, Visitor, is_asked};

/// Tells a process that it is one of those.
pub const FLAG: &str = "--alone";

/// The rows of each operator, by a process that is given `options`, too.
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
    fn visit<M: DeviceMonoid + Default>(&mut self, operator: &str, item: &str, _: &str) {
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
        // What was measured before a failure counts.
        for row in rows.lines().skip(1) {
            writeln!(self.out, "{row}")?;
        }
        self.out.flush()?;
        ensure!(status.success(), "{name}: {status}");
        Ok(())
    }
}
