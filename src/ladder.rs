//! The ladder: reductions and scans as courses on GPU programming teach them, each a rung above the one before it.
//!
//! A [`Rung`] is one kernel, a file of `templates/ladder/` that is made to be read; its head comment is its
//! [`explanation`](Rung::explanation). A [`Ladder`] runs the rungs with any operator, to be compared and measured: on a GPU,
//! for that is what they are about. `docs/LADDER.md` walks through them, and the example `ladder` measures them. What
//! the lessons lead to are [`Reduction`](crate::Reduction) and [`Scan`](crate::Scan), which are faster than every rung, keep the
//! order, and return the same bits everywhere; a rung's tree is its own, so that its bits are, too.
//!
//! Rungs that [keep the order](Rung::keeps_order) of the items take any operator; the others need one that is
//! [`Commutative`].
//!
//! ```
//! use warpfold::{Device, Error, ladder::{Ladder, Rung}, operators::Sum};
//!
//! let ladder = Ladder::<Sum<u32>>::new(Device::auto()).threads(128);
//! match ladder.reduce(Rung::SequentialAddressing, &[1, 2, 3, 4, 5]) {
//!     Ok(sum) => assert_eq!(sum, 15),
//!     Err(Error::Rung { reason, .. }) => println!("it {reason}"),
//!     Err(error) => return Err(error),
//! }
//! # Ok::<(), Error>(())
//! ```

use std::fmt;
use std::sync::OnceLock;

use cudarc::driver::{CudaSlice, DevicePtr};

use crate::cuda::{Backend, InputSource, LadderKernels, Make};
use crate::plan::ladder::MOST_SHARED_BYTES;
#[doc(inline)]
pub use crate::plan::ladder::{Finish, Role, Rung, Step};
#[doc(hidden)]
pub use crate::plan::ladder::{Launcher, Plan};
use crate::source::Source;
use crate::{Commutative, Device, DeviceMonoid, DeviceType, Error, Input, Kind, Layout, Scalar};

/// Runs the rungs with the operator `M` on a GPU.
///
/// Kernels are compiled when they are first needed, one for each rung and size of a block. Memory for what a launch leaves
/// to the next comes from the context's pool, call by call.
pub struct Ladder<M> {
    device: Device,
    operator: M,
    threads: u32,
    finish: Finish,
    /// Whether the operator has said that it commutes.
    commutes: bool,
    /// Whether it has said that it is an addition.
    adds: bool,
    kernels: OnceLock<LadderKernels>,
}

impl<M: DeviceMonoid> Ladder<M> {
    /// All rungs, with a parameterless operator.
    pub fn new(device: impl Into<Device>) -> Self
    where
        M: Commutative + Default,
    {
        Self::with(device, M::default())
    }

    /// All rungs, with an operator that has run-time parameters.
    pub fn with(device: impl Into<Device>, operator: M) -> Self
    where
        M: Commutative,
    {
        let adds = M::IS_ADDITION && is_added_by_atomics(&M::Item::layout());
        Self { commutes: true, adds, ..Self::in_order(device, operator) }
    }

    /// The rungs that [keep the order](Rung::keeps_order), with any operator.
    pub fn in_order(device: impl Into<Device>, operator: M) -> Self {
        const { assert!(size_of::<M::Item>() <= 256, "an item has at most 256 bytes") };
        Self {
            device: device.into(),
            operator,
            threads: 256,
            finish: Finish::default(),
            commutes: false,
            adds: false,
            kernels: OnceLock::new(),
        }
    }

    /// Blocks of so many threads: a power of two from 32 to 1024. Without this they have 256.
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// Who combines what a launch leaves. Without this, further launches do.
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The value of the input, by a rung that reduces. The call returns when it is there.
    ///
    /// # Errors
    ///
    /// [`Error::Rung`] if the rung cannot do that: on the CPU, for an operator that does not commute, or for such items and
    /// blocks; and what else keeps the device from running.
    pub fn reduce<I: Input<M::Item>>(&self, rung: Rung, input: I) -> Result<M::Item, Error> {
        self.check(rung, Role::Reduces)?;
        let backend = self.device.backend()?;
        let kernels = self.kernels(rung, &backend)?;
        match input.source() {
            InputSource::Host([]) => Ok(self.operator.identity()),
            InputSource::Host(items) => {
                let private = kernels.private_stream()?;
                self.reduce_on(rung, &private.upload(items)?, kernels)
            }
            InputSource::Device(items) if items.len() == 0 => Ok(self.operator.identity()),
            InputSource::Device(items) => self.reduce_on(rung, items, kernels),
        }
    }

    fn reduce_on(
        &self,
        rung: Rung,
        items: &dyn DevicePtr<M::Item>,
        kernels: &LadderKernels,
    ) -> Result<M::Item, Error> {
        let mut launcher = kernels.launcher(&self.operator, self.adds, false, items.stream())?;
        let input = launcher.given(items);
        let (left, count) = self.plan(rung).reduce(&mut launcher, input, items.len() as u64)?;
        let values = launcher.fetch(&left, count as usize)?;
        let combined = values.into_iter().reduce(|left, right| self.operator.combine(left, right));
        Ok(combined.unwrap_or_else(|| self.operator.identity()))
    }

    /// Of each item, the value of all items up to it, by a rung that scans, in new memory of the input's kind. Where there are
    /// several blocks, [`Rung::Hierarchical`] completes it.
    ///
    /// # Errors
    ///
    /// As for [`reduce`](Self::reduce).
    pub fn inclusive<I: Input<M::Item>>(&self, rung: Rung, input: I) -> Result<I::Owned, Error> {
        self.check(rung, Role::Scans)?;
        input.made_by(&Scanned { ladder: self, rung, exclusive: false })
    }

    /// Of each item, the value of all items before it: an [`inclusive`](Self::inclusive) scan, and [`Rung::Exclusive`].
    ///
    /// # Errors
    ///
    /// As for [`reduce`](Self::reduce).
    pub fn exclusive<I: Input<M::Item>>(&self, rung: Rung, input: I) -> Result<I::Owned, Error> {
        self.check(rung, Role::Scans)?;
        input.made_by(&Scanned { ladder: self, rung, exclusive: true })
    }

    /// The rendered CUDA C++ of a rung, on any machine.
    pub fn source(&self, rung: Rung) -> Result<Source, Error> {
        self.check(rung, rung.role())?;
        Source::of_rung::<M>(rung, self.threads, self.adds)
    }

    fn plan(&self, rung: Rung) -> Plan {
        Plan { rung, threads: self.threads, finish: self.finish }
    }

    fn check(&self, rung: Rung, role: Role) -> Result<(), Error> {
        let fail = |reason| Err(Error::Rung { rung: rung.name(), reason });
        if rung.role() != role {
            return fail(match role {
                Role::Reduces => "does not reduce",
                Role::Scans | Role::Completes => "does not scan an input",
            });
        }
        if !self.commutes && !rung.keeps_order() {
            return fail("changes the order of the items: the operator must be `Commutative`");
        }
        if !self.threads.is_power_of_two() || !(32..=1024).contains(&self.threads) {
            return fail("has blocks of 32 to 1024 threads, a power of two");
        }
        if rung == Rung::Atomics && size_of::<M::Item>() > 4 && !self.adds {
            return fail("combines items of at most 4 bytes, or adds");
        }
        if rung.shared_bytes(self.threads, &M::Item::layout()) > MOST_SHARED_BYTES {
            return fail(
                "has no room for such items in the 48 KiB of a block: it takes blocks of fewer threads",
            );
        }
        Ok(())
    }

    fn kernels(&self, rung: Rung, backend: &Backend<'_>) -> Result<&LadderKernels, Error> {
        let Backend::Cuda { stream, .. } = backend else {
            return Err(Error::Rung {
                rung: rung.name(),
                reason: "runs on a GPU, and the device is the CPU",
            });
        };
        if let Some(kernels) = self.kernels.get() {
            return Ok(kernels);
        }
        let kernels = LadderKernels::new::<M>(stream.context())?;
        Ok(self.kernels.get_or_init(|| kernels))
    }
}

/// Whether atomic instructions add such items.
fn is_added_by_atomics(item: &Layout) -> bool {
    use Scalar::{F32, F64, I32, I64, U32, U64};
    matches!(item.kind, Kind::Scalar(I32 | I64 | U32 | U64 | F32 | F64))
}

/// The scan of an input that is being asked for.
struct Scanned<'a, M> {
    ladder: &'a Ladder<M>,
    rung: Rung,
    exclusive: bool,
}

impl<M: DeviceMonoid> Make<M::Item> for Scanned<'_, M> {
    fn host(&self, items: &[M::Item]) -> Result<Vec<M::Item>, Error> {
        let backend = self.ladder.device.backend()?;
        let private = self.ladder.kernels(self.rung, &backend)?.private_stream()?;
        private.download_all(&self.device(&private.upload(items)?)?)
    }

    fn device(&self, items: &dyn DevicePtr<M::Item>) -> Result<CudaSlice<M::Item>, Error> {
        let Self { ladder, rung, exclusive } = *self;
        let backend = ladder.device.backend()?;
        let kernels = ladder.kernels(rung, &backend)?;
        let mut launcher = kernels.launcher(&ladder.operator, ladder.adds, exclusive, items.stream())?;
        if items.len() == 0 {
            return launcher.allocate(0);
        }
        let input = launcher.given(items);
        let scanned = ladder.plan(rung).scan(&mut launcher, exclusive, input, items.len() as u64)?;
        Ok(launcher.own(scanned))
    }
}

impl<M> fmt::Debug for Ladder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ladder")
            .field("operator", &std::any::type_name::<M>())
            .field("device", &self.device)
            .field("threads", &self.threads)
            .field("finish", &self.finish)
            .finish_non_exhaustive()
    }
}
