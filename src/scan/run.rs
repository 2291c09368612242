//! The calls of a scan on each backend.

use cudarc::driver::{CudaSlice, CudaStream, DevicePtr};

use super::Scan;
use crate::cuda::{AllocateOutput, Backend, InputSource, OutputTarget, PrivateStream, ScanKernel};
use crate::tree::Prefix;
use crate::{DeviceMonoid, DeviceType, Error, Input, Output, Place, cpu};

impl<M: DeviceMonoid> Scan<M> {
    pub(super) fn in_new_memory<I: Input<M::Item>>(
        &self,
        prefix: Prefix,
        input: I,
    ) -> Result<<I::Place as Place>::Memory<M::Item>, Error> {
        let scanned = I::Place::allocate_output(input.source(), &Scanned { scan: self, prefix });
        scanned.map_err(|error| error.of_operator(std::any::type_name::<M>()))
    }

    pub(super) fn into<I: Input<M::Item>, O: Output<M::Item>>(
        &self,
        prefix: Prefix,
        input: I,
        mut output: O,
    ) -> Result<(), Error> {
        let (items, places) = (input.source(), output.target());
        check_lengths(&items, &places)?;
        let operator = &self.operator;
        let (items, places) = match (items, places) {
            (InputSource::Host(items), OutputTarget::Host(places)) if self.device.scans_host_on_cpu() => {
                cpu::scan_into(operator, prefix, items, places);
                return Ok(());
            }
            other => other,
        };
        let scanned = match (self.device.backend()?, items, places) {
            (Backend::Cpu, ..) => Err(Error::DeviceInputOnCpu),
            (Backend::Cuda { stream, .. }, InputSource::Host(items), OutputTarget::Host(places)) => {
                let (private, scanned) = self.kernel(stream)?.scan_host(operator, prefix, items)?;
                private.download(&scanned, places)
            }
            (Backend::Cuda { stream, .. }, InputSource::Host(items), OutputTarget::Device(places)) => {
                self.kernel(stream)?.scan_host_into(operator, prefix, items, places)
            }
            (Backend::Cuda { stream, .. }, InputSource::Device(items), OutputTarget::Host(places)) => {
                let private = PrivateStream::take(stream.context())?;
                private.download(&self.kernel(stream)?.scan(operator, prefix, items)?, places)
            }
            (Backend::Cuda { stream, .. }, InputSource::Device(items), OutputTarget::Device(places)) => {
                self.kernel(stream)?.scan_into(operator, prefix, Some(items), places)
            }
        };
        scanned.map_err(|error| error.of_operator(std::any::type_name::<M>()))
    }

    pub(super) fn in_place<O: Output<M::Item>>(&self, prefix: Prefix, mut items: O) -> Result<(), Error> {
        let operator = &self.operator;
        let items = match items.target() {
            OutputTarget::Host(items) if self.device.scans_host_on_cpu() => {
                cpu::scan_in_place(operator, prefix, items);
                return Ok(());
            }
            other => other,
        };
        let scanned = match (self.device.backend()?, items) {
            (Backend::Cpu, _) => Err(Error::DeviceInputOnCpu),
            (Backend::Cuda { stream, .. }, OutputTarget::Host(items)) => {
                let (private, scanned) = self.kernel(stream)?.scan_host(operator, prefix, items)?;
                private.download(&scanned, items)
            }
            (Backend::Cuda { stream, .. }, OutputTarget::Device(items)) => {
                self.kernel(stream)?.scan_into(operator, prefix, None, items)
            }
        };
        scanned.map_err(|error| error.of_operator(std::any::type_name::<M>()))
    }

    pub(super) fn kernel(&self, stream: &CudaStream) -> Result<&ScanKernel, Error> {
        if let Some(kernel) = self.kernel.get() {
            return Ok(kernel);
        }
        let kernel = ScanKernel::of::<M>(stream.context(), self.policy)?;
        Ok(self.kernel.get_or_init(|| kernel))
    }
}

/// Allocates the output of a scan and fills it.
struct Scanned<'a, M> {
    scan: &'a Scan<M>,
    prefix: Prefix,
}

impl<M: DeviceMonoid> AllocateOutput<M::Item> for Scanned<'_, M> {
    fn host(&self, items: &[M::Item]) -> Result<Vec<M::Item>, Error> {
        let Self { scan, prefix } = *self;
        if scan.device.scans_host_on_cpu() {
            return Ok(cpu::scan(&scan.operator, prefix, items));
        }
        match scan.device.backend()? {
            Backend::Cpu => unreachable!("the CPU scans host memory above"),
            Backend::Cuda { stream, .. } => {
                let (private, scanned) = scan.kernel(stream)?.scan_host(&scan.operator, prefix, items)?;
                private.download_all(&scanned)
            }
        }
    }

    fn device(&self, items: &dyn DevicePtr<M::Item>) -> Result<CudaSlice<M::Item>, Error> {
        let Self { scan, prefix } = *self;
        match scan.device.backend()? {
            Backend::Cpu => Err(Error::DeviceInputOnCpu),
            Backend::Cuda { stream, .. } => scan.kernel(stream)?.scan(&scan.operator, prefix, items),
        }
    }
}

/// Checks that an output holds as many items as the input.
pub(super) fn check_lengths<T: DeviceType>(
    items: &InputSource<'_, T>,
    places: &OutputTarget<'_, T>,
) -> Result<(), Error> {
    match (items.len(), places.len()) {
        (expected, length) if expected != length => Err(Error::OutputLength { expected, length }),
        _ => Ok(()),
    }
}
