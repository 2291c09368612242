//! Reads tables of comma-separated values.

use std::io::Read;

use anyhow::{Result, ensure};
use csv::{ReaderBuilder, StringRecord, Trim};

use crate::table::{Column, Data, Table, check_columns};

/// The numbers of a column so far, or the first text that is no number.
type Numbers = Result<Vec<f64>, String>;

/// The number in a field: NaN if it is missing, and `None` for other text.
fn number(field: &str) -> Option<f64> {
    match field {
        "" | "NA" | "na" | "N/A" | "null" | "NULL" => Some(f64::NAN),
        _ => field.parse().ok(),
    }
}

fn is_header(record: &StringRecord) -> bool {
    record.iter().all(|field| field.parse::<f64>().is_err()) && record.iter().any(|field| !field.is_empty())
}

pub fn read(file: &mut dyn Read) -> Result<Table> {
    let mut reader = ReaderBuilder::new().has_headers(false).trim(Trim::All).from_reader(file);
    let mut record = StringRecord::new();
    ensure!(reader.read_record(&mut record)?, "the file is empty");
    check_columns(record.len())?;
    let has_names = is_header(&record);
    let name = |(index, field): (usize, &str)| match has_names && !field.is_empty() {
        true => field.to_owned(),
        false => format!("column {index}"),
    };
    let names: Vec<String> = record.iter().enumerate().map(name).collect();
    let mut columns: Vec<Numbers> = vec![Ok(Vec::new()); names.len()];
    let mut rows = 0;
    let mut is_row = !has_names || reader.read_record(&mut record)?;
    while is_row {
        let line = record.position().map_or(0, csv::Position::line);
        for (column, field) in columns.iter_mut().zip(&record) {
            let Ok(numbers) = column else { continue };
            match number(field) {
                Some(number) => numbers.push(number),
                None => *column = Err(format!("line {line}: {:?} is not a number", shortened(field))),
            }
        }
        rows += 1;
        is_row = reader.read_record(&mut record)?;
    }
    let mut table = Table { rows, columns: Vec::new(), skipped: Vec::new() };
    for (name, numbers) in names.into_iter().zip(columns) {
        match numbers {
            Ok(numbers) => table.columns.push(Column { name, data: Data::F64(numbers) }),
            Err(reason) => table.skipped.push(format!("{name} is skipped. {reason}")),
        }
    }
    ensure!(!table.columns.is_empty(), "no column holds numbers only. {}", table.skipped.join(". "));
    Ok(table)
}

/// At most 40 characters of a field, which may be a whole file without its quotation mark.
fn shortened(field: &str) -> String {
    field.chars().take(40).collect()
}
