use cudarc::driver::DevicePtr;

use super::*;
use crate::DeviceType;
use crate::cuda::lock::lock;
use crate::operators::Sum;
use crate::source::ArrayOfItems;
use crate::types::Array;

/// A scan's launch is a chain. Each of the two kernels is recorded once.
#[test]
fn gpu_scans_are_recorded_once() {
    let Some(device) = crate::laws::gpu() else { return };
    let stream = device.stream().expect("a GPU").context().new_stream().expect("a stream");
    let policy = ScanPolicy::for_item(&u32::layout());
    let kernel = ScanKernel::of::<Sum<u32>, ArrayOfItems>(stream.context(), policy).expect("a kernel");
    let lengths = [5_usize, 1_000_000, 1, 10_000_000, 70_000, 9_000_000];
    let items = stream.clone_htod(&vec![3_u32; 10_000_000]).expect("copies");
    for length in lengths {
        let items = items.slice(..length);
        let items: &dyn DevicePtr<u32> = &items;
        let arrays: Arrays<'_, Array<u32>> = Arrays::of(items).expect("one array");
        let scanned = kernel.scan::<_, _, u32>(&Sum::<u32>::new(), Prefix::Inclusive, arrays).expect("scans");
        let scanned = stream.clone_dtoh(&scanned).expect("copies");
        assert!(scanned.iter().zip(1..).all(|(&sum, count)| sum == 3 * count), "{length} items");
    }
    let workspace = kernel.kernels.workspaces.of_stream(&stream).expect("there");
    assert_eq!(lock(&workspace).graphs.count(), 2);
}
