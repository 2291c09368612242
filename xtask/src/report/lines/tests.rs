use super::*;

fn labels(axis: &Axis) -> Vec<&str> {
    axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
}

#[test]
fn ticks_are_round() {
    assert_eq!(labels(&Scale::Linear.axis(&[12.0, 4686.3])), ["0", "1000", "2000", "3000", "4000", "5000"]);
    assert_eq!(labels(&Scale::Logarithmic.axis(&[0.525, 9.0])), ["0.5", "1", "2", "5", "10"]);
}

#[test]
fn sizes_are_labelled_by_powers_of_two() {
    let axis = bytes_axis(&[1 << 10, 1 << 26, 1 << 14]);
    assert_eq!(labels(&axis), ["1 KiB", "16 KiB", "256 KiB", "4 MiB", "64 MiB"]);
    assert_eq!(labels(&bytes_axis(&[1 << 20])), ["1 MiB"]);
}
