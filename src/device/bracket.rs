//! The bracket as launches: the kernel of one operator in one context, and what it is given.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};

use super::driver::{RelaxedCapture, architecture, check, check_allocation, is_capturing};
use super::module::{Kernel, Module};
use super::workspace::{Workspace, WorkspaceSize, Workspaces, lock};
use crate::codegen::{Arguments, KERNEL, Source};
use crate::policy::Launch;
use crate::{DeviceMonoid, Error, Policy, jit};

/// A compiled operator, loaded into a context.
#[derive(Debug)]
pub(crate) struct BracketKernel {
    context: Arc<CudaContext>,
    kernel: Kernel,
    policy: Policy,
    /// Whether the kernel reads the operator's value.
    has_state: bool,
    workspaces: Workspaces,
    // Dropped after what was launched from it.
    _module: Module,
}

/// Some items on the device, of some type.
#[derive(Clone, Copy)]
struct Span {
    address: u64,
    length: u64,
}

impl BracketKernel {
    pub(crate) fn load<M: DeviceMonoid>(context: &Arc<CudaContext>, policy: Policy) -> Result<Self, Error> {
        Self::load_for::<M>(context, policy, jit::target(architecture(context)?)?)
    }

    fn load_for<M: DeviceMonoid>(
        context: &Arc<CudaContext>,
        policy: Policy,
        target: jit::Target,
    ) -> Result<Self, Error> {
        let _relaxed = RelaxedCapture::enter()?;
        let source = Source::of_reduction::<M>(&policy)?;
        let image = jit::compile(&source, target)?;
        let module = Module::load(context, &image)?;
        let item = size_of::<M::Item>();
        let size = WorkspaceSize { partials: item * policy.max_blocks as usize, result: item };
        Ok(Self {
            context: context.clone(),
            kernel: module.kernel(KERNEL)?,
            policy,
            has_state: source.has_state(),
            workspaces: Workspaces::new(context, size),
            _module: module,
        })
    }

    /// Makes the workspace of a stream ahead of its first use.
    pub(crate) fn reserve(&self, stream: &CudaStream) -> Result<(), Error> {
        let _relaxed = RelaxedCapture::enter()?;
        self.workspaces.of_stream(stream).map(|_| ())
    }

    /// The bracket of items in host memory, copied to the device in the order of `stream`.
    pub(crate) fn run_host<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &[M::Item],
        stream: &Arc<CudaStream>,
    ) -> Result<M::Item, Error> {
        let _relaxed = RelaxedCapture::enter()?;
        if is_capturing(stream)? {
            return Err(Error::StreamIsCapturing);
        }
        // SAFETY: every item is written before it is read, by the copy that comes next in the stream.
        let allocated = unsafe { stream.alloc::<M::Item>(items.len()) };
        let mut copy: CudaSlice<M::Item> = check_allocation(&self.context, size_of_val(items), allocated)?;
        check("copying to the device", stream.memcpy_htod(items, &mut copy))?;
        let result = self.run(operator, &copy);
        if result.is_err() {
            // The copy may still read the caller's memory; what failed is already known.
            let _ = stream.synchronize();
        }
        result
    }

    /// The bracket of items in device memory.
    pub(crate) fn run<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &dyn DevicePtr<M::Item>,
    ) -> Result<M::Item, Error> {
        let _relaxed = RelaxedCapture::enter()?;
        let stream = items.stream();
        self.check_context("input", stream)?;
        if is_capturing(stream)? {
            return Err(Error::StreamIsCapturing);
        }
        let workspace = self.workspaces.of_stream(stream)?;
        // Held until the result is read: another thread's run on this stream would overwrite it.
        let workspace = lock(&workspace);
        let (address, _read) = items.device_ptr(stream);
        let span = Span { address, length: items.len() as u64 };
        self.enqueue(operator, span, workspace.result_on_device(), &workspace, stream)?;
        check("waiting for the result", stream.synchronize())?;
        // SAFETY: the last kernel wrote an item there, and the stream has ended all its work.
        Ok(unsafe { workspace.result() })
    }

    /// Lets the stream of `items` write their bracket to `output`, when it gets there.
    pub(crate) fn run_into<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &dyn DevicePtr<M::Item>,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        let _relaxed = RelaxedCapture::enter()?;
        let stream = items.stream();
        self.check_context("input", stream)?;
        self.check_context("output", output.stream())?;
        if output.len() != 1 {
            return Err(Error::OutputLength { length: output.len() });
        }
        let length = items.len() as u64;
        if is_capturing(stream)? {
            let (address, target) = captured_addresses(items, output)?;
            return self.workspaces.of_graph(|workspace| {
                self.enqueue(operator, Span { address, length }, target, workspace, stream)
            });
        }
        let workspace = self.workspaces.of_stream(stream)?;
        let workspace = lock(&workspace);
        // What cudarc tracks may not reach both streams: one may be borrowed, or be counted by another context.
        let other = (output.stream() != stream).then(|| output.stream().clone());
        if let Some(other) = &other {
            check("waiting for the output's stream", stream.join(other))?;
        }
        let (address, _read) = items.device_ptr(stream);
        let (target, _written) = output.device_ptr_mut(stream);
        let enqueued = self.enqueue(operator, Span { address, length }, target, &workspace, stream);
        // Recorded after a failure, too: the first of two launches may be under way.
        workspace.record_use(stream)?;
        if let Some(other) = &other {
            check("letting the output's stream wait", other.join(stream))?;
        }
        enqueued
    }

    fn check_context(&self, what: &'static str, stream: &CudaStream) -> Result<(), Error> {
        if *stream.context() == self.context {
            return Ok(());
        }
        let device = super::Device::from(self.context.clone()).to_string();
        Err(Error::WrongContext { what, device })
    }

    /// Launches all that it takes to write the bracket of `items` to `output`.
    fn enqueue<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: Span,
        output: u64,
        workspace: &Workspace,
        stream: &CudaStream,
    ) -> Result<(), Error> {
        check("binding the context", self.context.bind_to_thread())?;
        let (first, second) = self.policy.launches(items.length);
        match second {
            None => self.launch(operator, first, items, output, stream),
            Some(second) => {
                let partials = Span { address: workspace.partials(), length: u64::from(first.blocks) };
                self.launch(operator, first, items, partials.address, stream)?;
                self.launch(operator, second, partials, output, stream)
            }
        }
    }

    fn launch<M: DeviceMonoid>(
        &self,
        operator: &M,
        launch: Launch,
        items: Span,
        output: u64,
        stream: &CudaStream,
    ) -> Result<(), Error> {
        let mut arguments = Arguments {
            input: items.address,
            length: items.length,
            output,
            tiles_per_warp: launch.tiles_per_warp,
            identity: operator.identity(),
        };
        // An operator without state is an empty struct, which in C++ has one byte.
        let mut operator = *operator;
        let mut nothing = 0_u8;
        let state: *mut c_void = match self.has_state {
            true => (&raw mut operator).cast(),
            false => (&raw mut nothing).cast(),
        };
        let mut parameters = [(&raw mut arguments).cast(), state];
        // SAFETY: the kernel takes these two parameters, whose layouts its source asserts. The input is a slice that
        // its stream keeps, the output has room for one item a block (the partials for `max_blocks` of them), and
        // both stay until the stream has passed: slices are freed in stream order, workspaces after draining.
        unsafe { self.kernel.launch(stream, launch.blocks, self.policy.warps * 32, &mut parameters) }
    }
}

/// The addresses of slices whose use a graph records.
///
/// Whoever replays the graph orders it after what fills its input. The events by which cudarc tracks a slice may have
/// been recorded before the capture, and the capturing stream must not wait for those: a stream of our own does. If
/// one was recorded within the capture, that stream is part of it now, and is joined to the capturing one.
fn captured_addresses<T>(
    items: &dyn DevicePtr<T>,
    output: &mut dyn DevicePtrMut<T>,
) -> Result<(u64, u64), Error> {
    let stream = items.stream();
    let tracked =
        [stream, output.stream()].iter().any(|of| of.context().is_managing_stream_synchronization());
    let outside = match tracked {
        true => check("creating a stream", stream.context().new_stream())?,
        false => stream.clone(),
    };
    let (address, read) = items.device_ptr(&outside);
    let (target, written) = output.device_ptr_mut(&outside);
    std::mem::forget((read, written));
    if tracked && is_capturing(&outside)? {
        check("joining the capture", stream.join(&outside))?;
    }
    Ok((address, target))
}

#[cfg(all(test, feature = "laws"))]
mod tests {
    use super::*;
    use crate::operators::AffineComposition;
    use crate::{DeviceType, tree};

    /// What a GPU newer than NVRTC runs: PTX that the driver finishes.
    #[test]
    fn gpu_is_the_cpu_through_ptx() {
        let Some(device) = crate::laws::gpu() else { return };
        let stream = device.stream().expect("a GPU");
        let context = stream.context();
        let architecture = architecture(context).expect("answers");
        let target = jit::Target { architecture, form: jit::Form::Ptx };
        let policy = Policy::for_item(&<[u32; 2]>::layout());
        let kernel =
            BracketKernel::load_for::<AffineComposition<u32>>(context, policy, target).expect("loads");
        let operator = AffineComposition::new();
        for length in [1_u32, 2, 1000, 100_001] {
            let items: Vec<[u32; 2]> = (0..length).map(|i| [i | 1, i.wrapping_mul(2_654_435_761)]).collect();
            let got = kernel.run_host(&operator, &items, stream).expect("runs");
            assert_eq!(got, tree::bracket(&operator, &items), "{length} items");
        }
    }
}
