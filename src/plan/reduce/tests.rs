use super::*;
use crate::{DeviceType, Kind};

fn shape_of<T: DeviceType>() -> (u32, u32, u32) {
    let shape = Policy::for_item(&T::layout()).large;
    (shape.width, shape.group_items, shape.rows)
}

/// Items of every size.
pub(in crate::plan) fn items() -> impl Iterator<Item = Layout> {
    let lanes = |element: Layout, length: usize| Layout {
        size: element.size * length,
        align: element.align,
        kind: Kind::Array { element: Box::new(element), length },
        ..u8::layout()
    };
    let bytes = (1..=256).map(move |length| lanes(u8::layout(), length));
    let words = (1..=64).map(move |length| lanes(u32::layout(), length));
    bytes.chain(words).chain([f32::layout(), f64::layout()])
}

#[test]
fn groups_are_the_fewest_items_that_fill_whole_loads() {
    assert_eq!(shape_of::<u8>(), (16, 32, 4));
    assert_eq!(shape_of::<f32>(), (16, 8, 4));
    assert_eq!(shape_of::<[f32; 3]>(), (16, 4, 4));
    assert_eq!(shape_of::<[f32; 5]>(), (16, 4, 4));
    assert_eq!(shape_of::<[f64; 3]>(), (16, 2, 4));
    assert_eq!(shape_of::<[f32; 9]>(), (4, 1, 4));
    assert_eq!(shape_of::<[f32; 12]>(), (16, 1, 4));
    assert_eq!(shape_of::<[u8; 48]>(), (16, 1, 2));
    assert_eq!(shape_of::<[f32; 25]>(), (4, 1, 1));
    assert_eq!(shape_of::<[u8; 255]>(), (1, 1, 1));
    assert_eq!(shape_of::<[u8; 256]>(), (16, 1, 1));
}

#[test]
fn every_item_is_in_one_block_of_each_launch() {
    for item in items() {
        let policy = Policy::for_item(&item);
        assert!(policy.check(&Data::of_items(&item)).is_ok());
        for length in [
            0,
            1,
            5,
            33,
            1000,
            1023,
            1024,
            8192,
            8193,
            16384,
            16385,
            1 << 20,
            (1 << 26) + 1,
            1 << 33,
            (1 << 37) + 17,
        ] {
            every_item_is_in_one_block(&policy, &item, length);
            every_item_is_in_one_block(&policy.baseline_only(), &item, length);
        }
    }
}

fn every_item_is_in_one_block(policy: &Policy, item: &Layout, length: u64) {
    let (mut left, mut partials) = (length, 0);
    for launch in policy.launches(item, length) {
        let shape = policy.shape(launch.kernel);
        assert!(policy.kernels().contains(&launch.kernel));
        // The kernel with tiles needs at least one item.
        assert!(left > 0 || launch.kernel != Kernel::Large);
        let block = shape.row_items() * launch.rows_per_warp * u64::from(launch.warps);
        let name = item.name;
        assert_eq!(u64::from(launch.chunks), left.div_ceil(block).max(1), "{length} items of {name}");
        assert!(launch.warps <= shape.warps && launch.rows_per_warp.is_power_of_two());
        if launch.kernel == Kernel::Baseline {
            // A chunk has at most as many tiles as a tile has items.
            assert!(launch.warps == shape.warps && launch.rows_per_warp <= shape.block_items());
        } else {
            assert!(launch.chunks <= policy.max_chunks);
        }
        left = launch.chunks.into();
        partials += if left > 1 { left } else { 0 };
        // One warp combines the values of at most 32 rows of partials.
        assert!(!launch.gathers || shape.rows == 1 && (2..=1024).contains(&left));
        left = if launch.is_final() { 1 } else { left };
    }
    assert_eq!(left, 1);
    let bytes = policy.launches(item, length).memory_bytes(item);
    assert!(bytes >= partials * item.size as u64);
    let most = (64 << 10).max(length * item.size as u64 / 1000);
    assert!(bytes <= most, "{bytes} for {length} items of {} bytes", item.size);
}

#[test]
fn few_small_items_that_are_no_whole_rows_have_a_lane_each() {
    let warps = |policy: &Policy, length| policy.one_block(length).warps;
    let floats = Policy::for_item(&f32::layout());
    // A row has 256 items.
    let lengths = [1, 31, 32, 33, 255, 256, 257, 1000, 1023, 1024, 1025];
    assert_eq!(lengths.map(|length| warps(&floats, length)), [1, 1, 1, 2, 8, 1, 16, 32, 32, 4, 8]);
    let without = Policy { lane_each_items: 0, ..floats };
    assert_eq!([33, 255, 1023].map(|length| warps(&without, length)), [1, 1, 4]);
    // A row has 128 items.
    let points = Policy::for_item(&<[f32; 3]>::layout());
    assert_eq!([33, 127, 1023].map(|length| warps(&points, length)), [1, 1, 8]);
}

#[test]
fn small_inputs_take_one_launch() {
    for item in items() {
        let policy = Policy::for_item(&item);
        for length in [0, 1, policy.one_block_items / 2, policy.one_block_items] {
            assert_eq!(policy.launches(&item, length).count(), 1);
            assert_eq!(policy.launches(&item, length).memory_bytes(&item), TICKET_BYTES);
        }
        assert!(policy.one_block_items >= 32 * 32);
    }
    let in_one_block = |item: Layout| Policy::for_item(&item).one_block_items;
    assert_eq!([in_one_block(f32::layout()), in_one_block(<[f32; 5]>::layout())], [8192, (48 << 10) / 20]);
}

#[test]
fn small_inputs_have_larger_blocks_where_there_would_be_many() {
    /// The first launch, and the kernel that reduces its partials.
    fn first_and_next<T: DeviceType>(kibibytes: u64) -> (Launch, Option<Kernel>) {
        let item = T::layout();
        let length = (kibibytes << 10) / item.size as u64;
        let mut launches = Policy::for_item(&item).launches(&item, length);
        (launches.next().expect("one"), launches.next().map(|launch| launch.kernel))
    }
    let of = |(first, next): (Launch, Option<Kernel>)| {
        assert_eq!(first.gathers, next.is_none());
        (first.kernel, first.warps, first.chunks, next)
    };
    use Kernel::{Large, Small};
    assert_eq!(of(first_and_next::<f32>(64)), (Small, 8, 8, None));
    assert_eq!(of(first_and_next::<f32>(2048)), (Small, 8, 256, None));
    assert_eq!(of(first_and_next::<f32>(4096)), (Small, 32, 128, None));
    assert_eq!(of(first_and_next::<u8>(4096)), (Large, 4, 256, Some(Small)));
    // Items of more words: fewer partials are gathered.
    assert_eq!(of(first_and_next::<f64>(2048)), (Small, 8, 256, None));
    assert_eq!(of(first_and_next::<f64>(4096)), (Small, 8, 512, Some(Small)));
    assert_eq!(of(first_and_next::<[u32; 4]>(1024)), (Small, 8, 128, None));
    assert_eq!(of(first_and_next::<[u32; 4]>(2048)), (Small, 8, 256, None));
    assert_eq!(of(first_and_next::<[u32; 4]>(4096)), (Small, 8, 512, Some(Small)));
    assert_eq!(of(first_and_next::<[u32; 4]>(8192)), (Small, 32, 128, None));
    assert_eq!(of(first_and_next::<[f32; 12]>(512)), (Small, 8, 43, None));
    assert_eq!(of(first_and_next::<[f32; 12]>(1024)), (Small, 8, 86, Some(Small)));
    // The block that gathers comes on top.
    let policy = Policy::for_item(&f32::layout());
    let blocks = |kibibytes| policy.blocks(&first_and_next::<f32>(kibibytes).0, 1);
    assert_eq!([16, 64, 4096].map(blocks), [1, 9, 129]);
}

#[test]
fn blocks_that_stay_have_as_many_chunks_as_each_other() {
    let item = f32::layout();
    let policy = Policy::for_item(&item);
    for length in [1, 1 << 22, 1 << 26, (1 << 28) + 1, 1 << 32] {
        for resident in [0, 1, 7, 528, 1 << 20] {
            let launch = policy.launches(&item, length).next().expect("one");
            let blocks = policy.blocks(&launch, resident);
            if launch.kernel != Kernel::Large {
                assert_eq!(blocks, launch.chunks);
                continue;
            }
            assert!((1..=launch.chunks.min(resident.max(1))).contains(&blocks));
            // With one block less, some block would have one chunk more.
            let turns = launch.chunks.div_ceil(blocks);
            assert_eq!(turns, launch.chunks.div_ceil(resident.max(1)));
            assert!(blocks == 1 || launch.chunks.div_ceil(blocks - 1) > turns);
        }
    }
}

#[test]
fn warps_have_many_tiles_where_those_fill_the_gpu() {
    fn tiles_at<T: DeviceType>(mebibytes: u64) -> (u64, u32) {
        let policy = Policy::for_item(&T::layout());
        let length = (mebibytes << 20) / size_of::<T>() as u64;
        let launch = policy.launches(&T::layout(), length).next().expect("one");
        (launch.rows_per_warp / u64::from(policy.large.rows), launch.chunks)
    }
    // One wave of few chunks; one full wave; full waves, or more waves of fewer tiles.
    assert_eq!([8, 40, 64].map(tiles_at::<f32>), [(1, 512), (8, 320), (8, 512)]);
    assert_eq!([128, 250, 256].map(tiles_at::<f32>), [(16, 512), (32, 500), (32, 512)]);
    assert_eq!([300, 512, 1024].map(tiles_at::<f32>), [(8, 2400), (32, 1024), (32, 2048)]);
    assert_eq!([256, 512, 1024].map(tiles_at::<[f32; 8]>), [(32, 256), (32, 512), (4, 8192)]);
    // A wave is full from 15/16 on. Items of 12 bytes have one run a warp, and no full waves.
    assert_eq!([239, 240, 272].map(tiles_at::<f32>), [(8, 1912), (32, 480), (8, 2176)]);
    assert_eq!([144, 288].map(tiles_at::<[f32; 3]>), [(4, 1536), (4, 3072)]);
    assert_eq!([64, 256].map(tiles_at::<[f32; 3]>), [(8, 342), (4, 2731)]);
}

#[test]
fn rows_are_whole_where_all_of_them_is_there() {
    let item = f32::layout();
    let policy = Policy::for_item(&item);
    let whole = |length| {
        let launch = policy.launches(&item, length).next().expect("one");
        launch.partition(&policy.shape(launch.kernel), length).whole
    };
    let row = policy.small.row_items();
    assert_eq!([0, row - 1, row, 5 * row + 1].map(whole), [0, 0, 1, 5]);
    // More than one row a warp. Tiles.
    assert_eq!([whole(2 * policy.one_block_items), whole(1 << 28)], [2 * 32, 0]);
}

#[test]
fn rows_merge_where_every_chunk_is_whole() {
    let item = <[f32; 4]>::layout();
    let policy = Policy::for_item(&item);
    let row = policy.small.row_items();
    let partition = |length| {
        let launch = policy.launches(&item, length).next().expect("one");
        let shape = policy.shape(launch.kernel);
        let Partition { warps, runs, row_level, whole } = launch.partition(&shape, length);
        (warps, runs, row_level, whole)
    };
    let whole = [0, 1, 2, 7, 8, 128, 129].map(|rows| partition(rows * row));
    let merged = [(1, 1, 1, 1), (4, 4, 1, 4), (4, 64, 1, 64)];
    let [none, one, two, seven, eight, many, odd] = whole;
    assert_eq!([two, eight, many], merged);
    assert_eq!([none, one, seven, odd], [(1, 0, 0, 0), (1, 1, 0, 1), (8, 7, 0, 7), (8, 129, 0, 129)]);
    assert_eq!(partition(8 * row - 1), (8, 8, 0, 7));
    // Up to `small_bytes`, a warp has two rows. Larger inputs have tiles.
    let most = policy.small_bytes / 16;
    assert_eq!((most * 16, partition(most)), (8 << 20, (32, 4096, 1, 4096)));
    assert_eq!(policy.launches(&item, most + 1).next().expect("one").kernel, Kernel::Large);
    // A warp also has two rows if the block has no more warps.
    let one_block = Policy { one_block_items: 64 * row, ..policy }.one_block(63 * row);
    assert_eq!(
        one_block.partition(&policy.small, 63 * row),
        Partition { warps: 32, runs: 32, row_level: 1, whole: 31 }
    );
}

#[test]
fn partials_are_gathered_where_they_are_few_and_have_room() {
    let chain = |item: &Layout, policy: &Policy, length| {
        policy.launches(item, length).map(|launch| launch.kernel).collect::<Vec<_>>()
    };
    use Kernel::{Large, Small};
    let floats = f32::layout();
    let policy = Policy::for_item(&floats);
    let gathers = |item: &Layout, policy: &Policy, length| policy.launches(item, length).gathers();
    assert_eq!(chain(&floats, &policy, 1 << 26), [Large, Small]);
    assert_eq!(chain(&floats, &policy, 1 << 20), [Small]);
    assert!(gathers(&floats, &policy, 1 << 20) && !gathers(&floats, &policy, 1 << 26));
    let never = Policy { gathered_chunks: 0, ..policy };
    assert_eq!(chain(&floats, &never, 1 << 20), [Small, Small]);
    // The 1366 partials, one for each 96 KiB, are more items of 48 bytes than one block reduces.
    let large = <[f32; 12]>::layout();
    assert_eq!(chain(&large, &Policy::for_item(&large), (1 << 27) / 48), [Large, Small, Small]);
    // Items of more than 64 bytes do not stay in registers.
    assert_eq!(Policy::for_item(&<[u64; 9]>::layout()).gathered_chunks, 0);
    // More than 16 numbers: an item with tiles, and one without.
    assert_eq!(Policy::for_item(&<[u8; 48]>::layout()).gathered_chunks, 0);
    let huge = <[u64; 32]>::layout();
    let policy = Policy::for_item(&huge);
    assert_eq!(policy.kernels(), [Small, Large]);
    assert_eq!(chain(&huge, &policy, 1 << 20)[..2], [Large, Small]);
}

#[test]
fn templates_know_where_partials_are_gathered() {
    let partials = include_str!("../../../templates/reduce/partials.cuh");
    assert!(partials.contains(&format!("TICKETS = {};", TICKET_BYTES / 8)));
    for item in items() {
        // A row of 32 partials has whole pairs of words.
        let words = (item.size as u64).div_ceil(4);
        assert_eq!(cell_bytes(&item, 33), 64 * 8 * words.next_multiple_of(2));
    }
}

#[test]
fn policies_that_no_kernel_can_have_are_refused() {
    let item = u16::layout();
    let good = Policy::for_item(&item);
    assert!(good.check(&Data::of_items(&item)).is_ok());
    let refused = |change: fn(&mut Policy)| {
        let mut policy = good;
        change(&mut policy);
        matches!(policy.check(&Data::of_items(&item)), Err(Error::Policy { .. }))
    };
    assert!(refused(|policy| policy.large.rows = 3));
    assert!(refused(|policy| policy.large.rows = 64));
    assert!(refused(|policy| policy.small.warps = 0));
    assert!(refused(|policy| policy.small.rows = 8));
    assert!(refused(|policy| policy.small.group_items = 4));
    assert!(refused(|policy| (policy.small.group_items, policy.small.width, policy.small.rows) = (2, 4, 2)));
    assert!(refused(|policy| policy.small.group_items = 1 << 20));
    assert!(refused(|policy| policy.large.group_items = 4));
    assert!(refused(|policy| policy.large.warps = 32));
    assert!(refused(|policy| policy.large.blocks_per_multiprocessor = 1 << 30));
    assert!(refused(|policy| policy.large.merged_tiles = 2));
    assert!(refused(|policy| policy.large.runs = 3));
    assert!(refused(|policy| policy.large.runs = 64));
    assert!(refused(|policy| policy.small.merged_tiles = 4));
    assert!(refused(|policy| policy.baseline.warps = 64));
    assert!(refused(|policy| policy.baseline.group_items = 2));
    assert!(refused(|policy| policy.gathered_chunks = 1025));
    assert!(refused(|policy| policy.max_chunks = 0));
    // The tiles leave too little of 64 KiB for the values of runs.
    let item = <[u64; 21]>::layout();
    let mut tiles = Policy::for_item(&item);
    assert!(tiles.check(&Data::of_items(&item)).is_ok());
    (tiles.large.width, tiles.large.group_items, tiles.large.rows, tiles.large.warps) = (8, 1, 2, 4);
    assert!(
        tiles.large.shared_bytes(&Data::of_items(&item)) < 65_000
            && tiles.check(&Data::of_items(&item)).is_err()
    );
    assert!(refused(|policy| policy.max_chunks = u32::MAX));
}

/// One item is made of one element of each array.
fn read_in_step(elements: &[Layout], item: Layout) -> Data {
    Data { elements: elements.to_vec(), item, accumulates: false }
}

#[test]
fn groups_of_arrays_in_step_fill_whole_loads_of_each() {
    let shape = |elements: &[Layout]| {
        let data = read_in_step(elements, f64::layout());
        let policy = Policy::for_data(&data);
        assert!(policy.check(&data).is_ok());
        (policy.large.width, policy.large.group_items, policy.large.rows)
    };
    assert_eq!(shape(&[f32::layout(), f32::layout()]), (16, 4, 8));
    assert_eq!(shape(&[f32::layout(), u8::layout()]), (16, 16, 2));
    assert_eq!(shape(&[<[f32; 9]>::layout(), u8::layout()]), (1, 1, 1));
    for item in items().filter(|item| item.size <= 64) {
        let data = read_in_step(&[item.clone(), u16::layout()], item);
        assert!(Policy::for_data(&data).check(&data).is_ok());
    }
}
