//! The rates at which the CPU and the GPU reduced host memory in earlier calls of an operator.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Powers of two of bytes.
const SIZES: usize = usize::BITS as usize;
/// The least time of a GPU that was not measured yet: a launch, and the copy of the input.
const GUESSED_LAUNCH: Duration = Duration::from_micros(15);
const GUESSED_BYTES_PER_NS: u64 = 50;
/// Calls after which a place counts as measured. The first call of a size may start threads, or
/// allocate memory.
const MEASURED_CALLS: u64 = 2;

/// The place where host memory is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostPlace {
    Cpu,
    Gpu,
}

/// The rates of an operator, for inputs of each size. A size is a power of two of bytes up to the
/// next one.
#[derive(Debug)]
pub(crate) struct Rates {
    cpu: [Rate; SIZES],
    gpu: [Rate; SIZES],
    /// Whether a call on the GPU has failed.
    is_gpu_excluded: AtomicBool,
}

#[derive(Debug, Default)]
struct Rate {
    /// Femtoseconds a byte. 0 before the first call.
    cost: AtomicU64,
    calls: AtomicU64,
}

impl Rate {
    fn measured(&self) -> Option<u64> {
        let is_measured = self.calls.load(Ordering::Relaxed) >= MEASURED_CALLS;
        is_measured.then(|| self.cost.load(Ordering::Relaxed))
    }

    fn record(&self, cost: u64) {
        let known = self.cost.load(Ordering::Relaxed);
        // A faster call counts at once. A slower one may have been disturbed.
        let cost = if known == 0 || cost < known { cost } else { known + (cost - known) / 8 };
        self.cost.store(cost.max(1), Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

fn cost(bytes: usize, time: Duration) -> u64 {
    let femtoseconds = time.as_nanos() * 1_000_000 / (bytes as u128).max(1);
    u64::try_from(femtoseconds).unwrap_or(u64::MAX)
}

impl Default for Rates {
    fn default() -> Self {
        let rates = || std::array::from_fn(|_| Rate::default());
        Self { cpu: rates(), gpu: rates(), is_gpu_excluded: AtomicBool::new(false) }
    }
}

impl Rates {
    /// The place that was faster for inputs of this size. The CPU if it was not measured. A GPU
    /// that was not measured counts with a guess at its least time.
    pub(crate) fn fastest(&self, bytes: usize) -> HostPlace {
        let size = bytes.max(1).ilog2() as usize;
        let Some(cpu) = self.cpu[size].measured() else { return HostPlace::Cpu };
        if self.is_gpu_excluded.load(Ordering::Relaxed) {
            return HostPlace::Cpu;
        }
        let least = GUESSED_LAUNCH + Duration::from_nanos(bytes as u64 / GUESSED_BYTES_PER_NS);
        let gpu = self.gpu[size].measured().unwrap_or_else(|| cost(bytes, least));
        if gpu < cpu { HostPlace::Gpu } else { HostPlace::Cpu }
    }

    /// From now on the CPU is used.
    pub(crate) fn exclude_gpu(&self) {
        self.is_gpu_excluded.store(true, Ordering::Relaxed);
    }

    pub(crate) fn record(&self, place: HostPlace, bytes: usize, time: Duration) {
        let rates = match place {
            HostPlace::Cpu => &self.cpu,
            HostPlace::Gpu => &self.gpu,
        };
        rates[bytes.max(1).ilog2() as usize].record(cost(bytes, time));
    }
}

#[cfg(test)]
mod tests;
