use super::*;
use crate::plan::reduce::tests::items;

#[test]
fn kernels_can_be_made_for_items_of_every_size() {
    for item in items() {
        let policy = ScanPolicy::for_item(&item);
        assert!(policy.check(&item).is_ok(), "{policy:?} for {} bytes", item.size);
    }
}

#[test]
fn every_item_is_in_a_tile_and_every_tile_has_a_cell() {
    for item in items() {
        let policy = ScanPolicy::for_item(&item);
        let window = policy.large.window();
        let edges = [1, window, window * window].map(|tiles| tiles * policy.large.tile_items(1));
        let lengths = edges.into_iter().flat_map(|edge| [edge - 1, edge, edge + 1]);
        for length in lengths.chain([31, 1025, 1 << 20, (1 << 33) + 17]) {
            let ScanLaunch { kernel, tiles, blocks, groups, warps } =
                policy.launch(&item, length, Limits::H200);
            let shape = policy.shape(kernel);
            let (tile, window) = (shape.tile_items(warps), shape.window());
            assert!((tiles - 1) * tile < length && length <= tiles * tile);
            assert!(warps == shape.warps || 2 * warps == shape.warps || warps == 1);
            // Every block has a tile.
            assert!(0 < blocks && (blocks - 1) * u64::from(groups) < tiles);
            // Each level consists of whole windows, so a look-back reads no cell of another level.
            let (mut cells, mut values) = (0, tiles);
            while values > 0 {
                cells += values.div_ceil(window) * window;
                values /= window;
            }
            let cell = (item.size.div_ceil(4) as u64 * 8).div_ceil(16) * 16;
            assert_eq!(shape.memory_bytes(&item, tiles), LINE + cells * cell, "{tiles} tiles");
        }
    }
}

#[test]
fn tiles_are_halved_where_there_are_few_of_them_or_of_waves() {
    let item = <f64 as crate::DeviceType>::layout();
    let policy = ScanPolicy::for_item(&item);
    let launches =
        [10, 20, 21, 24, 25, 26, 27, 30].map(|level| policy.launch(&item, 1 << (level - 3), Limits::H200));
    let halved = launches.map(|launch| launch.warps < policy.shape(launch.kernel).warps);
    assert_eq!(halved, [true, true, false, false, true, true, false, false]);
}

#[test]
fn shapes_that_no_kernel_can_have_are_refused() {
    let item = <u16 as crate::DeviceType>::layout();
    let good = ScanPolicy::for_item(&item);
    let refused = |change: fn(&mut ScanPolicy)| {
        let mut policy = good;
        change(&mut policy);
        matches!(policy.check(&item), Err(Error::Policy { .. }))
    };
    assert!(refused(|policy| policy.large.run_items = 3));
    assert!(refused(|policy| policy.large.unit_items = 2));
    assert!(refused(|policy| policy.large.run_items = 4096));
    assert!(refused(|policy| policy.small.unit_items = 128));
    assert!(refused(|policy| policy.small.warps = 64));
    assert!(refused(|policy| policy.large.warps = 32));
    assert!(refused(|policy| policy.large.blocks_per_multiprocessor = 0));
    assert!(refused(|policy| policy.large.places = 3));
    assert!(refused(|policy| policy.small.places = 16));
    assert!(refused(|policy| policy.large.groups = 0));
    assert!(refused(|policy| (policy.large.warps, policy.large.groups) = (1, 16)));
    assert!(refused(|policy| (policy.large.warps, policy.large.groups) = (16, 3)));
    assert!(refused(|policy| policy.large.rows = 16));
    let of_rows = |run, rows| {
        let large = ScanShape { run_items: run, unit_items: run, rows, ..good.large };
        ScanPolicy { large, ..good }.check(&item).is_ok()
    };
    assert!(of_rows(8, 16) && of_rows(4, 4));
    assert!(!of_rows(8, 2) && !of_rows(8, 64) && !of_rows(16, 16));
}

#[test]
fn a_block_has_as_many_tiles_at_once_as_it_has_room_for() {
    let item = <f32 as crate::DeviceType>::layout();
    let policy = ScanPolicy::for_item(&item);
    let launch = |length, limits| policy.launch(&item, length, limits);
    let groups = [64, 99, 227].map(|kib| {
        let limits = Limits { shared_bytes: kib << 10, ..Limits::H200 };
        launch(1 << 28, limits).groups
    });
    assert_eq!(groups, [1, 3, 3]);
    // The blocks that the multiprocessors should hold, or fewer if there are too few tiles.
    let blocks = |length| launch(length, Limits::H200).blocks;
    assert_eq!((blocks(1 << 28), blocks(8192 * 600), blocks(8192 * 601)), (264, 200, 201));
}
