use super::*;

#[test]
fn kernels_are_made_at_once_and_stay_in_order() {
    let made = in_parallel(&Kernel::ALL, |kernel| (kernel, std::thread::current().id()));
    assert_eq!(made.iter().map(|(kernel, _)| *kernel).collect::<Vec<_>>(), Kernel::ALL);
    assert_eq!(made[0].1, std::thread::current().id());
    assert!(in_parallel(&[], |kernel| kernel).is_empty());
}
