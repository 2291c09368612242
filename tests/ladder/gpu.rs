//! Tests of rungs on a GPU.

use super::subjects::{FINISHES, Subject, Visitor, lengths, subjects};
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use support::inputs::Inputs;
use support::items::{Sample, items};
use support::operators::Joined;
use support::tiers::{Suite, Tier, alone, device};
use warpfold::ladder::{Finish, Ladder, Role, Rung};
use warpfold::operators::{Max, Sum};
use warpfold::{Device, DeviceMonoid, DeviceType, Error, cudarc, tree};

/// Runs every rung on a GPU, with every finish and several block sizes.
pub struct OnGpu<'a>(pub &'a mut Suite);

impl Visitor for OnGpu<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, subject: Subject<M>)
    where
        M::Item: Sample,
    {
        self.0.test(Tier::Gpu, format!("{name}_by_every_rung"), move || {
            for threads in [32, 256, 1024] {
                let all = items(5, 1 << 20, subject.sampler);
                let lengths = lengths(threads).into_iter().chain([100_000, (1 << 20) - 1]);
                for (length, finish) in lengths.zip(FINISHES.into_iter().cycle()) {
                    on_gpu(&device(Tier::Gpu), subject, threads as u32, finish, &all[..length]);
                }
            }
        });
    }
}

fn on_gpu<M: DeviceMonoid>(gpu: &Device, subject: Subject<M>, threads: u32, finish: Finish, items: &[M::Item])
where
    M::Item: Sample,
{
    let ladder = (subject.ladder)(gpu.clone(), subject.operator).threads(threads).finish(finish);
    let what = |rung: Rung| format!("{rung:?}, {} items, blocks of {threads}, {finish:?}", items.len());
    let input = Inputs::on(gpu, items);
    let Inputs::Device(input) = &input else { unreachable!("a GPU") };
    let expected = tree::bracket(&subject.operator, items);
    let has_room = |rung: &Rung| rung.shared_bytes(threads, &M::Item::layout()) <= 48 << 10;
    for rung in subject.rungs(Role::Reduces).filter(has_room) {
        let got = ladder.reduce(rung, input).unwrap_or_else(|error| panic!("{}: {error}", what(rung)));
        let compared = subject.compare_reduced((rung, finish), items, got, expected);
        compared.unwrap_or_else(|wrong| panic!("{}: {wrong}", what(rung)));
    }
    let expected =
        [tree::inclusive_scan(&subject.operator, items), tree::exclusive_scan(&subject.operator, items)];
    for rung in subject.rungs(Role::Scans).filter(has_room) {
        let fail = |error: Error| -> Vec<M::Item> { panic!("{}: {error}", what(rung)) };
        let got = [
            ladder.inclusive(rung, items).unwrap_or_else(fail),
            ladder.exclusive(rung, items).unwrap_or_else(fail),
        ];
        for (got, expected) in got.iter().zip(&expected) {
            let compared = subject.compare_all(items, got, expected);
            compared.unwrap_or_else(|wrong| panic!("{}: {wrong}", what(rung)));
        }
    }
}

/// Empty inputs, views, inputs on other streams, an input whose stream captures, and scans that
/// stay on the device.
pub fn every_kind_of_input() {
    let _alone = alone();
    let gpu = device(Tier::Gpu);
    let (sums, maxima) = (Ladder::<Sum<u32>>::new(gpu.clone()), Ladder::<Max<f64>>::new(gpu.clone()));
    assert_eq!(sums.reduce(Rung::Shuffles, &[]).expect("runs"), 0);
    assert_eq!(maxima.reduce(Rung::Strided, &[]).expect("runs"), f64::NEG_INFINITY);
    assert!(sums.inclusive(Rung::KoggeStone, &[]).expect("runs").is_empty());
    let stream = gpu.stream().expect("a GPU").context().new_stream().expect("a stream");
    let all: Vec<u32> = (0..100_000).collect();
    let slice = stream.clone_htod(&all).expect("room");
    for rung in [Rung::BottomUp, Rung::LastBlock, Rung::Atomics] {
        assert_eq!(
            sums.reduce(rung, &slice.slice(7..90_001)).expect("runs"),
            (7..90_001_u32).fold(0, u32::wrapping_add)
        );
    }
    let scanned = sums.exclusive(Rung::BrentKung, &slice.slice(3..70_000)).expect("runs");
    let expected = tree::exclusive_scan(&Sum::<u32>::new(), &all[3..70_000]);
    assert_eq!(stream.clone_dtoh(&scanned).expect("copied"), expected);
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("records");
    let refused = sums.reduce(Rung::Shuffles, &slice);
    let ended = stream.end_capture(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    assert!(matches!(refused, Err(Error::StreamIsCapturing)), "{refused:?}");
    ended.expect("the recording goes on");
    assert_eq!(
        sums.reduce(Rung::Shuffles, &slice).expect("runs"),
        (0..100_000_u32).fold(0, u32::wrapping_add)
    );
}

/// A rung that keeps the order never calls `identity` to reduce or to scan inclusively, with any
/// finish.
pub fn a_semigroup_climbs() {
    FINISHES.into_iter().for_each(a_semigroup_climbs_to);
}

fn a_semigroup_climbs_to(finish: Finish) {
    let joined = Ladder::<Joined>::in_order(device(Tier::Gpu), Joined).finish(finish);
    for length in [1_u32, 2, 31, 33, 1000, 100_001] {
        let ranges: Vec<[u32; 2]> = (0..length).map(|i| [i + 7, i + 8]).collect();
        for rung in Rung::ALL.into_iter().filter(|rung| rung.role() == Role::Reduces && rung.keeps_order()) {
            let joined = joined.reduce(rung, &ranges).expect("runs");
            assert_eq!(joined, [7, length + 7], "{rung:?}, {length} ranges");
        }
        let expected: Vec<[u32; 2]> = (0..length).map(|i| [7, i + 8]).collect();
        for rung in [Rung::KoggeStone, Rung::BrentKung] {
            assert_eq!(joined.inclusive(rung, &ranges).expect("runs"), expected, "{rung:?}, {length} ranges");
        }
    }
}

/// A few lengths, for compute-sanitizer, under which each launch is slow.
pub fn sanitizer_subset() {
    struct Some;
    impl Visitor for Some {
        fn visit<M: DeviceMonoid>(&mut self, name: &str, subject: Subject<M>)
        where
            M::Item: Sample,
        {
            if ["sum_of_u32", "max_by_norm"].contains(&name) {
                let all = items(6, 10_000, subject.sampler);
                for length in [1, 100, 10_000] {
                    on_gpu(&device(Tier::Gpu), subject, 128, Finish::Launches, &all[..length]);
                }
            }
        }
    }
    subjects(&mut Some);
}
