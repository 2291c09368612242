use super::*;
use crate::DeviceType;
use crate::plan::reduce::tests::items;

fn segments(count: u64, length: u64) -> Segments {
    Segments { count, length, pitch: length, stride: 1 }
}

#[test]
fn every_element_is_in_one_run_or_chunk() {
    for item in items() {
        let data = Data::of_items(&item);
        let policy = SegmentPolicy::for_data(&data);
        assert!(policy.check(&data).is_ok(), "{item:?}: {:?}", policy.check(&data));
        for length in [1, 2, 3, 5, 10, 31, 32, 33, 100, 1000, 1025, 5120, 100_003, 1 << 28, (1 << 33) + 1] {
            for count in [1, 2, 31, 1000, 1 << 20, (1 << 32) + 5] {
                let launches = policy.launches(&policy, segments(count, length));
                let mut left = length;
                for launch in &launches {
                    assert_eq!((launch.segments.count, launch.segments.length), (count, left));
                    match launch.kernel {
                        Kernel::ByWarps => {
                            let chunk = policy.by_warps.row_items() << launch.run_level;
                            assert_eq!(left.div_ceil(chunk), launch.at_once);
                            left = launch.at_once;
                        }
                        _ => {
                            assert!(left <= 1 << (launch.run_level + launch.lanes_level));
                            assert!(launch.at_once * left <= policy.by_lanes.window_items.into());
                            assert!(1 << launch.run_level <= policy.by_lanes.most_run);
                            left = 1;
                        }
                    }
                }
                assert_eq!(left, 1);
                assert!(launches.last().expect("a launch").is_final());
            }
        }
    }
}

#[test]
fn partials_take_a_small_part_of_the_input() {
    let policy = SegmentPolicy::for_data(&Data::of_items(&f32::layout()));
    for (count, length) in [(1, 1 << 28), (4, 1 << 26), (1000, 100_003), (1 << 18, 1025)] {
        let launches = policy.launches(&policy, segments(count, length));
        let bytes = SegmentPolicy::memory_bytes(&launches, &f32::layout());
        assert!(bytes <= (64 << 10).max(count * length * 4 / 500), "{bytes} bytes for {count} x {length}");
    }
}

#[test]
fn no_segments_take_no_launch() {
    let policy = SegmentPolicy::for_data(&Data::of_items(&f32::layout()));
    assert!(policy.launches(&policy, segments(0, 5)).is_empty());
}

#[test]
fn every_element_of_a_column_is_in_one_run() {
    let data = Data::of_items(&f32::layout());
    let policy = SegmentPolicy::for_data(&data);
    for rows in [0, 1, 5, 511, 513, 1 << 20, (1 << 33) + 1] {
        // One column is a row.
        for columns in [2, 1000, 1 << 24, (1 << 32) + 5] {
            let all = Segments { count: columns, length: rows, pitch: 1, stride: columns };
            let launches = policy.launches(&policy, all);
            let mut left = rows;
            for launch in &launches {
                let Segments { count, length, pitch, stride } = launch.segments;
                assert_eq!((launch.kernel, count, length, pitch), (Kernel::ByColumns, columns, left, 1));
                assert!(stride == columns);
                assert_eq!(launch.at_once, left.div_ceil(1 << launch.run_level).max(1));
                left = launch.at_once;
            }
            assert_eq!(left, 1);
        }
    }
}

#[test]
fn there_is_room_for_the_parts_of_neighbouring_segments() {
    for item in items() {
        let policy = SegmentPolicy::for_data(&Data::of_items(&item));
        for length in [0, 1, 100, 1 << 10, 100_003, 1 << 20, 1 << 28, (1 << 33) + 1, 1 << 40] {
            let plan = policy.by_offsets(5, length);
            let part = 1 << plan.part_level;
            assert!(part >= u64::from(policy.by_lanes.window_items) / 2, "{item:?}, {length}: {plan:?}");
            assert_eq!(plan.most_parts == 0, length <= part, "{item:?}, {length}: {plan:?}");
            // Segments that are just long enough to be split have the most parts.
            let split = length / (part + 1);
            assert!(2 * split <= plan.most_parts, "{item:?}, {length}: {plan:?}");
            let bytes = plan.list_bytes() + plan.partial_bytes(&item);
            assert!(
                bytes <= (64 << 10) + length * item.size as u64 / 4,
                "{bytes} bytes for {length} of {item:?}"
            );
        }
    }
}
