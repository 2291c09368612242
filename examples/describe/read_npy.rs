//! Reads NumPy's arrays of one or two dimensions.

use std::io::Read;

use anyhow::{Context, Result, bail, ensure};
use npyz::{Deserialize, NpyFile, NpyReader, Order};

use crate::table::{Column, Data, Table, check_columns};

/// The shape of a table, and the order of its numbers in the file.
struct Shape {
    rows: usize,
    columns: usize,
    order: Order,
}

pub fn read(file: &mut dyn Read) -> Result<Table> {
    let array = NpyFile::new(file)?;
    let (rows, columns) = match *array.shape() {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => bail!("expected the shape (rows) or (rows, columns), found {:?}", array.shape()),
    };
    // A header can state any shape. The file has the numbers, or ends before them.
    ensure!(rows.checked_mul(columns).is_some(), "the shape {:?} is too large", array.shape());
    check_columns(usize::try_from(columns)?)?;
    let shape = Shape { rows: usize::try_from(rows)?, columns: columns as usize, order: array.order() };
    let dtype = array.dtype().descr();

    // No integer is missing.
    let whole_i64 = |numbers| Data::I64(numbers, None);
    let whole_u64 = |numbers| Data::U64(numbers, None);
    macro_rules! read_as {
        ($array:ident, $($type:ty => $data:path, $convert:expr;)*) => {
            $(let $array = match $array.try_data::<$type>() {
                Ok(reader) => return table(shape, reader, $convert, $data),
                Err(array) => array,
            };)*
            drop($array);
        };
    }
    read_as! {
        array,
        f32 => Data::F32, |x| x;
        f64 => Data::F64, |x| x;
        i8 => whole_i64, i64::from;
        i16 => whole_i64, i64::from;
        i32 => whole_i64, i64::from;
        i64 => whole_i64, |x| x;
        u8 => whole_i64, i64::from;
        u16 => whole_i64, i64::from;
        u32 => whole_i64, i64::from;
        u64 => whole_u64, |x| x;
    }
    bail!("expected f32, f64, or integers of 8 to 64 bits, found the type {dtype}")
}

fn table<T: Deserialize, N>(
    shape: Shape,
    reader: NpyReader<T, &mut dyn Read>,
    convert: impl Fn(T) -> N,
    data: impl Fn(Vec<N>) -> Data,
) -> Result<Table> {
    let Shape { rows, columns, order } = shape;
    let count = rows * columns;
    let mut numbers: Vec<Vec<N>> = (0..columns).map(|_| Vec::new()).collect();
    for (index, value) in reader.enumerate() {
        let value = value.with_context(|| format!("the file ends after {index} of {count} numbers"))?;
        let column = match order {
            Order::C => index % columns,
            Order::Fortran => index / rows,
        };
        numbers[column].push(convert(value));
    }
    let named = |(index, numbers)| Column { name: format!("column {index}"), data: data(numbers) };
    Ok(Table { rows, columns: numbers.into_iter().enumerate().map(named).collect(), skipped: Vec::new() })
}
