//! Tests that every backend returns the bits of `tree::bracket`.
//!
//! The tests cover every operator, every alignment, several policies, threads and streams. They
//! cover each length near the edge of a tile, a block or a launch.

#[path = "bracket/graphs.rs"]
mod graphs;
#[path = "bracket/host.rs"]
mod host;
#[path = "bracket/streams.rs"]
mod streams;

use std::process::ExitCode;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use support::checks::{Check, digest};
use support::inputs::Inputs;
use support::items::{Point, Sample, Sampler, Unit, items, standing_out};
use support::operators::{self, Joined, Lanewise, MaxByNorm, ModularAffine, Visitor};
use support::policies::{MOST, baseline, full_runs, large_kernels, lengths, merging, policies};
use support::tiers::{Suite, Tier, alone, device, in_child, scenario};
use warpfold::ladder::{Finish, Ladder, Rung};
use warpfold::operators::{AffineComposition, All, Any, BitAnd, BitOr, Matrix2Product, Max, Min, Sum};
use warpfold::{
    Device, DeviceInput, DeviceMonoid, DeviceType, Error, Monoid, Policy, Reduction, Scan, cudarc, tree,
};

/// Compiles the tuned kernels, so that no call runs the baseline kernel.
fn compiled<M: DeviceMonoid>(reduction: Reduction<M>) -> Reduction<M> {
    reduction.compile().unwrap_or_else(|error| panic!("{error}"));
    reduction
}

#[track_caller]
fn assert_same<T: DeviceType + std::fmt::Debug>(got: T, expected: T, what: impl std::fmt::Display) {
    assert!(T::same_bits(&got, &expected), "{what}: got {got:?}, the bracket is {expected:?}");
}

struct EveryOperator<'a>(&'a mut Suite);

impl Visitor for EveryOperator<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M, sampler: Sampler<M::Item>)
    where
        M::Item: Sample,
    {
        for tier in [Tier::Cpu, Tier::Gpu] {
            self.0.test(tier, format!("{name}_is_the_bracket_at_every_length"), move || {
                every_length(tier, operator, sampler, Policy::for_item(&M::Item::layout()));
            });
        }
        self.0.test(
            Tier::Gpu,
            format!("{name}_is_the_bracket_at_every_length_by_the_large_kernels"),
            move || {
                every_length(Tier::Gpu, operator, sampler, large_kernels::<M::Item>());
            },
        );
        self.0.test(Tier::Gpu, format!("{name}_is_the_bracket_at_every_length_by_the_baseline"), move || {
            every_length(Tier::Gpu, operator, sampler, baseline::<M::Item>());
        });
        self.0.test(Tier::Gpu, format!("{name}_is_the_bracket_at_every_alignment"), move || {
            every_alignment(operator, sampler);
        });
    }
}

fn every_length<M: DeviceMonoid>(tier: Tier, operator: M, sampler: Sampler<M::Item>, policy: Policy)
where
    M::Item: Sample,
{
    let device = device(tier);
    let reduction = compiled(Reduction::with(device.clone(), operator).with_policy(policy));
    let most = MOST.min((16 << 20) / size_of::<M::Item>());
    // Edge values occur only in short inputs, because a NaN or a zero can hide the other items. In
    // long inputs each item affects the result.
    for (sampler, most) in [(M::Item::sample as Sampler<M::Item>, 300), (sampler, most)] {
        let all: Vec<M::Item> = items(1, most, sampler);
        let inputs = Inputs::on(&device, &all);
        for length in lengths(&policy, most, 2) {
            assert_same(
                inputs.reduce(&reduction, 0..length),
                tree::bracket(&operator, &all[..length]),
                length,
            );
        }
    }
}

/// Reduces inputs at 17 start addresses, each a multiple of the item's alignment.
fn every_alignment<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let all: Vec<M::Item> = items(3, 20_000, sampler);
    let device = device(Tier::Gpu);
    let under = |policy| compiled(Reduction::with(device.clone(), operator).with_policy(policy));
    let merging = merging::<M::Item>();
    let in_runs = under(merging);
    let others = [Policy::for_item(&M::Item::layout()), large_kernels::<M::Item>(), baseline::<M::Item>()];
    let others = others.map(under);
    let full = full_runs(&merging).into_iter().filter(|&length| length <= all.len());
    let cases = full.map(|length| (length, std::slice::from_ref(&in_runs)));
    let row = merging.small.row_items() as usize;
    let lengths = [1, 2, 31, 32, 33, 257, row - 1, row, row + 1, 1000, 1024, 4096, 19_000];
    let cases = cases.chain(lengths.map(|length| (length, &others[..])));
    let cases: Vec<_> =
        cases.map(|(length, under)| (length, tree::bracket(&operator, &all[..length]), under)).collect();
    let stream = device.stream().expect("a GPU");
    let room = size_of_val(&all[..]) + 17 * align_of::<M::Item>();
    let mut memory = stream.alloc_zeros::<u8>(room).expect("room for the items");
    let uploaded = device.upload(&all).expect("room for the items");
    for start in 0..17 {
        let mut memory = memory.slice_mut(start * align_of::<M::Item>()..);
        // SAFETY: the view starts at a multiple of the item's alignment, and the copy writes it
        // before any read.
        let mut view = unsafe { memory.transmute_mut::<M::Item>(all.len()) }.expect("room for the items");
        stream.memcpy_dtod(&uploaded, &mut view).expect("copies");
        for (length, expected, under) in &cases {
            for reduction in *under {
                let got = reduction.run(&view.slice(..*length)).unwrap_or_else(|error| panic!("{error}"));
                let policy = reduction.policy();
                assert_same(got, *expected, format!("{length} items, {start} alignments on, {policy:?}"));
            }
        }
    }
}

/// Reduces full runs of tiles in which one item alone decides the result.
fn one_stands_out<M: DeviceMonoid>(tier: Tier, operator: M, pairs: [(M::Item, M::Item); 2])
where
    M::Item: Sample,
{
    let device = device(tier);
    let policy = merging::<M::Item>();
    let reduction = compiled(Reduction::with(device.clone(), operator).with_policy(policy));
    for all in standing_out(full_runs(&policy)[1] + 1, pairs) {
        let inputs = Inputs::on(&device, &all);
        for part in [0..all.len() - 1, 1..all.len()] {
            let expected = tree::bracket(&operator, &all[part.clone()]);
            assert_same(inputs.reduce(&reduction, part.clone()), expected, format!("{part:?}"));
        }
    }
}

/// Reduces inputs of random lengths up to 2^24, and of 2^24 - 1 and 2^24 + 1 items.
fn long_inputs<M: DeviceMonoid>(tier: Tier, operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let all: Vec<M::Item> = items(4, (1 << 24) + 1, sampler);
    let device = device(tier);
    let inputs = Inputs::on(&device, &all);
    let mut random = SmallRng::seed_from_u64(5);
    let random_lengths = (0..4).map(|_| random.random_range(1 << 16..1 << 24));
    let lengths: Vec<usize> = random_lengths.chain([(1 << 24) - 1, (1 << 24) + 1]).collect();
    let expected: Vec<M::Item> =
        lengths.par_iter().map(|&length| tree::bracket(&operator, &all[..length])).collect();
    let policies =
        if tier == Tier::Cpu { vec![Policy::for_item(&M::Item::layout())] } else { policies::<M::Item>() };
    for policy in policies {
        let reduction = compiled(Reduction::with(device.clone(), operator).with_policy(policy));
        for (&length, &expected) in lengths.iter().zip(&expected) {
            assert_same(inputs.reduce(&reduction, 0..length), expected, format!("{length} under {policy:?}"));
        }
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

/// The bracket of the brackets of chunks of 2^k items equals the bracket of all items.
fn chunks_compose<M: DeviceMonoid>(tier: Tier, operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let all: Vec<M::Item> = items(6, 40_001, sampler);
    let device = device(tier);
    let inputs = Inputs::on(&device, &all);
    let reduction = compiled(Reduction::with(device, operator));
    let whole = inputs.reduce(&reduction, 0..all.len());
    for k in 5..16 {
        let chunks: Vec<M::Item> = (0..all.len())
            .step_by(1 << k)
            .map(|start| inputs.reduce(&reduction, start..all.len().min(start + (1 << k))))
            .collect();
        assert_same(reduction.run(&chunks).expect("runs"), whole, format!("chunks of 2^{k}"));
    }
}

/// Every kind of host and device input gives the same result. An empty input gives the identity.
fn every_input_kind(tier: Tier) {
    let all: Vec<Point> = items(7, 3000, Point::sample);
    let device = device(tier);
    let reduction = compiled(Reduction::<MaxByNorm>::new(device.clone()));
    let expected = tree::bracket(&MaxByNorm, &all);
    let array: [Point; 3000] = all.clone().try_into().expect("3000 items");
    assert_same(reduction.run(&all).expect("runs"), expected, "vector");
    assert_same(reduction.run(&all[..]).expect("runs"), expected, "slice");
    assert_same(reduction.run(&array).expect("runs"), expected, "array");
    assert_same(reduction.run(&[]).expect("runs"), MaxByNorm.identity(), "empty");
    let Some(stream) = device.stream() else { return };
    let copy = stream.clone_htod(&all).expect("copies");
    assert_same(reduction.run(&copy).expect("runs"), expected, "device slice");
    assert_same(reduction.run(&copy.as_view()).expect("runs"), expected, "device view");
    stream.synchronize().expect("synchronises");
    let (address, _read) = cudarc::driver::DevicePtr::device_ptr(&copy, stream);
    // SAFETY: the address is that of `copy`, which outlives `raw`. The stream is the default stream
    // of the device's own context.
    let raw = unsafe { DeviceInput::<Point>::from_raw(&device, address, all.len(), std::ptr::null_mut()) };
    assert_same(reduction.run(&raw.expect("aligned")).expect("runs"), expected, "raw address");
}

fn more_than_two_to_the_32_items(tier: Tier) {
    let length = (1_usize << 32) + 12_345;
    let mut all = vec![[0_u8; 1]; length];
    all.par_iter_mut().enumerate().for_each(|(index, item)| {
        // SplitMix64, one step.
        let mut bits = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        *item = [(bits >> 56) as u8];
    });
    let device = device(tier);
    let operator = Lanewise::<u8, 1>(std::marker::PhantomData);
    // Brackets of chunks compose. In chunks the oracle takes little memory and uses all cores.
    let values: Vec<_> = all.par_chunks(1 << 24).map(|chunk| tree::bracket(&operator, chunk)).collect();
    let expected = tree::bracket(&operator, &values);
    let default = Policy::for_item(&<[u8; 1]>::layout());
    for policy in [default, default.baseline_only()] {
        let reduction = compiled(Reduction::with(device.clone(), operator).with_policy(policy));
        assert_same(reduction.run(&all).expect("runs"), expected, format!("{policy:?}"));
    }
}

/// A few cases of each kind, for compute-sanitizer, under which each launch is slow.
fn sanitizer_subset() {
    fn some<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>, lengths: &[usize])
    where
        M::Item: Sample,
    {
        let device = device(Tier::Gpu);
        let all: Vec<M::Item> = items(20, 70_003, sampler);
        let inputs = Inputs::on(&device, &all);
        let default = Policy::for_item(&M::Item::layout());
        for policy in [default, default.baseline_only()] {
            let reduction = compiled(Reduction::with(device.clone(), operator).with_policy(policy));
            let row = default.small.row_items() as usize;
            for &length in lengths.iter().chain([&row]) {
                for start in [0, 1, 3] {
                    let part = start..start + length;
                    let expected = tree::bracket(&operator, &all[part.clone()]);
                    assert_same(inputs.reduce(&reduction, part), expected, length);
                }
            }
        }
    }
    let lengths = [1, 2, 3, 33, 1000, 4096, 8193, 70_000];
    some(Sum::<f32>::new(), f32::unit, &lengths);
    some(Lanewise::<u8, 1>(std::marker::PhantomData), Sample::sample, &lengths);
    some(MaxByNorm, Point::sample, &lengths);
    some(Matrix2Product::<f64>::new(), f64::matrix, &lengths);
    some(Lanewise::<u8, 101>(std::marker::PhantomData), Sample::sample, &[1, 33, 1000]);
    some(ModularAffine { modulus: 101, padding: 0 }, Sample::sample, &[1, 33, 10_000]);
}

/// A reduction of at least one item never calls `identity`, which panics in `Joined`.
fn a_semigroup_reduces(tier: Tier) {
    let joined = Reduction::<Joined>::new(device(tier));
    joined.compile().expect("compiles");
    for length in [1_u32, 2, 31, 33, 1000, 100_001, 3_000_000] {
        let ranges: Vec<[u32; 2]> = (0..length).map(|i| [i + 7, i + 8]).collect();
        assert_eq!(joined.run(&ranges).expect("runs"), [7, length + 7], "{length} ranges");
    }
}

fn main() -> ExitCode {
    if scenario().as_deref() == Some(graphs::RECORDS) {
        graphs::record_beside_host_memory();
        return ExitCode::SUCCESS;
    }
    let mut suite = Suite::default();
    let mut every = EveryOperator(&mut suite);
    operators::structs(&mut every);
    operators::of_cpu(&mut every);

    for tier in [Tier::Cpu, Tier::Gpu] {
        suite.test(tier, "long_f32_sums_are_the_bracket", move || {
            long_inputs(tier, Sum::<f32>::new(), f32::unit)
        });
        suite.test(tier, "long_runs_of_bytes_are_the_bracket", move || {
            long_inputs(tier, Lanewise::<u8, 1>(std::marker::PhantomData), Sample::sample);
        });
        suite.test(tier, "long_products_of_matrices_are_the_bracket", move || {
            long_inputs(tier, Matrix2Product::<i16>::new(), i16::matrix);
        });
        suite.test(tier, "long_point_sets_are_the_bracket", move || {
            long_inputs(tier, MaxByNorm, Point::sample)
        });
        suite.test(tier, "chunks_of_points_compose", move || chunks_compose(tier, MaxByNorm, Point::sample));
        suite.test(tier, "chunks_of_f32_sums_compose", move || {
            chunks_compose(tier, Sum::<f32>::new(), f32::unit)
        });
        suite.test(tier, "chunks_of_affine_maps_compose", move || {
            chunks_compose(tier, AffineComposition::<i8>::new(), i8::map);
        });
        suite.test(tier, "the_one_that_counts_is_found", move || {
            one_stands_out(tier, Max::<i8>::new(), [(-128, -1), (-1, 1)]);
            one_stands_out(tier, Max::<u8>::new(), [(0, 1), (127, 128)]);
            one_stands_out(tier, Max::<i16>::new(), [(-0x8000, -1), (-1, 1)]);
            one_stands_out(tier, Max::<u16>::new(), [(0, 1), (0x7fff, 0x8000)]);
            one_stands_out(tier, Min::<i8>::new(), [(127, -1), (-1, -128)]);
            one_stands_out(tier, Min::<u8>::new(), [(255, 127), (128, 127)]);
            one_stands_out(tier, Min::<i16>::new(), [(1, -1), (-1, -0x8000)]);
            one_stands_out(tier, Min::<u16>::new(), [(0xffff, 0x7fff), (0x8000, 0x7fff)]);
            one_stands_out(tier, BitAnd::<u8>::new(), [(255, 254), (255, 127)]);
            one_stands_out(tier, BitOr::<u16>::new(), [(0, 0x8000), (0, 1)]);
            one_stands_out(tier, Any, [(false, true), (false, true)]);
            one_stands_out(tier, All, [(true, false), (true, false)]);
        });
        suite.test(tier, "a_semigroup_reduces", move || a_semigroup_reduces(tier));
        suite.test(tier, "every_kind_of_input_gives_the_same", move || every_input_kind(tier));
    }
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_f32_sums", || {
        policies_do_not_move_a_bit(Sum::<f32>::new(), f32::unit);
    });
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_points", || {
        policies_do_not_move_a_bit(MaxByNorm, Point::sample)
    });
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_bytes", || {
        policies_do_not_move_a_bit(Lanewise::<u8, 1>(std::marker::PhantomData), Sample::sample);
    });
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_100_bytes", || {
        policies_do_not_move_a_bit(Lanewise::<u8, 100>(std::marker::PhantomData), Sample::sample);
    });
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_matrices", || {
        policies_do_not_move_a_bit(Matrix2Product::<f64>::new(), f64::matrix);
    });
    suite.test(Tier::Gpu, "threads_and_streams_share_a_reduction", streams::threads_and_streams);
    suite.test(Tier::Gpu, "contexts_come_and_go", streams::contexts_come_and_go);
    suite.test(Tier::Gpu, "run_into_writes_in_stream_order", streams::run_into_writes_in_stream_order);
    suite.test(Tier::Gpu, "a_run_allocates_nothing", streams::a_run_allocates_nothing);
    suite.test(Tier::Gpu, "memory_of_any_device_type", streams::memory_of_any_device_type);
    suite.test(
        Tier::Gpu,
        "offsets_on_other_streams_stay_until_they_are_read",
        streams::offsets_on_other_streams_stay_until_they_are_read,
    );
    suite.test(
        Tier::Gpu,
        "copies_are_whole_when_they_are_read",
        streams::copies_are_whole_when_they_are_read,
    );
    suite.test(Tier::Gpu, "a_graph_outlives_its_reduction", graphs::a_graph_outlives_its_reduction);
    suite.test(Tier::Gpu, "a_graph_replays_on_new_values", graphs::a_graph_replays);
    suite.test(
        Tier::Gpu,
        "a_graph_reduces_what_its_reductions_write",
        graphs::a_graph_reduces_what_its_reductions_write,
    );
    suite.test(Tier::Gpu, "host_inputs_in_chunks_are_the_bracket", host::inputs_in_chunks);
    suite.test(Tier::Gpu, "threads_share_the_pinned_buffers", host::threads_share_the_buffers);
    suite.test(Tier::Gpu, "explanations_have_every_launch", host::explanations_have_every_launch);
    for tier in [Tier::Cpu, Tier::Gpu] {
        suite.test(tier, "explanations_of_parts_have_every_launch", move || {
            host::explanations_of_parts_have_every_launch(tier)
        });
    }
    suite.test(Tier::Gpu, "a_pool_reduces_host_memory", host::a_pool_reduces_host_memory);
    suite.test(Tier::Gpu, "auto_returns_the_same_bits", host::auto_returns_the_same_bits);
    suite.test(Tier::Gpu, "host_memory_while_a_stream_records", graphs::host_memory_while_a_stream_records);
    suite.test(
        Tier::Gpu,
        "a_graph_that_fills_its_input_replays",
        graphs::a_graph_that_fills_its_input_replays,
    );
    suite.test(
        Tier::Gpu,
        "a_graph_reduces_what_it_has_just_written",
        graphs::a_graph_reduces_what_it_has_just_written,
    );
    let check = Check::of("inputs of 4 GiB").factor("items", 1_u64 << 32);
    let check = check.determined_by(digest(&["src/cpu", "src/operators/tree.rs", "tests/bracket.rs"]));
    suite.check(Tier::Cpu, check, "more_than_two_to_the_32_items_are_the_bracket", || {
        more_than_two_to_the_32_items(Tier::Cpu);
    });
    suite.test(Tier::Gpu, "more_than_two_to_the_32_items_are_the_bracket", || {
        more_than_two_to_the_32_items(Tier::Gpu);
    });
    suite.test(Tier::Gpu, "sanitizer_subset", sanitizer_subset);
    suite.run()
}
