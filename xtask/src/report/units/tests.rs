use super::*;

#[test]
fn a_rate_is_in_billions_of_bytes() {
    assert_eq!(rate(1 << 30, 234.791).round(), 4573.0);
}

#[test]
fn sizes_are_said_in_the_largest_whole_unit() {
    let words: Vec<_> = [512, 1 << 10, 1536, 1 << 26, 1 << 34].into_iter().map(in_words).collect();
    assert_eq!(words, ["512 B", "1 KiB", "1536 B", "64 MiB", "16 GiB"]);
}
