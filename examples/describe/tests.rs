//! Tests the example `describe` as a user runs it, on files that are right and on files that are not.

use std::process::Command;

/// The standard output for a file of this content, or the standard error if the example fails.
fn describe(name: &str, content: &[u8]) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("writable");
    let output = Command::new(env!("CARGO_BIN_EXE_describe"))
        .arg(&path)
        .env("WARPFOLD_DEVICE", "cpu")
        .output()
        .expect("starts");
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// A `.npy` file of version 1.0.
fn npy(kind: &str, order: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

fn of_f32(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[track_caller]
fn assert_says(said: &str, lines: &[&str]) {
    for line in lines {
        assert!(said.lines().any(|said| said == *line), "no line {line:?} in\n{said}");
    }
}

#[test]
fn columns_of_a_csv_file_are_described() {
    let text = "city,celsius,height\nOslo,4.5,23\nRome,,21\nQuito,13.5,2850\nLima,19.5,NA\n";
    let said = describe("cities.csv", text.as_bytes()).expect("runs");
    assert_says(
        &said,
        &[
            "celsius (f64)",
            "count    3",
            "missing  1",
            "mean     12.5",
            "std      7.54983443527075 (of the sample)",
            "min      4.5 in row 0",
            "max      19.5 in row 3",
            "min      21.0 in row 1",
            "max      2850.0 in row 2",
            "city is skipped. line 2: \"Oslo\" is not a number",
        ],
    );
    assert!(said.contains("4 rows") && said.matches('█').count() == 4 * 40 + 20, "{said}");
}

#[test]
fn a_csv_file_may_have_no_names() {
    let said = describe("numbers.CSV", b"1,-2\n3, 4\r\n").expect("runs");
    assert_says(&said, &["column 0 (f64)", "column 1 (f64)", "mean     2.0", "min      -2.0 in row 0"]);
    let said = describe("missing.csv", b"x\nNaN\n\"\"\n").expect("runs");
    assert_says(&said, &["x (f64)", "count    0", "missing  2"]);
    let said = describe("names.csv", b"x,y\n").expect("runs");
    assert_says(&said, &["x (f64)", "count    0", "missing  0"]);
}

#[test]
fn a_csv_file_without_numbers_is_an_error() {
    for (text, complaint) in [
        (&b""[..], "the file is empty"),
        (b"x,y\na,b\n", "no column holds numbers only. x is skipped. line 2: \"a\" is not a number"),
        (b"1,2\n3\n", "found record with 1 fields, but the previous record has 2 fields"),
        (b"1,2\n\xff,3\n", "invalid utf-8"),
    ] {
        let said = describe("wrong.csv", text).expect_err("an error");
        assert!(said.contains(complaint) && said.contains("wrong.csv") && !said.contains("panic"), "{said}");
    }
    let wide = "1,".repeat(10_000) + "1\n";
    let said = describe("wide.csv", wide.as_bytes()).expect_err("an error");
    assert!(said.contains("the file has 10001 columns, of at most 10000"), "{said}");
}

#[test]
fn npy_files_are_described_in_both_orders() {
    let rows = npy("<f4", "False", "(3, 2)", &of_f32(&[1.0, -4.0, f32::NAN, 5.0, 3.0, 6.5]));
    let columns = npy("<f4", "True", "(3, 2)", &of_f32(&[1.0, f32::NAN, 3.0, -4.0, 5.0, 6.5]));
    for file in [rows, columns] {
        let said = describe("points.npy", &file).expect("runs");
        let of_first =
            ["column 0 (f32)", "count    2", "missing  1", "mean     2.0", "max      3.0 in row 2"];
        assert_says(&said, &of_first);
        let of_second =
            ["column 1 (f32)", "count    3", "missing  0", "mean     2.5", "min      -4.0 in row 0"];
        assert_says(&said, &of_second);
    }
}

#[test]
fn integers_of_npy_files_keep_their_digits() {
    let numbers = [i64::MAX, i64::MIN, -1];
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let said = describe("numbers.npy", &npy("<i8", "False", "(3,)", &bytes)).expect("runs");
    assert_says(
        &said,
        &[
            "column 0 (i64)",
            "max      9223372036854775807 in row 0",
            "min      -9223372036854775808 in row 1",
        ],
    );
    let said = describe("bytes.npy", &npy("|u1", "False", "(3,)", &[7, 200, 9])).expect("runs");
    assert_says(&said, &["column 0 (i64)", "mean     72.0", "max      200 in row 1"]);
    let said = describe("one.npy", &npy("|i1", "False", "(1,)", &[0xff])).expect("runs");
    assert_says(&said, &["mean     -1.0", "std      none: one number"]);
    let said = describe("none.npy", &npy("<u8", "False", "(0,)", &[])).expect("runs");
    assert_says(&said, &["column 0 (u64)", "count    0", "missing  0"]);
}

/// A file that `examples/data/README.md` describes.
const PARQUET: &[u8] = include_bytes!("../data/columns.parquet");

#[test]
fn columns_of_a_parquet_file_are_described() {
    let said = describe("columns.parquet", PARQUET).expect("runs");
    for lines in [
        &[
            "celsius (f64)",
            "count    47",
            "missing  13",
            "mean     -85.17021276595744",
            "min      -100.0 in row 0",
        ],
        &[
            "height (i64)",
            "count    54",
            "missing  6",
            "mean     -3801.666666666667",
            "min      -4999 in row 1",
        ],
        &["grade (i64)", "count    60", "missing  0", "mean     59.5", "max      69 in row 19"],
        &[
            "large (u64)",
            "count    60",
            "missing  0",
            "mean     1.8446744073709552e19",
            "min      18446744073709551556 in row 59",
        ],
        &["ratio (f32)", "count    30", "missing  30", "mean     3.625", "max      7.25 in row 58"],
        &["at.x (i64)", "count    57", "missing  3", "mean     30.0", "max      59 in row 59"],
    ] {
        let column = said.find(lines[0]).unwrap_or_else(|| panic!("no {} in\n{said}", lines[0]));
        let text = said[column..].split("\n\n").next().expect("a part");
        assert_says(text, lines);
    }
    assert_says(
        &said,
        &[
            "city is skipped: its type is String",
            "day is skipped: its type is Date",
            "lists.list.element is skipped: it holds lists",
        ],
    );
}

#[test]
fn a_wrong_parquet_file_is_an_error() {
    let mut changed = PARQUET.to_vec();
    changed[40..200].fill(0x5a);
    for file in [
        &PARQUET[..PARQUET.len() - 1],
        &PARQUET[..4000],
        &PARQUET[PARQUET.len() - 2000..],
        &changed,
        b"PAR1",
        b"",
    ] {
        let said = describe("wrong.parquet", file).expect_err("an error");
        assert!(said.contains("wrong.parquet") && !said.contains("panic"), "{said}");
    }
}

#[test]
fn a_wrong_npy_file_is_an_error() {
    let some = of_f32(&[1.0; 5]);
    for (file, complaint) in [
        (npy("<f4", "False", "(3, 2)", &some), "the file ends after 5 of 6 numbers"),
        (npy("<f4", "False", "(3, 2)", &some[..6]), "the file ends after 1 of 6 numbers"),
        (
            npy("<f4", "False", "(1000000000000000000,)", &some),
            "the file ends after 5 of 1000000000000000000",
        ),
        (npy("<f4", "False", "(4294967296, 4294967296)", &some), "[4294967296, 4294967296] is too large"),
        (npy("<f4", "False", "(1, 20000)", &some), "the file has 20000 columns, of at most 10000"),
        (npy("<f4", "False", "(5, 0)", &some), "the file has no columns"),
        (npy("<f4", "False", "(1, 1, 5)", &some), "expected the shape (rows) or (rows, columns), found"),
        (npy("<c8", "False", "(2,)", &some), "found the type '<c8'"),
        (npy("<f4", "False", "(5,)", &some)[..30].to_vec(), "wrong.npy"),
        (b"no array".to_vec(), "wrong.npy"),
        (Vec::new(), "wrong.npy"),
    ] {
        let said = describe("wrong.npy", &file).expect_err("an error");
        assert!(said.contains(complaint) && said.contains("wrong.npy") && !said.contains("panic"), "{said}");
    }
}

#[test]
fn a_file_of_another_kind_is_an_error() {
    let said = describe("table.txt", b"1\n").expect_err("an error");
    assert!(said.contains("expected a .csv, .npy or .parquet file"), "{said}");
    let missing = Command::new(env!("CARGO_BIN_EXE_describe")).arg("missing.csv").output().expect("starts");
    let said = String::from_utf8_lossy(&missing.stderr);
    assert!(
        !missing.status.success() && said.contains("missing.csv") && said.contains("No such file"),
        "{said}"
    );
}
