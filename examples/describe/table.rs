//! A table of columns of numbers.

use anyhow::{Result, ensure};

/// Most columns of a file. A file with more has probably lost its line breaks or its shape.
pub const MOST_COLUMNS: usize = 10_000;

#[derive(Debug)]
pub struct Table {
    pub rows: usize,
    pub columns: Vec<Column>,
    /// The other columns, and why each is skipped.
    pub skipped: Vec<String>,
}

#[derive(Debug)]
pub struct Column {
    pub name: String,
    pub data: Data,
}

/// The numbers of a column. A missing float is a NaN.
#[derive(Debug)]
pub enum Data {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I64(Vec<i64>, Option<Validity>),
    U64(Vec<u64>, Option<Validity>),
}

/// Which integers of a column are there: a bitmap, from the least significant bit of a byte on.
#[derive(Debug, Default)]
pub struct Validity {
    pub bytes: Vec<u8>,
    length: usize,
}

impl Validity {
    pub fn push(&mut self, is_valid: bool) {
        if self.length.is_multiple_of(8) {
            self.bytes.push(0);
        }
        self.bytes[self.length / 8] |= u8::from(is_valid) << (self.length % 8);
        self.length += 1;
    }
}

pub fn check_columns(count: usize) -> Result<()> {
    ensure!(count > 0, "the file has no columns");
    ensure!(count <= MOST_COLUMNS, "the file has {count} columns, of at most {MOST_COLUMNS}");
    Ok(())
}
