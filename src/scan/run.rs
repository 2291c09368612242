//! The calls of a scan on each backend.

use cudarc::driver::{CudaSlice, CudaStream};

use super::Scan;
use crate::cuda::{AllocateOutput, Arrays, Elements, InputSource, OutputTarget, PrivateStream, ScanKernel};
use crate::language::AsTheyAre;
use crate::source::ArraysOf;
use crate::tree::Prefix;
use crate::{
    Aggregate, DeviceAggregate, DeviceMonoid, Element, Error, Input, Item, Output, Place, Value, cpu,
};

/// The arrays of an aggregate's input, in host memory and in device memory.
type Slices<'a, A> = <<A as Aggregate>::Input as Element>::Slices<'a>;
type Pointers<'a, A> = <<A as Aggregate>::Input as Element>::Pointers<'a>;

/// The results of an aggregate in device memory.
pub(super) type Stored<A> = <<A as Aggregate>::Output as Value>::Stored;

impl<A: DeviceAggregate> Scan<A> {
    pub(super) fn in_new_memory<I: Input<A::Input>>(
        &self,
        prefix: Prefix,
        input: I,
    ) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
        I::Place::allocate_output(input.source(), &Scanned { scan: self, prefix })
            .map_err(Self::name_operator)
    }

    pub(super) fn into<I: Input<A::Input>, O: Output<A::Output>>(
        &self,
        prefix: Prefix,
        input: I,
        mut output: O,
    ) -> Result<(), Error> {
        match input.source() {
            InputSource::Host(slices) => self.host_into(prefix, slices, output.target()),
            InputSource::Device(pointers) => self.device_into(prefix, pointers, output.target()),
        }
        .map_err(Self::name_operator)
    }

    fn host_into(
        &self,
        prefix: Prefix,
        slices: Slices<'_, A>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        let length = Self::length_of(slices)?;
        check_output(length, &output)?;
        let output = match output {
            OutputTarget::Host(places) if self.device.keeps_host_on_cpu() => {
                let (monoid, results) = (self.aggregate.monoid(), cpu::PresentedBy(&self.aggregate));
                let elements = cpu::Prepared::each(&self.aggregate, slices, length);
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
                let (private, scanned) = self.scan_host(stream, prefix, slices, length)?;
                private.download(&scanned, places)
            }
            OutputTarget::Device(places) => {
                self.kernel(stream)?.scan_host_into::<_, A::Input, A::Preparation, _>(
                    &self.aggregate.operator(),
                    prefix,
                    (slices, length),
                    places,
                )
            }
        }
    }

    fn device_into(
        &self,
        prefix: Prefix,
        pointers: Pointers<'_, A>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        let arrays = Self::arrays(pointers)?;
        check_output(arrays.length() as usize, &output)?;
        let backend = self.device.backend()?;
        let Some(stream) = backend.gpu() else {
            return Err(Error::DeviceInputOnCpu);
        };
        let (kernel, operator) = (self.kernel(stream)?, self.aggregate.operator());
        match output {
            OutputTarget::Host(places) => {
                let private = PrivateStream::take(stream.context())?;
                private.download(&kernel.scan::<_, _, Stored<A>>(&operator, prefix, arrays)?, places)
            }
            OutputTarget::Device(places) => kernel.scan_into(&operator, prefix, arrays, places),
        }
    }

    /// The length of the arrays, or of a range. Their items and results fit into an address space.
    fn length_of(slices: Slices<'_, A>) -> Result<usize, Error> {
        let length = cpu::length_of::<A::Input>(slices)?;
        let sizes = [size_of::<Item<A>>(), size_of::<A::Output>(), size_of::<Stored<A>>(), 1];
        let most = isize::MAX as usize / sizes.into_iter().max().unwrap_or(1);
        if length > most { Err(Error::InputLength { length, most }) } else { Ok(length) }
    }

    /// Scans host memory on a GPU. The results are written in the order of the returned stream.
    fn scan_host(
        &self,
        stream: &CudaStream,
        prefix: Prefix,
        slices: Slices<'_, A>,
        length: usize,
    ) -> Result<(PrivateStream, CudaSlice<Stored<A>>), Error> {
        let operator = self.aggregate.operator();
        self.kernel(stream)?.scan_host::<_, A::Input, A::Preparation, _>(&operator, prefix, slices, length)
    }

    /// Arrays in device memory, for the kernels.
    pub(super) fn arrays(pointers: Pointers<'_, A>) -> Result<Arrays<'_, A::Input, A::Preparation>, Error> {
        Arrays::of(pointers)
    }

    pub(super) fn kernel(&self, stream: &CudaStream) -> Result<&ScanKernel, Error> {
        if let Some(kernel) = self.kernel.get() {
            return Ok(kernel);
        }
        let kernel = ScanKernel::of::<A::Operator, ArraysOf<A::Preparation>>(stream.context(), self.policy)?;
        Ok(self.kernel.get_or_init(|| kernel))
    }

    /// Names the operator in the error of a kernel.
    pub(super) fn name_operator(error: Error) -> Error {
        error.of_operator(std::any::type_name::<A>())
    }
}

impl<M: DeviceMonoid> Scan<M> {
    pub(super) fn in_place<O: Output<M::Item>>(&self, prefix: Prefix, mut items: O) -> Result<(), Error> {
        let operator = &self.aggregate;
        let items = match items.target() {
            OutputTarget::Host(items) if self.device.keeps_host_on_cpu() => {
                cpu::scan_in_place(operator, prefix, items);
                return Ok(());
            }
            other => other,
        };
        match (self.device.backend()?.gpu(), items) {
            (None, _) => Err(Error::DeviceInputOnCpu),
            (Some(stream), OutputTarget::Host(items)) => self
                .kernel(stream)?
                .scan_host::<_, M::Item, AsTheyAre, _>(operator, prefix, &*items, items.len())
                .and_then(|(private, scanned)| private.download(&scanned, items)),
            (Some(stream), OutputTarget::Device(items)) => {
                self.kernel(stream)?.scan_in_place(operator, prefix, items)
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

impl<A: DeviceAggregate> AllocateOutput<A::Input, A::Output> for Scanned<'_, A> {
    fn host(&self, slices: Slices<'_, A>) -> Result<Vec<A::Output>, Error> {
        let Self { scan: Scan { device, aggregate, .. }, prefix } = *self;
        let length = Scan::<A>::length_of(slices)?;
        if device.keeps_host_on_cpu() {
            let elements = cpu::Prepared::each(aggregate, slices, length);
            return Ok(cpu::scan(&aggregate.monoid(), prefix, &elements, &cpu::PresentedBy(aggregate)));
        }
        match device.backend()?.gpu() {
            None => unreachable!("the CPU scans host memory above"),
            Some(stream) => {
                let (private, scanned) = self.scan.scan_host(stream, prefix, slices, length)?;
                private.download_all(&scanned)
            }
        }
    }

    fn device(&self, pointers: Pointers<'_, A>) -> Result<CudaSlice<Stored<A>>, Error> {
        let Self { scan, prefix } = *self;
        match scan.device.backend()?.gpu() {
            None => Err(Error::DeviceInputOnCpu),
            Some(stream) => {
                let arrays = Scan::<A>::arrays(pointers)?;
                scan.kernel(stream)?.scan(&scan.aggregate.operator(), prefix, arrays)
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
