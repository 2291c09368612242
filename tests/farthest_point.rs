//! Tests the example `farthest_point` as a user runs it, on its own point set and on files.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The example's binary, which `cargo test` builds in the same target folder.
fn example() -> PathBuf {
    let test = std::env::current_exe().expect("a test binary");
    let target = test.parent().and_then(Path::parent).expect("in target/*/deps");
    let example = target.join("examples").join("farthest_point");
    assert!(example.exists(), "build it first: cargo build --example farthest_point, or a plain cargo test");
    example
}

/// The standard output of the example, or its standard error if it fails.
fn run(arguments: &[&Path]) -> Result<String, String> {
    let output =
        Command::new(example()).args(arguments).env("WARPFOLD_DEVICE", "cpu").output().expect("starts");
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn scratch(name: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("writable");
    (folder, path)
}

/// A `.npy` file of version 1.0.
fn npy(kind: &str, order: &str, shape: &str, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    file
}

#[test]
fn the_bunny_has_its_farthest_point() {
    let said = run(&[]).expect("runs");
    assert!(
        said.contains("points    1839\n") && said.contains("bits      c05bcb29 4114de6c c05d7f06\n"),
        "{said}"
    );
    assert!(said.contains("CPU") && said.contains("GB/s"), "{said}");
}

#[test]
fn csv_files_are_read_with_and_without_names() {
    for text in ["x,y,z\n1,2,3\n-4,5,6\n0,0,1\n", "1,2,3\n-4, 5, 6\n"] {
        let (_folder, path) = scratch("points.csv", text.as_bytes());
        assert!(run(&[&path]).expect("runs").contains("farthest  (-4, 5, 6)"));
    }
    for (text, complaint) in [
        ("1,2\n", "line 1: expected three columns, found 2"),
        ("1,2,3\n4,x,6\n", "line 2: invalid float literal"),
        ("1,2,y\n4,5,6\n", "line 1: invalid float literal"),
    ] {
        let (_folder, path) = scratch("points.csv", text.as_bytes());
        let error = run(&[&path]).expect_err("refused");
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn npy_files_are_read_in_either_order() {
    let rows = npy("<f4", "False", "(2, 3)", &[1.0, 2.0, 3.0, -4.0, 5.0, 6.0]);
    let columns = npy("<f4", "True", "(2, 3)", &[1.0, -4.0, 2.0, 5.0, 3.0, 6.0]);
    for file in [rows, columns] {
        let (_folder, path) = scratch("points.npy", &file);
        assert!(run(&[&path]).expect("runs").contains("farthest  (-4, 5, 6)"));
    }
    for (file, complaint) in [
        (npy("<f4", "False", "(3, 2)", &[0.0; 6]), "expected the shape (n, 3), found [3, 2]"),
        (npy("<f8", "False", "(1, 3)", &[0.0; 6]), "expected the type f32"),
        (npy("<f4", "False", "(2, 3)", &[0.0; 4]), "the file ends after 4 of 6 values"),
        (npy("<f4", "False", "(99999999999, 3)", &[0.0; 4]), "the file ends after 4 of 299999999997 values"),
        (b"nothing of the kind".to_vec(), "points.npy"),
    ] {
        let (_folder, path) = scratch("points.npy", &file);
        let error = run(&[&path]).expect_err("refused");
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn endings_may_have_capitals() {
    let (_folder, path) = scratch("POINTS.CSV", b"1,2,3\n");
    assert!(run(&[&path]).expect("runs").contains("farthest  (1, 2, 3)"));
}

#[test]
fn no_points_have_no_farthest_one() {
    let (_folder, path) = scratch("points.csv", b"x,y,z\n");
    let said = run(&[&path]).expect("runs");
    assert!(said.contains("points    0\nfarthest  no points\n"), "{said}");
}

#[test]
fn nan_and_overflow_are_told() {
    let (_folder, path) = scratch("points.csv", b"1,2,3\nNaN,0,0\n3e30,0,0\n0,4e30,0\n");
    let said = run(&[&path]).expect("runs");
    assert!(said.contains("warning   1 points have a NaN coordinate"), "{said}");
    assert!(
        said.contains("warning   the squares of 2 points overflow") && said.contains("farthest  (3"),
        "{said}"
    );
    assert!(!run(&[]).expect("runs").contains("warning"));
}

#[test]
fn counts_are_bounded() {
    for count in ["99999999999999", "18446744073709551615", "-1"] {
        let error = run(&[Path::new("--random"), Path::new(count)]).expect_err("refused");
        assert!(error.starts_with("error: ") && !error.contains("panicked"), "{error}");
    }
}

#[test]
fn other_files_are_refused() {
    let (_folder, path) = scratch("points.txt", b"1 2 3");
    assert!(run(&[&path]).expect_err("refused").contains("expected a .npy or a .csv file"));
    assert!(run(&[Path::new("nowhere.csv")]).expect_err("refused").contains("nowhere.csv"));
}

#[test]
fn random_points_are_the_same_for_the_same_count() {
    let bits = |said: String| said.lines().find(|line| line.starts_with("bits")).expect("bits").to_owned();
    let random = || bits(run(&[Path::new("--random"), Path::new("100000")]).expect("runs"));
    assert_eq!(random(), random());
}
