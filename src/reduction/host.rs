//! Where `Device::auto` reduces host memory.

use std::time::Instant;

use super::Reduction;
use crate::cuda::{BracketKernel, HostPlace};
use crate::types::Arrangement;
use crate::{DeviceAggregate, Error, Item};

/// Largest input in host memory that `Device::auto` always reduces on the CPU, in bytes. A call of
/// a GPU takes longer.
const CPU_BYTES: usize = 8 << 10;

impl<A: DeviceAggregate> Reduction<A> {
    /// Reduces host memory where the caller left the place open.
    pub(super) fn run_fastest<R: Arrangement<Element = A::Input>>(
        &self,
        slices: R::Slices<'_>,
        length: usize,
    ) -> Result<Item<A>, Error> {
        let on_cpu = || self.run_on_cpu::<R>(slices, length);
        // An index alone counts as much as an item.
        let bytes = length * size_of::<A::Input>().max(if R::COUNT == 0 { size_of::<Item<A>>() } else { 0 });
        let kernel = match self.device.stream() {
            Some(stream) if A::EXACT && bytes > CPU_BYTES => self.kernel::<R>(stream).ok(),
            _ => None,
        };
        let Some((kernel, rates)) = kernel.as_ref().and_then(|kernel| Some((kernel, kernel.rates()?))) else {
            return Ok(on_cpu());
        };
        let start = Instant::now();
        let place = rates.fastest(bytes);
        log::debug!("{bytes} bytes of host memory: {place:?}");
        let value = match place {
            HostPlace::Cpu => on_cpu(),
            HostPlace::Gpu => match self.run_on_gpu::<R>(kernel, slices, length) {
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

    fn run_on_gpu<R: Arrangement<Element = A::Input>>(
        &self,
        kernel: &BracketKernel,
        slices: R::Slices<'_>,
        length: usize,
    ) -> Result<Item<A>, Error> {
        // Until the end of the call.
        let _backend = self.device.backend()?;
        self.run_host_on_gpu::<R>(kernel, slices, length)
    }
}
