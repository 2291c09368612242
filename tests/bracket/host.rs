//! Host memory that a GPU reduces: it is copied in chunks through pinned buffers.

use std::sync::Mutex;

use rayon::prelude::*;
use support::items::{Point, Sample, Sampler, Unit, items};
use support::operators::{Lanewise, MaxByNorm};
use support::tiers::{Tier, device};
use warpfold::aggregates::Mean;
use warpfold::operators::Sum;
use warpfold::{Device, DeviceMonoid, DeviceType, Error, Monoid, Reduction, Scan, monoid};

/// Inputs around the limits: the largest that the driver copies itself, one chunk, several chunks
/// of different sizes, and chunks that use each buffer again.
fn inputs_in_chunks_of<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>) {
    let (gpu, cpu) = (Reduction::with(device(Tier::Gpu), operator), Reduction::with(Device::cpu(), operator));
    gpu.compile().expect("compiles");
    let item = size_of::<M::Item>();
    let all = items(11, (300 << 20) / item + 1, sampler);
    for bytes in [64 << 10, 1 << 20, 8 << 20, 9 << 20, 40 << 20, 256 << 20, 300 << 20] {
        for length in [bytes / item - 1, bytes / item, bytes / item + 1] {
            let items = &all[all.len() - length..];
            let (got, expected) = (gpu.run(items).expect("runs"), cpu.run(items).expect("runs"));
            assert!(M::Item::same_bits(&got, &expected), "{length} items");
        }
    }
}

pub fn inputs_in_chunks() {
    inputs_in_chunks_of(Sum::<f32>::new(), f32::unit);
    inputs_in_chunks_of(MaxByNorm, Point::sample);
    inputs_in_chunks_of(Lanewise::<u8, 100>(std::marker::PhantomData), Sample::sample);
}

/// The threads take turns with the pinned buffers.
pub fn threads_share_the_buffers() {
    let sum = Reduction::<Sum<u64>>::new(device(Tier::Gpu));
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let sum = &sum;
            scope.spawn(move || {
                let items: Vec<u64> = (0..(3 << 20) + thread).map(|i| i * thread).collect();
                let expected = items.iter().sum();
                (0..5).for_each(|_| assert_eq!(sum.run(&items).expect("runs"), expected));
            });
        }
    });
}

/// Explanations have the kernels that run, for every kind of plan.
pub fn explanations_have_every_launch() {
    let sum = Reduction::<Sum<f32>>::new(device(Tier::Gpu));
    for (length, launches) in [(1, 1), (100_000, 1), (1 << 20, 1), (1 << 26, 2)] {
        let explained = sum.explain(length).expect("explains");
        assert_eq!(explained.launches.len(), launches, "{explained}");
        let [first, ..] = &explained.launches[..] else { panic!("{explained}") };
        assert!(
            first.items == length as u64 && first.blocks > 0 && first.threads.is_multiple_of(32),
            "{explained}"
        );
        assert!((16..=255).contains(&first.registers) && first.local_bytes == 0, "{explained}");
        assert!(explained.to_string().contains("bytes of scratch memory"));
    }
    assert!(sum.explain(1 << 26).expect("explains").scratch_bytes > 0);
    let scanned = Scan::<Sum<f32>>::new(device(Tier::Gpu)).explain(1 << 26).expect("explains");
    assert!(scanned.launches.len() == 1 && scanned.scratch_bytes > 0, "{scanned}");
    for explained in [
        sum.explain(1 << 26).expect("explains"),
        scanned,
        Reduction::with(device(Tier::Gpu), Lanewise::<u8, 64>(std::marker::PhantomData))
            .explain(1 << 24)
            .expect("explains"),
        Reduction::with(device(Tier::Gpu), Lanewise::<u8, 256>(std::marker::PhantomData))
            .explain(1 << 24)
            .expect("explains"),
    ] {
        println!("{explained}");
    }
}

/// The kernels of rows, columns and segments. On the CPU there are none.
pub fn explanations_of_parts_have_every_launch(tier: Tier) {
    let sum = Reduction::<Sum<f32>>::new(device(tier));
    let mean = Reduction::<Mean<f32>>::new(device(tier));
    let length = 1 << 26;
    for (explained, kernels) in [
        (sum.explain_rows(length, 16), &["by lanes"][..]),
        (sum.explain_rows(length, 1 << 13), &["by warps"]),
        (sum.explain_rows(length, 1 << 25), &["by warps", "by warps", "by lanes"]),
        (mean.explain_rows(length, 1 << 25), &["by warps", "by warps", "by lanes"]),
        (sum.explain_columns(length, 1 << 13), &["by columns"; 3]),
        (sum.explain_rows(0, 5), &[]),
        (sum.explain_segments(length, 1 << 20), &["by offsets"; 3]),
        (mean.explain_segments(length, 1 << 20), &["by offsets"; 3]),
        (sum.explain_segments(100, 3), &["by offsets"]),
        (sum.explain_segments(length, 0), &[]),
    ] {
        let explained = explained.expect("explains");
        println!("{explained}");
        let names: Vec<_> = explained.launches.iter().map(|launch| launch.kernel).collect();
        assert_eq!(names, if tier == Tier::Cpu { &[] } else { kernels }, "{explained}");
        for launch in &explained.launches {
            assert!(launch.blocks > 0 && launch.threads.is_multiple_of(32) && launch.registers >= 16);
            assert!(launch.items > 0 && launch.local_bytes == 0, "{explained}");
        }
        assert_eq!(explained.scratch_bytes > 0, names.len() > 1 || names == ["by offsets"], "{explained}");
    }
    assert!(matches!(sum.explain_rows(10, 3), Err(Error::IncompleteRow { .. })));
    assert!(matches!(sum.explain_columns(10, 0), Err(Error::NoColumns)));
}

/// An operator for which a CPU takes longer than a copy to the GPU.
#[derive(Clone, Copy, Debug, Default)]
struct Slow;

#[monoid]
impl Monoid for Slow {
    type Item = u64;
    fn identity(&self) -> u64 {
        0
    }
    fn combine(&self, a: u64, b: u64) -> u64 {
        // Adds nothing, as the compiler cannot know.
        let mut state = a ^ b;
        for _ in 0..500 {
            state = state.wrapping_mul(state | 5).rotate_left(7);
        }
        let added = if state == 0x1234_5678_9abc_def0 { 1 } else { 0 };
        a.wrapping_add(b).wrapping_add(added)
    }
}

/// The debug lines of this process that contain a text.
fn debug_lines(text: &'static str) -> usize {
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    struct Lines;
    impl log::Log for Lines {
        fn enabled(&self, _: &log::Metadata) -> bool {
            true
        }
        fn log(&self, record: &log::Record) {
            LINES.lock().expect("no panic").push(record.args().to_string());
        }
        fn flush(&self) {}
    }
    if log::set_logger(&Lines).is_ok() {
        log::set_max_level(log::LevelFilter::Debug);
    }
    LINES.lock().expect("no panic").iter().filter(|line| line.contains(text)).count()
}

/// Wherever `Device::auto` reduces host memory, the bits are the same. The GPU is used once its
/// kernels are loaded, by another `Reduction` of the operator, too.
pub fn auto_returns_the_same_bits() {
    let chosen = "8000000 bytes of host memory: Gpu";
    assert_eq!(debug_lines(chosen), 0);
    let auto = Device::auto();
    assert!(auto.is_gpu() && auto.fallback_reason().is_none());
    assert!(auto.to_string().contains("for host memory"), "{auto}");
    let items: Vec<u64> = (0..1_000_000).collect();
    let (first, second) = (Reduction::<Slow>::new(auto.clone()), Reduction::<Slow>::new(auto));
    for _ in 0..3 {
        assert_eq!(first.run(&items).expect("runs"), 499_999_500_000);
    }
    assert_eq!(debug_lines(chosen), 0, "nothing is compiled");
    second.compile().expect("compiles");
    for _ in 0..5 {
        assert_eq!(first.run(&items).expect("runs"), 499_999_500_000);
    }
    assert_eq!(debug_lines(chosen), 3, "two calls on the CPU, then the GPU");
}

/// Calls from within rayon's pool, whose threads wait for the buffers and for each other.
pub fn a_pool_reduces_host_memory() {
    let sum = Reduction::<Sum<u64>>::new(device(Tier::Gpu));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    let rows: Vec<Vec<u64>> = (0..40).map(|row| vec![row; 1 << 18]).collect();
    let sums: Vec<u64> = pool.install(|| rows.par_iter().map(|row| sum.run(row).expect("runs")).collect());
    assert_eq!(sums, (0..40).map(|row| row << 18).collect::<Vec<u64>>());
}
