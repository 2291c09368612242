use super::*;

#[test]
fn every_reduction_comes_to_an_end_and_every_scan_keeps_its_length() {
    for rung in Rung::ALL {
        for length in [1, 2, 3, 31, 32, 33, 1000, 1 << 20, (1 << 33) + 17] {
            let mut step = rung.step(64, length);
            assert!(step.blocks > 0 && step.written >= step.left);
            if rung.role() != Role::Reduces {
                assert_eq!(step.left, length);
                continue;
            }
            let mut launches = 1;
            while step.left > 1 {
                step = rung.step(64, step.left);
                launches += 1;
            }
            assert!(launches <= 64 - length.leading_zeros() + 1, "{rung:?} launches {launches} times");
        }
    }
}
