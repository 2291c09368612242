//! Markdown tables, and the format of figures in their cells.

use std::fmt::Write;

/// The cell of a value that was not measured.
pub(super) const NOT_MEASURED: &str = "–";

/// Rows of Markdown.
pub(super) struct Table {
    pub(super) markdown: String,
    rows: usize,
}

impl Table {
    /// A table with columns of words, then right-aligned columns of figures.
    pub(super) fn new(words: &[&str], figures: &[&str]) -> Self {
        let mut table = Self { markdown: String::new(), rows: 0 };
        table.row(words.iter().chain(figures).map(ToString::to_string));
        table.row(words.iter().map(|_| "---").chain(figures.iter().map(|_| "--:")).map(str::to_owned));
        table.rows = 0;
        table
    }

    /// The table, or a sentence if it has no rows.
    pub(super) fn or_nothing(self) -> String {
        if self.rows == 0 { "This record has none.\n".to_owned() } else { self.markdown }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        for cell in cells {
            write!(self.markdown, "| {cell} ").expect("a String takes all");
        }
        self.markdown.push_str("|\n");
        self.rows += 1;
    }
}

/// Microseconds with three significant digits, or with more if the integer part has more.
pub(super) fn three_digits(microseconds: f64) -> String {
    let decimals = match microseconds {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{microseconds:.decimals$}")
}

pub(super) fn cell(microseconds: Option<f64>) -> String {
    microseconds.map_or(NOT_MEASURED.to_owned(), three_digits)
}

pub(super) fn with_unit(microseconds: Option<f64>) -> String {
    microseconds.map_or(NOT_MEASURED.to_owned(), |time| format!("{} µs", three_digits(time)))
}

pub(super) fn in_milliseconds(microseconds: Option<f64>) -> String {
    microseconds.map_or(NOT_MEASURED.to_owned(), |time| format!("{} ms", three_digits(time / 1e3)))
}

pub(super) fn hundredths(fraction: Option<f64>) -> String {
    fraction.map_or(NOT_MEASURED.to_owned(), |fraction| format!("{fraction:.2}"))
}
