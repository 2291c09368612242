//! Host memory that a GPU reduces: it is copied in chunks through pinned buffers.

use support::items::{Point, Sample, Sampler, Unit, items};
use support::operators::{Lanewise, MaxByNorm};
use support::tiers::{Tier, device};
use warpfold::operators::{Matrix2Product, Sum};
use warpfold::{Device, DeviceMonoid, DeviceType, Reduction, Scan};

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
        assert!(explained.launches.len() >= launches, "{explained}");
        let [first, ..] = &explained.launches[..] else { panic!("{explained}") };
        assert!(first.items == length && first.blocks > 0 && first.threads.is_multiple_of(32), "{explained}");
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

/// Wherever `Device::auto` reduces host memory, the bits are the same.
pub fn auto_returns_the_same_bits() {
    let (auto, cpu) = (Device::auto(), Device::cpu());
    assert!(auto.is_gpu() && auto.fallback_reason().is_none());
    assert!(auto.to_string().contains("for host memory"), "{auto}");
    let operator = Matrix2Product::<f64>::new();
    let (auto, cpu) = (Reduction::with(auto, operator), Reduction::with(cpu, operator));
    for compiled in [false, true] {
        if compiled {
            auto.compile().expect("compiles");
        }
        for length in [0, 1, 100, 5000, 1 << 20] {
            let items = items(12, length, f64::matrix);
            let expected = cpu.run(&items).expect("runs");
            for _ in 0..6 {
                let got = auto.run(&items).expect("runs");
                assert!(<[[f64; 2]; 2]>::same_bits(&got, &expected), "{length} items");
            }
        }
    }
}
