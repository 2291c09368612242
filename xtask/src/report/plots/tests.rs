use super::super::record::tests::small_record;
use super::*;

#[test]
fn plots_are_drawn_of_any_sizes_and_always_alike() {
    let record = small_record();
    let plots = all(&record).unwrap();
    assert_eq!(plots, all(&record).unwrap());
    assert!(plots.iter().all(|(_, svg)| svg.contains("NVIDIA H200, 2026-11-21, e69e7c1")));
}

#[test]
fn who_was_not_measured_is_not_in_the_legend() {
    let svg = latency(&small_record()).unwrap();
    assert!(svg.contains("warpfold") && svg.contains("CUB") && !svg.contains("PyTorch"));
}
