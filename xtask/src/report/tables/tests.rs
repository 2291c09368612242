use super::super::record::tests::{HEADER, small_record};
use super::*;

#[test]
fn a_size_is_a_row_and_what_was_not_measured_a_dash() {
    let record = small_record();
    let last = |time| sizes(&record, time).lines().last().unwrap().to_owned();
    assert_eq!(last(Time::Graph), "| 1 MiB | 2.00 | 1.60 | 0.80 | – | – | – | – | 1.50 |");
    assert_eq!(last(Time::Host), "| 1 MiB | 10.0 | 20.0 | 2.00 | – | – | – | – | – |");
    let headings = sizes(&record, Time::Host).lines().next().unwrap().matches('|').count();
    assert_eq!(headings, last(Time::Host).matches('|').count());
}

#[test]
fn heavy_operators_have_a_table_of_their_own() {
    let mut record = small_record();
    let rows = format!("{HEADER}warpfold,welford,f64x3,24,1073741824,0,graph,335.0,1,1,1,00\n");
    record.add(&rows).unwrap();
    let rows = |name| block(&record, name).unwrap().lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows("large"), ["| sum | f32 | – | – | – | – | – |"]);
    assert_eq!(rows("compute-heavy"), ["| welford | f64x3 | – | – | 3205 GB/s, – | – | – |"]);
}

#[test]
fn a_headline_that_was_not_measured_is_an_error() {
    let error = block(&small_record(), "headline").unwrap_err();
    assert_eq!(error.to_string(), "sum of f32, 4 MiB was not measured");
}

#[test]
fn first_calls_have_a_row_for_each_size() {
    let mut record = small_record();
    let rows = "warpfold,sum,f32,4,1048576,0,first,110000.0,1,1,9,-
warpfold,sum,f32,4,1048576,0,compile,250000.0,1,1,9,-
warpfold,sum,f32,4,1048576,0,disk,2500.0,1,1,9,-
warpfold,sum,f32,4,1048576,0,again,15.0,1,1,9,-
warpfold,sum,f32,4,1048576,0,second,7.5,1,1,9,-
";
    record.add(&format!("{HEADER}{rows}")).unwrap();
    let last = block(&record, "cold").unwrap().lines().last().unwrap().to_owned();
    assert_eq!(last, "| sum | f32 | 1 MiB | 110 ms | 250 ms | 2.50 ms | 15.0 µs | 7.50 µs |");
}

#[test]
fn the_cpu_has_a_table_of_its_own() {
    let mut record = small_record();
    let rows = "warpfold-cpu,min,u8,1,1073741824,0,cpu,9000.0,1,1,9,00
read-cpu,min,u8,1,1073741824,0,cpu,9100.0,1,1,9,-
read-ahead-cpu,min,u8,1,1073741824,0,cpu,8100.0,1,1,9,-
numpy,min,u8,1,1073741824,0,cpu,90000.0,1,1,9,00
";
    record.add(&format!("{HEADER}{rows}")).unwrap();
    let last = block(&record, "cpu").unwrap().lines().last().unwrap().to_owned();
    assert_eq!(last, "| min | u8 | 9.00 ms | 119 GB/s | 0.90 | – | – | – | 90.0 ms | – |");
    let error = block(&record, "cpu-sum").unwrap_err();
    assert_eq!(error.to_string(), "warpfold-cpu was not measured");
}

#[test]
fn scans_are_compared_with_copies() {
    let mut record = small_record();
    assert_eq!(block(&record, "scans").unwrap(), "This record has none.\n");
    let rows = "warpfold-scan,sum,f32,4,1073741824,0,graph,550.0,1,1,15,00
cub-scan,sum,f32,4,1073741824,0,graph,715.0,1,1,15,00
copy,-,-,16,1073741824,0,graph,506.0,1,1,15,-
warpfold-scan-cpu,sum,f32,4,268435456,0,cpu,20000.0,1,1,9,00
copy-cpu,sum,f32,4,268435456,0,cpu,18000.0,1,1,9,-
copy-large-cpu,sum,f32,4,268435456,0,cpu,17000.0,1,1,9,-
copy-ahead-cpu,sum,f32,4,268435456,0,cpu,16000.0,1,1,9,-
warpfold,sum,f32,4,1048576,0,enqueue,5.5,1,1,51,-
driver,sum,f32,4,1048576,0,enqueue,4.75,1,1,51,-
";
    record.add(&format!("{HEADER}{rows}")).unwrap();
    let last = |name| block(&record, name).unwrap().lines().last().unwrap().to_owned();
    assert_eq!(last("scans"), "| 1 GiB | 550 | 715 | 1.30 | 506 | 0.92 |");
    assert_eq!(last("scans-by-operator"), "| sum | f32 | 550 µs | 3905 GB/s | 0.92 | 1.30 | – |");
    assert_eq!(last("scans-cpu"), "| sum | f32 | 20.0 ms | 0.80 | – | – |");
    assert_eq!(last("enqueue"), "| sum | f32 | 1 MiB | 5.50 µs | 4.75 µs | 0.75 µs |");
}

#[test]
fn times_have_three_digits() {
    let times = [0.5249, 9.994, 9.996, 99.96, 234.791, 3704.2].map(three_digits);
    assert_eq!(times, ["0.52", "9.99", "10.0", "100", "235", "3704"]);
}
