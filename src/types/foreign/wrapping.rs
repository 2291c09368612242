use std::num::Wrapping;

use super::structs;
use crate::DeviceType;

structs! { #[generics(T: DeviceType + Default)] Wrapping<T> { 0 } }
