#![doc = include_str!("../README.md")]
//!
//! # Features
//!
//! | feature | adds |
//! | --- | --- |
//! | `half` | the 16-bit floats `half::f16` and `half::bf16` as device types |
//! | `num-complex` | `Complex` as a device type, with its arithmetic |
//! | `glam` | vectors, matrices, quaternions and affine maps of glam 0.34 as device types |
//! | `nalgebra` | vectors, matrices, points and quaternions of nalgebra 0.35 as device types |
//! | `bytemuck` | `Pod`, which makes any `bytemuck::Pod` type a device type |
//! | `laws` | `warpfold::laws`: the laws of an operator as tests, on every backend |
//! | `ladder` | `warpfold::ladder`: textbook reductions and scans, step by step |
//! | `internals` | `plan`, `source` and `jit`, for warpfold's own tests; no stability promises |
//!
//! No feature is on by default.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]
// Plans, rendering and the JIT are public with `internals` only. Without it some of their items have
// no caller.
#![cfg_attr(not(feature = "internals"), allow(dead_code, unreachable_pub, unused_imports))]

extern crate self as warpfold;

#[cfg(feature = "ladder")]
pub mod ladder;
#[doc(hidden)]
pub mod language;
#[cfg(feature = "laws")]
pub mod laws;
pub mod operators;
#[cfg(feature = "internals")]
pub mod plan;
#[cfg(feature = "internals")]
pub mod source;

mod cpu;
mod cuda;
mod error;
mod explanation;
#[cfg(not(feature = "internals"))]
mod plan;
mod reduction;
mod scan;
#[cfg(not(feature = "internals"))]
mod source;
mod types;

#[cfg(feature = "internals")]
pub use cuda::jit;
#[cfg(not(feature = "internals"))]
pub(crate) use cuda::jit;
pub use cuda::{Device, DeviceInput, DeviceMemory, HostMemory, Input, OnDevice, Output, Place};
pub use cudarc;
pub use error::{Error, LoaderError};
pub use explanation::{ExplainedLaunch, Explanation};
pub use language::{DeviceAggregate, DeviceCall, DeviceCode, DeviceFunction, DeviceMonoid, DeviceOperator};
#[doc(inline)]
pub use operators::aggregates;
#[doc(inline)]
pub use operators::{Aggregate, Commutative, Function, Item, Monoid, math, tree};
#[cfg(feature = "internals")]
pub use plan::Policy;
pub use reduction::{Reduction, Rows};
pub use scan::Scan;
pub use source::Source;
#[cfg(feature = "bytemuck")]
pub use types::Pod;
pub use types::{
    Architecture, Bit, Bitmap, DeviceType, Element, Field, Kind, Layout, Literal, Maybe, Offset, Offsets,
    Scalar, Tuple2, Tuple3, Tuple4, Tuple5, Tuple6, Tuple7, Tuple8, Value,
};
pub use warpfold_macros::{DeviceType, aggregate, device, device_code, monoid};

#[cfg(test)]
mod tests;
