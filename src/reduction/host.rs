//! Where `Device::auto` reduces host memory.

use std::time::Instant;

use super::Reduction;
use crate::cuda::{BracketKernel, HostPlace};
use crate::{DeviceMonoid, Error, cpu};

/// Largest input in host memory that `Device::auto` always reduces on the CPU, in bytes. A call of
/// a GPU takes longer.
const CPU_BYTES: usize = 8 << 10;

impl<M: DeviceMonoid> Reduction<M> {
    /// Reduces host memory where the caller left the place open.
    pub(super) fn run_fastest(&self, items: &[M::Item]) -> Result<M::Item, Error> {
        let on_cpu = || cpu::bracket(&self.operator, items);
        let bytes = size_of_val(items);
        let kernel = match self.device.stream() {
            Some(stream) if M::EXACT && bytes > CPU_BYTES => self.kernel(stream).ok(),
            _ => None,
        };
        let Some((kernel, rates)) = kernel.and_then(|kernel| Some((kernel, kernel.rates()?))) else {
            return Ok(on_cpu());
        };
        let start = Instant::now();
        let place = rates.fastest(bytes);
        log::debug!("{bytes} bytes of host memory: {place:?}");
        let value = match place {
            HostPlace::Cpu => on_cpu(),
            HostPlace::Gpu => match self.run_on_gpu(kernel, items) {
                Ok(value) => value,
                Err(reason) => {
                    log::warn!("host memory is reduced on the CPU from now on: {reason}");
                    rates.exclude_gpu();
                    return Ok(on_cpu());
                }
            },
        };
        rates.record(place, bytes, start.elapsed());
        Ok(value)
    }

    fn run_on_gpu(&self, kernel: &BracketKernel, items: &[M::Item]) -> Result<M::Item, Error> {
        // Until the end of the call.
        let _backend = self.device.backend()?;
        kernel.run_host(&self.operator, items)
    }
}
