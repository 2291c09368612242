//! Where `Device::auto` reduces host memory.

use std::time::Instant;

use super::Reduction;
use crate::cuda::HostPlace;
use crate::{DeviceMonoid, Error, cpu};

/// Largest input in host memory that `Device::auto` always reduces on the CPU, in bytes. A call of a
/// GPU takes longer.
const CPU_BYTES: usize = 8 << 10;

impl<M: DeviceMonoid> Reduction<M> {
    /// Reduces host memory where the caller left the place open.
    pub(super) fn run_fastest(&self, items: &[M::Item]) -> Result<M::Item, Error> {
        let on_cpu = || cpu::bracket(&self.operator, items);
        let bytes = size_of_val(items);
        let may_choose = M::EXACT && bytes > CPU_BYTES;
        let kernel = self.kernel.get().filter(|_| may_choose);
        let Some((kernel, rates)) = kernel.and_then(|kernel| Some((kernel, kernel.rates()?))) else {
            return Ok(on_cpu());
        };
        let (start, place) = (Instant::now(), rates.fastest(bytes));
        let value = match place {
            HostPlace::Cpu => on_cpu(),
            HostPlace::Gpu => {
                // Until the end of the call.
                let _backend = self.device.backend()?;
                kernel.run_host(&self.operator, items)?
            }
        };
        rates.record(place, bytes, start.elapsed());
        Ok(value)
    }
}
