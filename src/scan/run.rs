//! The calls of a scan on each backend.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream};

use super::Scan;
use crate::cuda::{AllocateOutput, Arrays, Elements, InputSource, OutputTarget, PrivateStream, ScanKernel};
use crate::source::ReaderOf;
use crate::tree::Prefix;
use crate::types::{Arrangement, Array, AsTheyAre};
use crate::{
    Aggregate, DeviceAggregate, DeviceMonoid, Error, Input, Item, Monoid, Output, Place, Value, cpu,
};

/// The results of an aggregate in device memory.
pub(super) type Stored<A> = <<A as Aggregate>::Output as Value>::Stored;

impl<A: DeviceAggregate> Scan<A> {
    pub(super) fn in_new_memory<I: Input<A::Input>>(
        &self,
        prefix: Prefix,
        input: I,
    ) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
        I::Place::allocate_output::<I::Arrangement, _>(input.source(), &Scanned { scan: self, prefix })
            .map_err(Self::name_operator)
    }

    pub(super) fn into<I: Input<A::Input>, O: Output<A::Output>>(
        &self,
        prefix: Prefix,
        input: I,
        mut output: O,
    ) -> Result<(), Error> {
        match input.source() {
            InputSource::Host(slices) => self.host_into::<I::Arrangement>(prefix, slices, output.target()),
            InputSource::Device(pointers) => {
                self.device_into::<I::Arrangement>(prefix, pointers, output.target())
            }
        }
        .map_err(Self::name_operator)
    }

    fn host_into<R: Arrangement<Element = A::Input>>(
        &self,
        prefix: Prefix,
        slices: R::Slices<'_>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        let length = Self::length_of::<R>(slices)?;
        check_output(length, &output)?;
        let output = match output {
            OutputTarget::Host(places) if self.device.keeps_host_on_cpu() => {
                let (monoid, results) = (self.aggregate.monoid(), cpu::PresentedBy(&self.aggregate));
                let elements = cpu::Prepared::<A, R>::each(&self.aggregate, slices, length);
                cpu::scan_into(&monoid, prefix, &elements, &results, places);
                return Ok(());
            }
            output => output,
        };
        let backend = self.device.backend()?;
        let Some(stream) = backend.gpu() else {
            return Err(Error::DeviceInputOnCpu);
        };
        match output {
            OutputTarget::Host(places) => {
                let (private, scanned) = self.scan_host::<R>(stream, prefix, slices, length)?;
                private.download(&scanned, places)
            }
            OutputTarget::Device(places) => {
                self.kernel::<R>(stream)?.scan_host_into::<_, R, A::Preparation<R>, _>(
                    &self.aggregate.operator(),
                    prefix,
                    (slices, length),
                    places,
                )
            }
        }
    }

    fn device_into<R: Arrangement<Element = A::Input>>(
        &self,
        prefix: Prefix,
        pointers: R::Pointers<'_>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        let arrays = Self::arrays::<R>(pointers)?;
        check_output(arrays.length() as usize, &output)?;
        let backend = self.device.backend()?;
        let Some(stream) = backend.gpu() else {
            return Err(Error::DeviceInputOnCpu);
        };
        let (kernel, operator) = (self.kernel::<R>(stream)?, self.aggregate.operator());
        match output {
            OutputTarget::Host(places) => {
                let private = PrivateStream::take(stream.context())?;
                private.download(&kernel.scan::<_, _, Stored<A>>(&operator, prefix, arrays)?, places)
            }
            OutputTarget::Device(places) => kernel.scan_into(&operator, prefix, arrays, places),
        }
    }

    /// The length of the arrays, or of a range. Their items and results fit into an address space.
    fn length_of<R: Arrangement<Element = A::Input>>(slices: R::Slices<'_>) -> Result<usize, Error> {
        let length = cpu::length_of::<R>(slices)?;
        let sizes = [size_of::<Item<A>>(), size_of::<A::Output>(), size_of::<Stored<A>>(), 1];
        let most = isize::MAX as usize / sizes.into_iter().max().unwrap_or(1);
        if length > most { Err(Error::InputLength { length, most }) } else { Ok(length) }
    }

    /// Scans host memory on a GPU. The results are written in the order of the returned stream.
    fn scan_host<R: Arrangement<Element = A::Input>>(
        &self,
        stream: &CudaStream,
        prefix: Prefix,
        slices: R::Slices<'_>,
        length: usize,
    ) -> Result<(PrivateStream, CudaSlice<Stored<A>>), Error> {
        let operator = self.aggregate.operator();
        self.kernel::<R>(stream)?.scan_host::<_, R, A::Preparation<R>, _>(&operator, prefix, slices, length)
    }

    /// Arrays in device memory, for the kernels.
    pub(super) fn arrays<R: Arrangement<Element = A::Input>>(
        pointers: R::Pointers<'_>,
    ) -> Result<Arrays<'_, R, A::Preparation<R>>, Error> {
        Arrays::of(pointers)
    }

    pub(super) fn kernel<R: Arrangement<Element = A::Input>>(
        &self,
        stream: &CudaStream,
    ) -> Result<Arc<ScanKernel>, Error> {
        self.kernel
            .get::<A, R>(|| ScanKernel::of::<A::Operator, ReaderOf<A, R>>(stream.context(), self.policy))
    }

    /// Names the operator in the error of a kernel.
    pub(super) fn name_operator(error: Error) -> Error {
        error.of_operator(std::any::type_name::<A>())
    }
}

impl<M: DeviceMonoid<Item: Value<Stored = <M as Monoid>::Item>>> Scan<M> {
    pub(super) fn in_place<O: Output<M::Item>>(&self, prefix: Prefix, mut items: O) -> Result<(), Error> {
        let operator = &self.aggregate.operator();
        let items = match items.target() {
            OutputTarget::Host(items) if self.device.keeps_host_on_cpu() => {
                cpu::scan_in_place(&self.aggregate, prefix, items);
                return Ok(());
            }
            other => other,
        };
        match (self.device.backend()?.gpu(), items) {
            (None, _) => Err(Error::DeviceInputOnCpu),
            (Some(stream), OutputTarget::Host(items)) => self
                .kernel::<Array<M::Item>>(stream)?
                .scan_host::<_, Array<M::Item>, AsTheyAre, _>(operator, prefix, &*items, items.len())
                .and_then(|(private, scanned)| private.download(&scanned, items)),
            (Some(stream), OutputTarget::Device(items)) => {
                self.kernel::<Array<M::Item>>(stream)?.scan_in_place(operator, prefix, items)
            }
        }
        .map_err(Self::name_operator)
    }
}

/// Allocates the output of a scan and fills it.
struct Scanned<'a, A> {
    scan: &'a Scan<A>,
    prefix: Prefix,
}

impl<A: DeviceAggregate, R: Arrangement<Element = A::Input>> AllocateOutput<R, A::Output> for Scanned<'_, A> {
    fn host(&self, slices: R::Slices<'_>) -> Result<Vec<A::Output>, Error> {
        let Self { scan: Scan { device, aggregate, .. }, prefix } = *self;
        let length = Scan::<A>::length_of::<R>(slices)?;
        if device.keeps_host_on_cpu() {
            let elements = cpu::Prepared::<A, R>::each(aggregate, slices, length);
            return Ok(cpu::scan(&aggregate.monoid(), prefix, &elements, &cpu::PresentedBy(aggregate)));
        }
        match device.backend()?.gpu() {
            None => unreachable!("the CPU scans host memory above"),
            Some(stream) => {
                let (private, scanned) = self.scan.scan_host::<R>(stream, prefix, slices, length)?;
                private.download_all(&scanned)
            }
        }
    }

    fn device(&self, pointers: R::Pointers<'_>) -> Result<CudaSlice<Stored<A>>, Error> {
        let Self { scan, prefix } = *self;
        match scan.device.backend()?.gpu() {
            None => Err(Error::DeviceInputOnCpu),
            Some(stream) => {
                let arrays = Scan::<A>::arrays::<R>(pointers)?;
                scan.kernel::<R>(stream)?.scan(&scan.aggregate.operator(), prefix, arrays)
            }
        }
    }
}

/// Checks that an output has a place for each result.
pub(super) fn check_output<V: Value>(expected: usize, output: &OutputTarget<'_, V>) -> Result<(), Error> {
    match output.len() {
        length if expected != length => Err(Error::OutputLength { expected, length }),
        _ => Ok(()),
    }
}
