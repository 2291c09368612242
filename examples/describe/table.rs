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
    I64(Vec<i64>),
    U64(Vec<u64>),
}

pub fn check_columns(count: usize) -> Result<()> {
    ensure!(count > 0, "the file has no columns");
    ensure!(count <= MOST_COLUMNS, "the file has {count} columns, of at most {MOST_COLUMNS}");
    Ok(())
}
