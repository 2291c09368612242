use super::{Number, Real, operators};
use crate::{Commutative, Monoid, math, monoid};

operators! {
    /// The smaller item. For floats IEEE 754-2019 `minimum`: -0 is below +0, and a NaN wins.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Min};
    ///
    /// let smallest = Reduction::<Min<f32>>::new(Device::auto());
    /// assert_eq!(smallest.run(&[21.5, 19.0, 23.25])?, 19.0);
    /// assert!(smallest.run(&[21.5, f32::NAN])?.is_nan());
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Min;
    /// The larger item. For floats IEEE 754-2019 `maximum`: -0 is below +0, and a NaN wins.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Max};
    ///
    /// let largest = Reduction::<Max<i32>>::new(Device::auto());
    /// assert_eq!(largest.run(&[-3, 7, 4])?, 7);
    /// assert_eq!(largest.run(&[])?, i32::MIN);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Max;
    /// The smaller float; NaNs are ignored (IEEE 754-2019 `minimumNumber`). The identity is NaN.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::MinNumber};
    ///
    /// let smallest = Reduction::<MinNumber<f64>>::new(Device::auto());
    /// assert_eq!(smallest.run(&[21.5, f64::NAN, 23.25])?, 21.5);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    MinNumber;
    /// The larger float; NaNs are ignored (IEEE 754-2019 `maximumNumber`). The identity is NaN.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::MaxNumber};
    ///
    /// let largest = Scan::<MaxNumber<f32>>::new(Device::auto());
    /// assert_eq!(largest.inclusive(&[1.5, f32::NAN, 2.5])?, [1.5, 1.5, 2.5]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    MaxNumber;
}

#[monoid]
impl<T: Number> Monoid for Min<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::MAX
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        Number::minimum(left, right)
    }
}

#[monoid]
impl<T: Number> Monoid for Max<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::MIN
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        Number::maximum(left, right)
    }
}

#[monoid]
impl<T: Real> Monoid for MinNumber<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::nan()
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        math::minimum_number(left, right)
    }
}

#[monoid]
impl<T: Real> Monoid for MaxNumber<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::nan()
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        math::maximum_number(left, right)
    }
}

impl<T: Number> Commutative for Min<T> {}
impl<T: Number> Commutative for Max<T> {}
impl<T: Real> Commutative for MinNumber<T> {}
impl<T: Real> Commutative for MaxNumber<T> {}
