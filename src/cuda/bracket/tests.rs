use super::*;
use crate::cuda::Arrays;
use crate::cuda::driver::{RelaxedCapture, architecture};
use crate::operators::{AffineComposition, Sum};
use crate::plan::Data;
use crate::types::{Array, AsTheyAre};
use crate::{DeviceType, jit, tree};

/// A call has room for the kernels of every launch.
#[test]
fn the_launches_of_any_length_are_few() {
    for item in [u8::layout(), f32::layout(), <[u8; 3]>::layout(), <[u64; 32]>::layout()] {
        let policy = Policy::for_item(&item);
        for policy in [policy, policy.baseline_only()] {
            for bits in 0..64 {
                let launches = policy.launches(&item, u64::MAX >> bits);
                assert!(launches.clone().count() <= MOST_LAUNCHES, "{policy:?}: {launches:?}");
                assert_eq!(BracketKernel::kernels(&launches).len(), launches.count());
            }
        }
    }
}

/// PTX that the driver compiles gives the same bits as the CPU. A GPU newer than NVRTC runs PTX.
#[test]
fn gpu_is_the_cpu_through_ptx() {
    let Some(device) = crate::laws::gpu() else { return };
    let stream = device.stream().expect("a GPU");
    let context = stream.context();
    let architecture = architecture(context).expect("answers");
    let target = jit::Target { architecture, format: jit::ImageFormat::Ptx };
    let policy = Policy::for_item(&<[u32; 2]>::layout());
    let kernels = Kernels::new(context, Data::of_items(&<[u32; 2]>::layout()), target);
    let kernel = BracketKernel {
        kernels,
        policy,
        reader: TypeId::of::<ArrayOfItems>(),
        of_partials: None,
        rates: Rates::default(),
    };
    let operator = AffineComposition::new();
    for length in [1_u32, 2, 1000, 100_001] {
        let items: Vec<[u32; 2]> = (0..length).map(|i| [i | 1, i.wrapping_mul(2_654_435_761)]).collect();
        let got =
            kernel.run_host::<_, Array<[u32; 2]>, AsTheyAre>(&operator, &items, items.len()).expect("runs");
        assert_eq!(got, tree::bracket(&operator, &items), "{length} items");
    }
}

/// The workspace of a destroyed graph is used by the next graph.
#[test]
fn gpu_workspaces_of_graphs_are_used_again() {
    let Some(device) = crate::laws::gpu() else { return };
    // Every call of `Reduction` enters this mode.
    let _relaxed = RelaxedCapture::enter().expect("a driver");
    let stream = device.stream().expect("a GPU").context().new_stream().expect("a stream");
    let policy = Policy { max_chunks: 99, ..Policy::for_item(&u64::layout()) };
    let kernel = BracketKernel::of::<Sum<u64>, ArrayOfItems>(stream.context(), policy).expect("a kernel");
    kernel.reserve::<Sum<u64>, ArrayOfItems>(&stream).expect("compiles");
    let items = stream.clone_htod(&[1_u64; 100_000]).expect("copies");
    let mut result = stream.clone_htod(&[0_u64]).expect("copies");
    let mode = cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    let flags =
        cudarc::driver::sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    for _ in 0..10 {
        stream.begin_capture(mode).expect("begins to record");
        for _ in 0..3 {
            // SAFETY: the graph is destroyed before the slices.
            unsafe {
                kernel.record_into(
                    &Sum::<u64>::new(),
                    Arrays::<Array<u64>>::of(&items).expect("one length"),
                    &mut result,
                )
            }
            .expect("records");
        }
        let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
        assert_eq!(kernel.kernels.workspaces.in_graphs().0, 1);
        graph.launch().expect("launches");
        assert_eq!(stream.clone_dtoh(&result).expect("copies"), [100_000]);
        drop(graph);
        // A thread of the driver returns the workspace.
        let start = std::time::Instant::now();
        while kernel.kernels.workspaces.in_graphs() != (0, 1) && start.elapsed().as_secs() < 10 {
            std::thread::yield_now();
        }
        assert_eq!(kernel.kernels.workspaces.in_graphs(), (0, 1));
    }
}

/// A chain of kernels is recorded once. It is then launched with new arguments and grids, also
/// while an earlier launch is running.
#[test]
fn gpu_graphs_are_recorded_once() {
    let Some(device) = crate::laws::gpu() else { return };
    let stream = device.stream().expect("a GPU").context().new_stream().expect("a stream");
    let default = Policy::for_item(&<[u32; 2]>::layout());
    let mut policy =
        Policy { one_block_items: 64, tiles_per_warp: 1, max_full_waves: 0, gathered_chunks: 500, ..default };
    policy.large.warps = 1;
    let kernel = BracketKernel::of::<AffineComposition<u32>, ArrayOfItems>(stream.context(), policy)
        .expect("a kernel");
    kernel.reserve::<AffineComposition<u32>, ArrayOfItems>(&stream).expect("compiles");
    let operator = AffineComposition::new();
    let items: Vec<[u32; 2]> = (0..4_000_000_u32).map(|i| [i | 1, i.wrapping_mul(2_654_435_761)]).collect();
    let on_device = stream.clone_htod(&items).expect("copies");
    let lengths = [1, 300_000, 4_000_000, 9_000, 600_000, 3_999_999, 0, 200_000, 4_000_000];
    let expected = lengths.map(|length| tree::bracket(&operator, &items[..length]));
    let mut chains: Vec<Vec<Kernel>> = Vec::new();
    for (length, expected) in lengths.into_iter().zip(expected) {
        let launches = policy.launches(&kernel.kernels.data.item, length as u64);
        chains.push(launches.map(|launch| launch.kernel).collect());
        let got = kernel
            .run(&operator, &Arrays::<Array<[u32; 2]>>::of(&on_device.slice(..length)).expect("one length"))
            .expect("runs");
        assert_eq!(got, expected, "{length} items");
    }
    chains.sort();
    chains.dedup();
    let lengths_of_chains: Vec<usize> = chains.iter().map(Vec::len).collect();
    assert!([1, 2, 3].iter().all(|length| lengths_of_chains.contains(length)), "{chains:?}");
    let workspace = kernel.kernels.workspaces.of_stream(&stream).expect("there");
    let into = |what: &str| {
        let mut results = stream.alloc_zeros::<[u32; 2]>(100 * lengths.len()).expect("allocates");
        for at in 0..results.len() {
            let items = on_device.slice(..lengths[at % lengths.len()]);
            kernel
                .run_into(
                    &operator,
                    Arrays::<Array<[u32; 2]>>::of(&items).expect("one length"),
                    &mut results.slice_mut(at..=at),
                )
                .expect("enqueues");
        }
        let results = stream.clone_dtoh(&results).expect("copies");
        assert!(results.chunks(lengths.len()).all(|results| results == expected), "{what}");
        lock(&workspace).graphs.count()
    };
    assert_eq!(into("as chains"), chains.len());
    lock(&workspace).graphs.refuse();
    assert_eq!(into("one by one"), 0);
}

/// A workspace provides memory for the partials of a large input, between small inputs and within
/// one graph.
#[test]
fn gpu_workspaces_grow() {
    let Some(device) = crate::laws::gpu() else { return };
    // Every call of `Reduction` enters this mode.
    let _relaxed = RelaxedCapture::enter().expect("a driver");
    let stream = device.stream().expect("a GPU").context().new_stream().expect("a stream");
    let policy = Policy { tiles_per_warp: 1, ..Policy::for_item(&u64::layout()) };
    let kernel = BracketKernel::of::<Sum<u64>, ArrayOfItems>(stream.context(), policy).expect("a kernel");
    let large: u32 = 40_000_000;
    let items: Vec<u64> = (0..u64::from(large)).collect();
    let items = stream.clone_htod(&items).expect("copies");
    let sum = |length: u64| length * (length - 1) / 2;
    let lengths = [1000, u64::from(large), 100_000, 20_000_000];
    for length in lengths {
        let got = kernel
            .run(
                &Sum::<u64>::new(),
                &Arrays::<Array<u64>>::of(&items.slice(..length as usize)).expect("one length"),
            )
            .expect("runs");
        assert_eq!(got, sum(length));
    }
    let mut results = stream.clone_htod(&[0_u64; 4]).expect("copies");
    let mode = cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    let flags =
        cudarc::driver::sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    stream.begin_capture(mode).expect("begins to record");
    for (at, length) in lengths.into_iter().enumerate() {
        let items = items.slice(..length as usize);
        // SAFETY: the graph is destroyed before the slices.
        unsafe {
            kernel.record_into(
                &Sum::<u64>::new(),
                Arrays::<Array<u64>>::of(&items).expect("one length"),
                &mut results.slice_mut(at..=at),
            )
        }
        .expect("records");
    }
    let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
    graph.launch().expect("launches");
    assert_eq!(stream.clone_dtoh(&results).expect("copies"), lengths.map(sum));
}
