//! The ladder: the reductions and scans that courses on GPU programming teach, in their order.
//!
//! A [`Rung`] is one kernel: a file of `templates/ladder/`, written to be read. Its head comment is
//! its [`explanation`](Rung::explanation). A [`Ladder`] runs the rungs on a GPU with any operator,
//! to compare and measure them. `docs/LADDER.md` describes them, and the example `ladder` measures
//! them.
//!
//! [`Reduction`](crate::Reduction) and [`Scan`](crate::Scan) are faster than every rung, keep the
//! order of the items, and return the same bits everywhere. Each rung combines the items in a tree
//! of its own, so its bits may differ from those.
//!
//! Rungs that [keep the order](Rung::keeps_order) of the items take any operator. The others need
//! one that is [`Commutative`].
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
use std::sync::{Arc, OnceLock};

use cudarc::driver::{CudaSlice, DevicePtr};

use crate::cuda::{AllocateOutput, Backend, InputSource, LadderKernels};
use crate::language::check_sizes;
use crate::plan::ladder::MAX_SHARED_BYTES;
#[doc(inline)]
pub use crate::plan::ladder::{Finish, Role, Rung, Step};
#[doc(hidden)]
pub use crate::plan::ladder::{Launcher, Plan};
use crate::source::Source;
use crate::types::Array;
use crate::{
    Commutative, Device, DeviceMonoid, DeviceType, Error, Input, Kind, Layout, Place, Scalar, Value,
};

/// Runs the rungs with the operator `M` on a GPU.
///
/// A kernel is compiled on first use, one for each pair of rung and block size. Memory that one
/// launch passes to the next is allocated from the context's pool in each call.
///
/// ```no_run
/// use warpfold::{Device, ladder::{Ladder, Rung}, operators::Sum};
///
/// let ladder = Ladder::<Sum<u32>>::new(Device::cuda(0)?);
/// let ones = vec![1; 1 << 20];
/// for rung in [Rung::Interleaved, Rung::Cascading, Rung::Shuffles] {
///     assert_eq!(ladder.reduce(rung, &ones)?, 1 << 20, "{}", rung.name());
/// }
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a ladder does nothing until it runs"]
pub struct Ladder<M> {
    device: Device,
    operator: M,
    threads: u32,
    finish: Finish,
    /// Whether the ladder was created with an operator that is [`Commutative`].
    commutes: bool,
    /// Whether the operator is an addition that atomic instructions perform on these items.
    adds: bool,
    kernels: OnceLock<Arc<LadderKernels>>,
}

impl<M> Ladder<M> {
    /// Creates a ladder of all rungs, with an operator that has no parameters.
    ///
    /// ```
    /// use warpfold::{Device, ladder::{Ladder, Rung}, operators::Max};
    ///
    /// let ladder = Ladder::<Max<f32>>::new(Device::auto());
    /// let source = ladder.source(Rung::SequentialAddressing)?;
    /// assert!(source.text().contains("sequential_addressing"));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn new(device: impl Into<Device>) -> Self
    where
        M: Commutative + DeviceMonoid + Default,
    {
        Self::with(device, M::default())
    }

    /// Creates a ladder of all rungs, with an operator that has run-time parameters.
    ///
    /// ```
    /// use warpfold::ladder::{Ladder, Rung};
    /// use warpfold::{Commutative, Device, DeviceType, Monoid, monoid};
    ///
    /// /// Addition modulo `self.modulus`.
    /// #[derive(Clone, Copy, DeviceType)]
    /// #[repr(C)]
    /// struct ModularSum { modulus: u32 }
    ///
    /// #[monoid]
    /// impl Monoid for ModularSum {
    ///     type Item = u32;
    ///     fn identity(&self) -> u32 { 0 }
    ///     fn combine(&self, left: u32, right: u32) -> u32 { (left + right) % self.modulus }
    /// }
    /// impl Commutative for ModularSum {}
    ///
    /// let ladder = Ladder::with(Device::auto(), ModularSum { modulus: 7 });
    /// assert!(ladder.source(Rung::Cascading)?.program().contains("modulus"));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn with(device: impl Into<Device>, operator: M) -> Self
    where
        M: Commutative + DeviceMonoid,
    {
        let adds = M::IS_ADDITION && is_added_by_atomics(&M::Item::layout());
        Self { commutes: true, adds, ..Self::in_order(device, operator) }
    }

    /// Creates a ladder of the rungs that [keep the order](Rung::keeps_order), with any operator.
    ///
    /// ```
    /// use warpfold::ladder::{Ladder, Rung};
    /// use warpfold::{Device, Error, operators::Matrix2Product};
    ///
    /// let ladder = Ladder::in_order(Device::auto(), Matrix2Product::<f32>::new());
    /// assert!(ladder.source(Rung::BottomUp).is_ok());
    /// assert!(matches!(ladder.source(Rung::Cascading), Err(Error::Rung { .. })));
    /// ```
    pub fn in_order(device: impl Into<Device>, operator: M) -> Self
    where
        M: DeviceMonoid,
    {
        const { check_sizes::<M>() };
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
}

impl<M: DeviceMonoid> Ladder<M> {
    /// Sets the threads of a block: a power of two from 32 to 1024. The default is 256.
    ///
    /// ```
    /// use warpfold::{Device, ladder::{Ladder, Rung}, operators::Sum};
    ///
    /// let ladder = Ladder::<Sum<f32>>::new(Device::auto());
    /// assert!(ladder.clone().threads(128).source(Rung::Strided).is_ok());
    /// assert!(ladder.threads(100).source(Rung::Strided).is_err());
    /// ```
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// Sets how the results of the blocks are combined. By default further launches do it.
    ///
    /// ```no_run
    /// use warpfold::ladder::{Finish, Ladder, Rung};
    /// use warpfold::{Device, operators::Sum};
    ///
    /// let ladder = Ladder::<Sum<f32>>::new(Device::cuda(0)?).finish(Finish::Host);
    /// assert_eq!(ladder.reduce(Rung::Cascading, &vec![0.5; 4096])?, 2048.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// The device of the calls.
    ///
    /// ```
    /// use warpfold::{Device, ladder::Ladder, operators::Sum};
    ///
    /// let ladder = Ladder::<Sum<u32>>::new(Device::cpu());
    /// assert!(!ladder.device().is_gpu());
    /// ```
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Reduces the input with a rung that reduces. The call blocks until the result is on the host.
    ///
    /// # Errors
    ///
    /// - [`Error::Rung`] if the device is the CPU, or the rung does not reduce.
    /// - [`Error::Rung`] if the rung needs an operator that commutes, or does not support these
    ///   items or this block size.
    /// - The errors of the driver, of CUDA, of NVRTC and of compilation.
    ///
    /// ```no_run
    /// use warpfold::{Device, ladder::{Ladder, Rung}, operators::Min};
    ///
    /// let ladder = Ladder::<Min<f32>>::new(Device::cuda(0)?);
    /// assert_eq!(ladder.reduce(Rung::LastBlock, &[21.5, 19.0, 23.25])?, 19.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn reduce<I: Input<M::Item>>(&self, rung: Rung, input: I) -> Result<M::Item, Error>
    where
        M::Item: Value<Stored = M::Item>,
    {
        self.check(rung, Role::Reduces)?;
        let backend = self.device.backend()?;
        let kernels = self.kernels(rung, &backend)?;
        match input.source().in_one_array() {
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
    ) -> Result<M::Item, Error>
    where
        M::Item: Value<Stored = M::Item>,
    {
        let mut launcher = kernels.launcher(&self.operator, self.adds, false, items.stream())?;
        let input = launcher.given(items);
        let (left, count) = self.plan(rung).reduce(&mut launcher, input, items.len() as u64)?;
        let values = launcher.fetch(&left, count as usize)?;
        let combined = values.into_iter().reduce(|left, right| self.operator.combine(left, right));
        Ok(combined.unwrap_or_else(|| self.operator.identity()))
    }

    /// Returns the inclusive scan of the input, by a rung that scans, in new memory of the input's
    /// kind.
    ///
    /// If the input needs several blocks, [`Rung::Hierarchical`] completes the scan.
    ///
    /// # Errors
    ///
    /// The errors of [`reduce`](Self::reduce), and [`Error::Rung`] if the rung does not scan.
    ///
    /// ```no_run
    /// use warpfold::{Device, ladder::{Ladder, Rung}, operators::Sum};
    ///
    /// let ladder = Ladder::<Sum<u32>>::new(Device::cuda(0)?);
    /// assert_eq!(ladder.inclusive(Rung::KoggeStone, &[3, 1, 4, 1])?, [3, 4, 8, 9]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn inclusive<I: Input<M::Item>>(
        &self,
        rung: Rung,
        input: I,
    ) -> Result<<I::Place as Place>::Memory<M::Item>, Error>
    where
        M::Item: Value<Stored = M::Item>,
    {
        self.check(rung, Role::Scans)?;
        I::Place::allocate_output(
            input.source().in_one_array(),
            &Scanned { ladder: self, rung, exclusive: false },
        )
    }

    /// Returns the exclusive scan of the input: an [`inclusive`](Self::inclusive) scan, and then
    /// [`Rung::Exclusive`].
    ///
    /// # Errors
    ///
    /// The errors of [`inclusive`](Self::inclusive).
    ///
    /// ```no_run
    /// use warpfold::{Device, ladder::{Ladder, Rung}, operators::Sum};
    ///
    /// let ladder = Ladder::<Sum<u32>>::new(Device::cuda(0)?);
    /// assert_eq!(ladder.exclusive(Rung::BrentKung, &[3, 1, 4, 1])?, [0, 3, 4, 8]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn exclusive<I: Input<M::Item>>(
        &self,
        rung: Rung,
        input: I,
    ) -> Result<<I::Place as Place>::Memory<M::Item>, Error>
    where
        M::Item: Value<Stored = M::Item>,
    {
        self.check(rung, Role::Scans)?;
        I::Place::allocate_output(
            input.source().in_one_array(),
            &Scanned { ladder: self, rung, exclusive: true },
        )
    }

    /// The rendered CUDA C++ of a rung. The call needs no GPU.
    ///
    /// # Errors
    ///
    /// - [`Error::Rung`] if the rung needs an operator that commutes, or does not support these
    ///   items or this block size.
    /// - The errors of an operator that has no CUDA C++ form, such as [`Error::Untranslatable`].
    ///
    /// ```
    /// use warpfold::{Device, ladder::{Ladder, Rung}, operators::Sum};
    ///
    /// let source = Ladder::<Sum<f32>>::new(Device::cpu()).source(Rung::KoggeStone)?;
    /// assert!(source.text().contains("void kogge_stone("));
    /// println!("{source}");
    /// # Ok::<(), warpfold::Error>(())
    /// ```
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
                Role::Reduces => "does not reduce: choose a rung with `Role::Reduces`",
                Role::Scans | Role::Completes => "does not scan an input",
            });
        }
        if !self.commutes && !rung.keeps_order() {
            return fail("changes the order of the items: the operator must be `Commutative`");
        }
        if !self.threads.is_power_of_two() || !(32..=1024).contains(&self.threads) {
            return fail("has blocks of 32 to 1024 threads, a power of two: set them by `Ladder::threads`");
        }
        if rung == Rung::Atomics && size_of::<M::Item>() > 4 && !self.adds {
            return fail("combines items of at most 4 bytes, or adds: choose another rung");
        }
        if rung.shared_bytes(self.threads, &M::Item::layout()) > MAX_SHARED_BYTES {
            return fail(
                "has no room for such items in the 48 KiB of a block: it takes blocks of fewer threads",
            );
        }
        Ok(())
    }

    fn kernels(&self, rung: Rung, backend: &Backend<'_>) -> Result<&LadderKernels, Error> {
        let Some(stream) = backend.gpu() else {
            return Err(Error::Rung {
                rung: rung.name(),
                reason: "runs on a GPU, and the device is the CPU: create the ladder with `Device::cuda`",
            });
        };
        if let Some(kernels) = self.kernels.get() {
            return Ok(kernels);
        }
        let kernels = LadderKernels::new::<M>(stream.context())?;
        Ok(self.kernels.get_or_init(|| Arc::new(kernels)))
    }
}

/// Whether atomic instructions add values of this type.
fn is_added_by_atomics(item: &Layout) -> bool {
    use Scalar::{F32, F64, I32, I64, U32, U64};
    matches!(item.kind, Kind::Scalar(I32 | I64 | U32 | U64 | F32 | F64))
}

/// Allocates the output of a scan and fills it.
struct Scanned<'a, M> {
    ladder: &'a Ladder<M>,
    rung: Rung,
    exclusive: bool,
}

impl<M> AllocateOutput<Array<M::Item>, M::Item> for Scanned<'_, M>
where
    M: DeviceMonoid,
    M::Item: Value<Stored = M::Item>,
{
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
