//! Reductions of host memory: on the CPU, on the GPU, and where `Device::auto` chooses.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use warpfold::cudarc::driver::{CudaContext, result, sys};
use warpfold::operators::Sum;
use warpfold::{Device, DeviceMonoid, Monoid, Reduction, monoid};

use super::operators::Welford;
use super::{Subject, hexadecimal, row};

/// The product of 4x4 matrices, row by row.
#[derive(Clone, Copy, Default)]
struct Matrix4Product;

#[monoid]
impl Monoid for Matrix4Product {
    type Item = [[f32; 4]; 4];
    fn identity(&self) -> [[f32; 4]; 4] {
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    }
    fn combine(&self, a: [[f32; 4]; 4], b: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
        let mut c = [[0.0; 4]; 4];
        for i in 0..4 {
            for j in 0..4 {
                c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j] + a[i][3] * b[3][j];
            }
        }
        c
    }
}

/// Powers of two of bytes.
const SIZES: [u32; 4] = [12, 20, 26, 30];
/// Calls of each size before the samples.
const WARM: usize = 3;

/// Writes a row for each operator, size and device, and a row for each size of a copy from pinned
/// memory.
pub fn all(out: &mut impl Write) -> Result<()> {
    copies(out)?;
    measure(out, "sum", "f32", Sum::<f32>::new(), |i| (i % 1024) as f32)?;
    measure(out, "product", "f32x16", Matrix4Product, |i| {
        let (sine, cosine) = (i as f32 * 0.1).sin_cos();
        [[cosine, sine, 0.0, 0.0], [-sine, cosine, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    })?;
    measure(out, "welford", "f64x3", Welford, |i| [1.0, (i % 1024) as f64, 0.0])
}

fn samples(bytes: usize) -> usize {
    if bytes <= 1 << 20 { 200 } else { 15 }
}

fn measure<M: DeviceMonoid>(
    out: &mut impl Write,
    operator: &str,
    item: &str,
    by: M,
    make: impl Fn(usize) -> M::Item,
) -> Result<()> {
    let item_bytes = size_of::<M::Item>();
    let items: Vec<M::Item> = (0..(1 << 30) / item_bytes).map(make).collect();
    let devices = [("cpu", Device::cpu()), ("cuda", Device::cuda(0)?), ("auto", Device::auto())];
    let reductions = devices.map(|(name, device)| (name, Reduction::with(device, by)));
    for (_, reduction) in &reductions {
        reduction.compile()?;
    }
    for bytes in SIZES.map(|log2| 1_usize << log2) {
        for (name, reduction) in &reductions {
            let items = &items[..bytes / item_bytes];
            let mut times = Vec::new();
            let mut value = reduction.run(items)?;
            for _ in 0..WARM - 1 + samples(bytes) {
                let start = Instant::now();
                value = black_box(reduction.run(items)?);
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
            times.drain(..WARM - 1);
            let subject =
                Subject { operator, item, item_bytes, bytes, offset: 0, result: hexadecimal(&value) };
            row(out, "warpfold", &subject, &format!("host-{name}"), times)?;
        }
    }
    Ok(())
}

/// The time of a copy from pinned memory to the device: the fastest way for host memory to get
/// there.
fn copies(out: &mut impl Write) -> Result<()> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    for bytes in SIZES.map(|log2| 1_usize << log2) {
        let mut device = stream.alloc_zeros::<u8>(bytes)?;
        // SAFETY: the context is current, and the size is not zero.
        let pinned = unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_WRITECOMBINED) }?.cast::<u8>();
        // SAFETY: the memory has this many bytes, which are then initialised.
        let host = unsafe {
            pinned.write_bytes(1, bytes);
            std::slice::from_raw_parts(pinned, bytes)
        };
        let mut times = Vec::new();
        for _ in 0..samples(bytes) {
            let start = Instant::now();
            stream.memcpy_htod(host, &mut device)?;
            stream.synchronize()?;
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
        let subject =
            Subject { operator: "copy", item: "u8", item_bytes: 1, bytes, offset: 0, result: "-".to_owned() };
        row(out, "warpfold", &subject, "pinned", times)?;
        // SAFETY: allocated above, and no copy is under way.
        unsafe { result::free_host(pinned.cast()) }?;
    }
    Ok(())
}
