use super::*;
use crate::operators::Sum;

/// Two threads publish at the same time, many times. Neither waits for ever, and both get the right
/// prefixes.
#[test]
fn no_value_is_lost() {
    let all: Vec<BlockPrefixes<u64>> = (0..100_000).map(|_| BlockPrefixes::of(2)).collect();
    let wrong = |index: usize| {
        let publish = |prefixes: &BlockPrefixes<u64>| {
            prefixes.publish(&Sum::<u64>::new(), index, 1 + index as u64);
            prefixes.edges(BlockPosition { index, is_whole: true }).expect("nobody panics")
        };
        let expected = [(None, Some(1)), (Some(1), Some(3))][index];
        all.iter().map(publish).filter(|edges| (edges.before, edges.after) != expected).count()
    };
    assert_eq!(rayon::join(|| wrong(0), || wrong(1)), (0, 0));
}
