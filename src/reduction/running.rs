//! Running totals.

use super::Reduction;
use crate::cuda::{Elements, InputSource};
use crate::{DeviceMonoid, Error, Input, cpu};

impl<M: DeviceMonoid> Reduction<M> {
    /// Goes on with a running total: `init` combined with the bracket of the input, once, on the
    /// left. Without items, `init` itself.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run). An empty input is not checked.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let sum = Reduction::<Sum<u64>>::new(Device::auto());
    /// let mut total = 0;
    /// for chunk in [[1, 2], [3, 4]] {
    ///     total = sum.run_from(total, &chunk)?;
    /// }
    /// assert_eq!(total, 10);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn run_from<I: Input<M::Item>>(&self, init: M::Item, input: I) -> Result<M::Item, Error> {
        let source = input.source();
        let length = match &source {
            InputSource::Host(slices) => cpu::length_of::<I::Arrangement>(*slices)?,
            InputSource::Device(pointers) => Self::arrays::<I::Arrangement>(*pointers)?.length() as usize,
        };
        match length {
            0 => Ok(init),
            _ => {
                let (item, _) = self.run_source(source).map_err(Self::name_operator)?;
                Ok(self.aggregate.combine(init, item))
            }
        }
    }
}
