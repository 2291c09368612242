use num_complex::Complex;

use super::structs;
use crate::DeviceType;

structs! { #[generics(T: DeviceType + Default)] Complex<T> { re, im } }
