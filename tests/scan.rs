//! Tests that every backend returns the bits of `tree::inclusive_scan` and `tree::exclusive_scan`.
//!
//! The tests cover every operator, every alignment, in-place and separate output, several policies,
//! threads and streams. They cover each length near the edge of a run, a tile or a window.

#[path = "scan/executor.rs"]
mod executor;
#[path = "scan/mutations.rs"]
mod mutations;

use std::marker::PhantomData;
use std::process::ExitCode;

use cudarc::driver::{CudaContext, CudaSlice};
use support::inputs::Inputs;
use support::items::{Point, Sample, Sampler, Unit, items};
use support::operators::{self, Joined, Lanewise, MaxByNorm, ModularAffine, Shape, Visitor};
use support::tiers::{Suite, Tier, alone, device};
use warpfold::operators::{AffineComposition, Matrix2Product, Sum};
use warpfold::plan::{ScanPolicy, ScanShape};
use warpfold::{Device, DeviceInput, DeviceMonoid, DeviceType, Error, Scan, cudarc, tree};

/// The smallest tiles, so that a short input has windows of tiles. If each lane looks at one place,
/// the input also has windows of windows.
fn tiny(places: u32) -> ScanPolicy {
    let shape = ScanShape {
        run_items: 1,
        rows: 1,
        unit_items: 1,
        warps: 1,
        groups: 1,
        blocks_per_multiprocessor: 1,
        places,
    };
    ScanPolicy { small: shape, large: shape, small_bytes: 0, few_tiles: 0, few_waves: 0 }
}

/// The smallest tiles, with four groups a block. Each group scans several tiles.
fn in_groups() -> ScanPolicy {
    let mut policy = tiny(1);
    policy.large.groups = 4;
    policy
}

/// Eight rows of chunks. `None` unless an item has a power of two of bytes, at most 16.
fn in_rows<T: DeviceType>(groups: u32) -> Option<ScanPolicy> {
    let run_items = 1.max(16 / size_of::<T>()) as u32;
    let is_chunk = size_of::<T>().is_power_of_two() && size_of::<T>() <= 16;
    let mut policy = tiny(2);
    policy.large = ScanShape { run_items, rows: 8, unit_items: run_items, warps: 2, groups, ..policy.large };
    is_chunk.then_some(policy)
}

/// The default kernels, whose tiles always have all warps of the block.
fn whole<T: DeviceType>() -> ScanPolicy {
    ScanPolicy { few_tiles: 0, few_waves: 0, ..ScanPolicy::for_item(&T::layout()) }
}

/// As [`whole`], with the large kernel for every input of more than 100 bytes.
fn large<T: DeviceType>() -> ScanPolicy {
    ScanPolicy { small_bytes: 100, ..whole::<T>() }
}

/// The policies under test: the default, and others that divide the same input differently.
fn policies<T: DeviceType>() -> Vec<ScanPolicy> {
    let mut wide = large::<T>();
    (wide.large.warps, wide.large.groups, wide.large.blocks_per_multiprocessor) = (16, 1, 1);
    wide.large.run_items = wide.large.unit_items;
    while wide.large.shared_bytes(&T::layout(), wide.large.warps) > 48 << 10 {
        wide.large.warps /= 2;
    }
    // Tiles of half the warps, for every input.
    let halved = ScanPolicy { few_tiles: u64::MAX, ..large::<T>() };
    // The largest windows, and one warp.
    let mut tall = large::<T>();
    (tall.large.warps, tall.large.places) = (1, 8);
    let mut policies = vec![ScanPolicy::for_item(&T::layout()), whole::<T>(), large::<T>()];
    policies.extend([tiny(1), tiny(2), tall, wide, halved, in_groups()]);
    policies.extend([1, 2].into_iter().filter_map(in_rows::<T>));
    policies
}

/// Lengths for a policy: all small ones, and both sides of every edge up to `most`.
fn lengths(policy: &ScanPolicy, most: usize) -> Vec<usize> {
    let mut lengths: Vec<usize> = (1..=40).collect();
    let shape = if policy.small_bytes > 100 { &policy.small } else { &policy.large };
    // A block with one tile may have half the warps. Each edge of a whole tile is an edge of the
    // halves, too.
    let halves = policy.few_tiles > 0 && shape.groups == 1;
    let warps = if halves { shape.warps.div_ceil(2) } else { shape.warps };
    let (run, tile) = (shape.run_items as usize, shape.tile_items(warps) as usize);
    let window = shape.window() as usize;
    for edge in [run, 32 * run, tile, window * tile, window * window * tile] {
        for multiple in [1, 2, 3] {
            lengths.extend([edge * multiple - 1, edge * multiple, edge * multiple + 1]);
        }
    }
    lengths.retain(|&length| 0 < length && length <= most);
    lengths.sort();
    lengths.dedup();
    lengths
}

#[track_caller]
fn assert_same<T: DeviceType + std::fmt::Debug>(got: &[T], expected: &[T], what: impl std::fmt::Display) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let differs = got.iter().zip(expected).position(|(got, expected)| !T::same_bits(got, expected));
    if let Some(at) = differs {
        panic!("{what}: place {at} is {:?}, the scan is {:?}", got[at], expected[at]);
    }
}

fn scans<M: DeviceMonoid>(operator: &M, items: &[M::Item]) -> [Vec<M::Item>; 2] {
    [tree::inclusive_scan(operator, items), tree::exclusive_scan(operator, items)]
}

fn every_length<M: DeviceMonoid>(tier: Tier, operator: M, sampler: Sampler<M::Item>, policy: ScanPolicy)
where
    M::Item: Sample,
{
    let device = device(tier);
    let scan = Scan::with(device.clone(), operator).with_policy(policy);
    let most = (1 << 17).min((16 << 20) / size_of::<M::Item>());
    for (sampler, most) in [(M::Item::sample as Sampler<M::Item>, 300), (sampler, most)] {
        let all: Vec<M::Item> = items(1, most, sampler);
        let inputs = Inputs::on(&device, &all);
        let [inclusive, exclusive] = scans(&operator, &all);
        for length in lengths(&policy, most) {
            let [got_inclusive, got_exclusive] = inputs.scan(&scan, 0, length, 0);
            assert_same(&got_inclusive, &inclusive[..length], format!("inclusive, {length} items"));
            assert_same(&got_exclusive, &exclusive[..length], format!("exclusive, {length} items"));
        }
    }
}

fn every_alignment<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let all: Vec<M::Item> = items(3, 20_000, sampler);
    let device = device(Tier::Gpu);
    let inputs = Inputs::on(&device, &all);
    for policy in [ScanPolicy::for_item(&M::Item::layout()), large::<M::Item>()] {
        let scan = Scan::with(device.clone(), operator).with_policy(policy);
        for from in 0..17 {
            for (length, to) in [(1, 0), (33, 3), (1000, 1), (4096, 0), (19_000, 0), (18_999, from)] {
                let [inclusive, exclusive] = scans(&operator, &all[from..from + length]);
                let [got_inclusive, got_exclusive] = inputs.scan(&scan, from, length, to);
                assert_same(
                    &got_inclusive,
                    &inclusive,
                    format!("inclusive, {from}.., {length} items, to {to}"),
                );
                assert_same(
                    &got_exclusive,
                    &exclusive,
                    format!("exclusive, {from}.., {length} items, to {to}"),
                );
            }
        }
    }
}

struct EveryOperator<'a>(&'a mut Suite);

impl Visitor for EveryOperator<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M, sampler: Sampler<M::Item>)
    where
        M::Item: Sample,
    {
        self.0.test(Tier::Cpu, format!("{name}_is_the_scan_at_every_length"), move || {
            every_length(Tier::Cpu, operator, sampler, ScanPolicy::for_item(&M::Item::layout()));
        });
        self.0.test(Tier::Gpu, format!("{name}_is_the_scan_at_every_length"), move || {
            every_length(Tier::Gpu, operator, sampler, ScanPolicy::for_item(&M::Item::layout()));
            every_length(Tier::Gpu, operator, sampler, large::<M::Item>());
        });
        self.0.test(Tier::Gpu, format!("{name}_is_the_scan_at_every_alignment"), move || {
            every_alignment(operator, sampler);
        });
    }
}

fn policies_do_not_move_a_bit<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    for policy in policies::<M::Item>() {
        every_length(Tier::Gpu, operator, sampler, policy);
    }
}

/// Scans inputs with several levels of windows, and many windows of each level.
fn long_inputs<M: DeviceMonoid>(tier: Tier, operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let all: Vec<M::Item> = items(4, (1 << 24) + 1, sampler);
    let device = device(tier);
    let inputs = Inputs::on(&device, &all);
    let [inclusive, exclusive] = scans(&operator, &all);
    let policies = if tier == Tier::Cpu {
        vec![ScanPolicy::for_item(&M::Item::layout())]
    } else {
        policies::<M::Item>()
    };
    for policy in policies {
        let scan = Scan::with(device.clone(), operator).with_policy(policy);
        for length in [(1 << 24) + 1, (1 << 24) - 1, 5_000_000] {
            let [got_inclusive, got_exclusive] = inputs.scan(&scan, 0, length, 0);
            assert_same(
                &got_inclusive,
                &inclusive[..length],
                format!("inclusive, {length} items, {policy:?}"),
            );
            assert_same(
                &got_exclusive,
                &exclusive[..length],
                format!("exclusive, {length} items, {policy:?}"),
            );
        }
    }
}

/// An inclusive scan never calls `identity`, which panics in `Joined`.
fn a_semigroup_scans(tier: Tier) {
    let joined = Scan::<Joined>::new(device(tier));
    for length in [1_u32, 2, 31, 33, 1000, 100_001, 3_000_000] {
        let ranges: Vec<[u32; 2]> = (0..length).map(|i| [i + 7, i + 8]).collect();
        let expected: Vec<[u32; 2]> = (0..length).map(|i| [7, i + 8]).collect();
        assert_same(&joined.inclusive(&ranges).expect("runs"), &expected, format!("{length} ranges"));
        let mut places = ranges;
        joined.inclusive_in_place(&mut places).expect("runs");
        assert_same(&places, &expected, format!("{length} ranges in place"));
    }
}

/// Host and device memory in every combination, and empty inputs.
fn every_kind_of_memory(tier: Tier) {
    let all: Vec<Point> = items(7, 3000, Point::sample);
    let device = device(tier);
    let scan = Scan::<MaxByNorm>::new(device.clone());
    let [inclusive, exclusive] = scans(&MaxByNorm, &all);
    let array: [Point; 3000] = all.clone().try_into().expect("3000 items");
    assert_same(&scan.inclusive(&all).expect("runs"), &inclusive, "vector");
    assert_same(&scan.exclusive(&all[..]).expect("runs"), &exclusive, "slice");
    let mut places = array;
    scan.inclusive_into(&array, &mut places).expect("runs");
    assert_same(&places, &inclusive, "array");
    scan.exclusive_into(&all, &mut places[..]).expect("runs");
    assert_same(&places, &exclusive, "into a slice");
    let mut places = all.clone();
    scan.inclusive_in_place(&mut places).expect("runs");
    assert_same(&places, &inclusive, "in place");
    assert!(scan.inclusive(&[]).expect("runs").is_empty());
    scan.exclusive_in_place(&mut [][..]).expect("runs");
    let refused = scan.inclusive_into(&all, &mut places[..2999]);
    assert!(matches!(refused, Err(Error::OutputLength { expected: 3000, length: 2999 })), "{refused:?}");
    let Some(stream) = device.stream() else { return };
    let copy = stream.clone_htod(&all).expect("copies");
    let fetch = |scanned: &CudaSlice<Point>| stream.clone_dtoh(scanned).expect("copies");
    assert_same(&fetch(&scan.inclusive(&copy).expect("runs")), &inclusive, "device slice");
    assert_same(&fetch(&scan.exclusive(&copy.as_view()).expect("runs")), &exclusive, "device view");
    let mut there = stream.clone_htod(&vec![all[0]; 3000]).expect("copies");
    scan.inclusive_into(&all, &mut there).expect("runs");
    assert_same(&fetch(&there), &inclusive, "host to device");
    scan.exclusive_into(&copy, &mut places).expect("runs");
    assert_same(&places, &exclusive, "device to host");
    scan.exclusive_into(&copy, &mut there.slice_mut(..)).expect("runs");
    assert_same(&fetch(&there), &exclusive, "device to device");
    stream.memcpy_dtod(&copy, &mut there).expect("copies");
    scan.inclusive_in_place(&mut there).expect("runs");
    assert_same(&fetch(&there), &inclusive, "device, in place");
    assert_eq!(scan.inclusive(&copy.slice(5..5)).expect("runs").len(), 0);
    scan.inclusive_into(&copy.slice(5..5), &mut there.slice_mut(7..7)).expect("runs");
    stream.synchronize().expect("synchronises");
    let (address, _read) = cudarc::driver::DevicePtr::device_ptr(&copy, stream);
    // SAFETY: the address is that of `copy`, which outlives `raw`. The stream is the default stream
    // of the device's own context.
    let raw = unsafe { DeviceInput::<Point>::from_raw(&device, address, all.len(), std::ptr::null_mut()) };
    assert_same(&fetch(&scan.inclusive(&raw.expect("aligned")).expect("runs")), &inclusive, "raw address");
    let on_cpu = Scan::<MaxByNorm>::new(Device::cpu());
    assert!(matches!(on_cpu.inclusive(&copy), Err(Error::DeviceInputOnCpu)));
    assert!(matches!(on_cpu.inclusive_in_place(&mut there), Err(Error::DeviceInputOnCpu)));
}

/// Eight threads share one scan. Each thread uses a stream of its own, and one shared stream. The
/// lengths make workspaces grow.
fn threads_and_streams() {
    let _alone = alone();
    let context = CudaContext::new(0).expect("a GPU");
    let shared = context.new_stream().expect("a stream");
    let operator = ModularAffine { modulus: 65_537, padding: 0 };
    let scan = Scan::with(context.clone(), operator).with_policy(tiny(1));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (context, shared, scan) = (&context, &shared, &scan);
            scope.spawn(move || {
                let own = context.new_stream().expect("a stream");
                for round in 0..20 {
                    let length = 1 + 79_019 * (round as usize % 5);
                    let all: Vec<[u32; 2]> = items(100 * thread + round, length, Sample::sample);
                    let [inclusive, exclusive] = scans(&operator, &all);
                    for stream in [&own, shared] {
                        let copy = stream.clone_htod(&all).expect("copies");
                        let scanned = scan.inclusive(&copy).expect("runs");
                        assert_same(
                            &stream.clone_dtoh(&scanned).expect("copies"),
                            &inclusive,
                            "device input",
                        );
                    }
                    assert_same(&scan.exclusive(&all).expect("runs"), &exclusive, "host input");
                }
            });
        }
    });
}

/// A graph with two recorded scans is launched several times, on new values. Between its launches
/// the same scan runs on the same stream.
fn a_graph_replays(policy: ScanPolicy) {
    let _alone = alone();
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    let stream = CudaContext::new(0).expect("a GPU").new_stream().expect("a stream");
    let operator = AffineComposition::<u64>::new();
    let inputs = [21, 22, 23].map(|seed| items::<[u64; 2]>(seed, 100_000, u64::map));
    let mut copy = stream.clone_htod(&inputs[0]).expect("copies");
    let mut scanned = stream.clone_htod(&inputs[0]).expect("copies");
    let elsewhere = stream.context().new_stream().expect("a stream");
    let other = elsewhere.clone_htod(&inputs[0]).expect("copies");
    let scan = Scan::with(stream.clone(), operator).with_policy(policy);
    scan.compile().expect("compiles");
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("begins to record");
    assert!(matches!(scan.inclusive(&copy), Err(Error::StreamIsCapturing)));
    assert!(matches!(scan.exclusive_into(&copy, &mut scanned), Err(Error::StreamIsCapturing)));
    assert!(matches!(scan.inclusive_in_place(&mut scanned), Err(Error::StreamIsCapturing)));
    // SAFETY: the slices outlive the graph, and its launches do not overlap.
    unsafe { scan.record_exclusive_into(&copy, &mut scanned) }.expect("records");
    // SAFETY: the slices outlive the graph, and its launches do not overlap.
    unsafe { scan.record_inclusive_in_place(&mut scanned) }.expect("records");
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    // Work of the other stream would become part of the graph, so the call is refused.
    assert!(matches!(scan.inclusive_into(&other, &mut scanned), Err(Error::StreamIsCapturing)));
    let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
    for (round, input) in inputs.iter().cycle().take(10).enumerate() {
        stream.memcpy_htod(input, &mut copy).expect("copies");
        graph.launch().expect("launches");
        let expected = tree::inclusive_scan(&operator, &tree::exclusive_scan(&operator, input));
        assert_same(&stream.clone_dtoh(&scanned).expect("copies"), &expected, format!("replay {round}"));
        let beside = scan.inclusive(&copy).expect("runs");
        let expected = tree::inclusive_scan(&operator, input);
        assert_same(
            &stream.clone_dtoh(&beside).expect("copies"),
            &expected,
            format!("beside replay {round}"),
        );
    }
}

/// A few cases of each kind, for compute-sanitizer, under which each launch is slow.
fn sanitizer_subset() {
    fn some<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>, policy: ScanPolicy, lengths: &[usize])
    where
        M::Item: Sample,
    {
        let device = device(Tier::Gpu);
        let all: Vec<M::Item> = items(20, 70_003, sampler);
        let inputs = Inputs::on(&device, &all);
        let scan = Scan::with(device, operator).with_policy(policy);
        for &length in lengths {
            for start in [0, 1, 3] {
                let [inclusive, exclusive] = scans(&operator, &all[start..start + length]);
                let [got_inclusive, got_exclusive] = inputs.scan(&scan, start, length, 0);
                assert_same(&got_inclusive, &inclusive, format!("inclusive, {length} items"));
                assert_same(&got_exclusive, &exclusive, format!("exclusive, {length} items"));
            }
        }
    }
    let lengths = [1, 33, 4096, 70_000];
    some(Sum::<f32>::new(), f32::unit, large::<f32>(), &lengths);
    some(Shape, Sample::sample, tiny(1), &[1, 33, 1056, 40_000]);
    some(Shape, Sample::sample, tiny(2), &[2048, 2080, 40_000]);
    some(Lanewise::<u8, 1>(PhantomData), Sample::sample, large::<u8>(), &lengths);
    some(MaxByNorm, Point::sample, ScanPolicy::for_item(&Point::layout()), &lengths);
    some(Lanewise::<u8, 101>(PhantomData), Sample::sample, large::<[u8; 101]>(), &[1, 33, 1000]);
}

fn main() -> ExitCode {
    let mut suite = Suite::default();
    // The tests of reductions cover what operators compute. Here the item sizes matter, and each
    // operator needs much compiled code.
    operators::structs(&mut EveryOperator(&mut suite));
    operators::sizes_of_cpu(&mut EveryOperator(&mut suite));
    for tier in [Tier::Cpu, Tier::Gpu] {
        suite.test(tier, "a_semigroup_scans", move || a_semigroup_scans(tier));
        suite.test(tier, "every_kind_of_memory", move || every_kind_of_memory(tier));
        suite.test(tier, "long_scans_of_f32_sums", move || long_inputs(tier, Sum::<f32>::new(), f32::unit));
        suite.test(tier, "long_scans_of_shapes", move || long_inputs(tier, Shape, Sample::sample));
    }
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_scans_of_points", || {
        policies_do_not_move_a_bit(MaxByNorm, Point::sample);
    });
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_scans_of_bytes", || {
        policies_do_not_move_a_bit(Lanewise::<u8, 1>(PhantomData), Sample::sample);
    });
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_scans_of_matrices", || {
        policies_do_not_move_a_bit(Matrix2Product::<f32>::new(), f32::matrix);
    });
    suite.test(Tier::Gpu, "threads_and_streams", threads_and_streams);
    suite.test(Tier::Gpu, "a_graph_replays", || {
        [tiny(1), in_groups()].into_iter().for_each(a_graph_replays);
    });
    suite.test(Tier::Gpu, "sanitizer_subset", sanitizer_subset);

    executor::add_to(&mut suite);
    suite.run()
}
