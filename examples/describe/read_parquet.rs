//! Reads Parquet files.

use std::fs::File;

use anyhow::{Context, Result, ensure};
use indicatif::ProgressBar;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::table::{Column, Data, Table, Validity, check_columns};

/// How the values of a column become numbers.
enum Kind {
    F32,
    F64,
    /// Integers of 8 to 32 bits, stored as `i32`, and those of 64 bits.
    I32,
    U32,
    I64,
    U64,
}

/// The kind of a column of numbers. The error says why others are skipped.
fn kind(column: &ColumnDescriptor) -> Result<Kind, String> {
    if column.max_rep_level() > 0 {
        return Err("it holds lists".to_owned());
    }
    let (logical, converted) = (column.logical_type_ref(), column.converted_type());
    let is_signed = match (logical, converted) {
        (Some(LogicalType::Integer(integer)), _) => Some(integer.is_signed),
        (None, ConvertedType::NONE) => Some(true),
        (
            None,
            ConvertedType::INT_8 | ConvertedType::INT_16 | ConvertedType::INT_32 | ConvertedType::INT_64,
        ) => Some(true),
        (
            None,
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
        ) => Some(false),
        _ => None,
    };
    match (column.physical_type(), is_signed) {
        (Type::FLOAT, _) => Ok(Kind::F32),
        (Type::DOUBLE, _) => Ok(Kind::F64),
        (Type::INT32, Some(true)) => Ok(Kind::I32),
        (Type::INT32, Some(false)) => Ok(Kind::U32),
        (Type::INT64, Some(true)) => Ok(Kind::I64),
        (Type::INT64, Some(false)) => Ok(Kind::U64),
        (physical, _) => Err(match logical {
            Some(logical) => format!("its type is {logical:?}"),
            None => format!("its type is {physical}"),
        }),
    }
}

/// Reads a table, and advances the bar by the bytes of each part of a column.
pub fn read(file: File, bar: &ProgressBar) -> Result<Table> {
    let file = SerializedFileReader::new(file)?;
    let metadata = file.metadata();
    let rows = usize::try_from(metadata.file_metadata().num_rows())?;
    let columns = metadata.file_metadata().schema_descr().columns();
    check_columns(columns.len())?;
    let mut table = Table { rows, columns: Vec::new(), skipped: Vec::new() };
    for (index, column) in columns.iter().enumerate() {
        let name = column.path().string();
        let kind = match kind(column) {
            Ok(kind) => kind,
            Err(reason) => {
                table.skipped.push(format!("{name} is skipped: {reason}"));
                continue;
            }
        };
        let values = Values { file: &file, index, nullable: column.max_def_level(), bar };
        let data = match kind {
            Kind::F32 => values.floats(f32_of, f32::NAN).map(Data::F32),
            Kind::F64 => values.floats(f64_of, f64::NAN).map(Data::F64),
            Kind::I32 => values.integers(i32_of, i64::from).map(|(numbers, valid)| Data::I64(numbers, valid)),
            Kind::U32 => values
                .integers(i32_of, |x| i64::from(x as u32))
                .map(|(numbers, valid)| Data::I64(numbers, valid)),
            Kind::I64 => values.integers(i64_of, |x| x).map(|(numbers, valid)| Data::I64(numbers, valid)),
            Kind::U64 => {
                values.integers(i64_of, |x| x as u64).map(|(numbers, valid)| Data::U64(numbers, valid))
            }
        };
        let data = data.with_context(|| format!("column {name}"))?;
        table.columns.push(Column { name, data });
    }
    ensure!(!table.columns.is_empty(), "no column holds numbers. {}", table.skipped.join(". "));
    Ok(table)
}

macro_rules! of_type {
    ($($function:ident $variant:ident $type:ident;)*) => {$(
        /// The reader of this type, if the column has it.
        fn $function(reader: ColumnReader) -> Option<ColumnReaderImpl<parquet::data_type::$type>> {
            match reader {
                ColumnReader::$variant(reader) => Some(reader),
                _ => None,
            }
        }
    )*};
}
of_type! {
    f32_of FloatColumnReader FloatType;
    f64_of DoubleColumnReader DoubleType;
    i32_of Int32ColumnReader Int32Type;
    i64_of Int64ColumnReader Int64Type;
}

/// The values of a column.
struct Values<'a> {
    file: &'a SerializedFileReader<File>,
    index: usize,
    /// The definition level of a value. Values of lower levels are missing. 0: none is missing.
    nullable: i16,
    bar: &'a ProgressBar,
}

impl Values<'_> {
    fn floats<T: DataType>(
        &self,
        of: fn(ColumnReader) -> Option<ColumnReaderImpl<T>>,
        missing: T::T,
    ) -> Result<Vec<T::T>> {
        let mut all = Vec::new();
        self.each(of, |value| all.push(value.unwrap_or_else(|| missing.clone())))?;
        Ok(all)
    }

    fn integers<T: DataType, N: Default>(
        &self,
        of: fn(ColumnReader) -> Option<ColumnReaderImpl<T>>,
        convert: impl Fn(T::T) -> N,
    ) -> Result<(Vec<N>, Option<Validity>)> {
        let (mut all, mut validity) = (Vec::new(), Validity::default());
        self.each(of, |value| {
            validity.push(value.is_some());
            all.push(value.map_or(N::default(), &convert));
        })?;
        Ok((all, (self.nullable > 0).then_some(validity)))
    }

    /// Visits the values of all row groups in order. A missing value is `None`.
    fn each<T: DataType>(
        &self,
        of: fn(ColumnReader) -> Option<ColumnReaderImpl<T>>,
        mut visit: impl FnMut(Option<T::T>),
    ) -> Result<()> {
        for group in 0..self.file.num_row_groups() {
            let group = self.file.get_row_group(group)?;
            let mut left = usize::try_from(group.metadata().num_rows())?;
            let mut reader =
                of(group.get_column_reader(self.index)?).context("another type than the schema's")?;
            let (mut levels, mut values) = (Vec::new(), Vec::new());
            while left > 0 {
                levels.clear();
                values.clear();
                let (rows, ..) =
                    reader.read_records(left.min(1 << 16), Some(&mut levels), None, &mut values)?;
                ensure!(rows > 0, "{left} of the rows that the file promises are missing");
                let mut values = values.drain(..);
                let are_there = |row| self.nullable == 0 || levels.get(row) == Some(&self.nullable);
                for is_there in (0..rows).map(are_there) {
                    visit(is_there.then(|| values.next().context("fewer values than levels")).transpose()?);
                }
                left -= rows;
            }
            self.bar.inc(group.metadata().column(self.index).compressed_size().unsigned_abs());
        }
        Ok(())
    }
}
