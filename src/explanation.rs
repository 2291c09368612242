//! What a call on a GPU launches.

use std::fmt;

/// What a call of [`Reduction`](crate::Reduction) or [`Scan`](crate::Scan) launches for an input of
/// some length in device memory, whole or divided into rows, columns or segments. It prints as a line
/// for each launch.
///
/// ```
/// use warpfold::{Device, Reduction, operators::Sum};
///
/// let explanation = Reduction::<Sum<f32>>::new(Device::auto()).explain(1_000_000)?;
/// println!("{explanation}");
/// assert_eq!(explanation.length, 1_000_000);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// The device of the call.
    pub device: String,
    /// Items of the input.
    pub length: u64,
    /// The launches, from first to last. Empty on the CPU.
    pub launches: Vec<ExplainedLaunch>,
    /// Device memory that the launches use besides input and output, in bytes.
    pub scratch_bytes: u64,
}

/// One launch of an [`Explanation`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExplainedLaunch {
    /// The name of the kernel's shape.
    pub kernel: &'static str,
    /// Items that the launch reads: of the input, or partials.
    pub items: u64,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Local memory of a thread, in bytes: spilled registers, and arrays that do not fit into
    /// registers. It makes a kernel slow.
    pub local_bytes: u32,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} items on {}", self.length, self.device)?;
        for ExplainedLaunch { kernel, items, blocks, threads, shared_bytes, registers, local_bytes } in
            &self.launches
        {
            writeln!(
                f,
                "{kernel} kernel: {items} items, {blocks} blocks of {threads} threads, {shared_bytes} bytes of \
                 shared memory; each thread {registers} registers, {local_bytes} bytes of local memory"
            )?;
        }
        write!(f, "{} launches, {} bytes of scratch memory", self.launches.len(), self.scratch_bytes)
    }
}
