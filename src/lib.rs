#![doc = include_str!("../README.md")]
//!
//! # The layers of this crate
//!
//! Each module uses only those below it:
//!
//! | module | what it is |
//! | --- | --- |
//! | `laws` (feature `laws`) | the laws of an operator as tests, run on every backend |
//! | [`Reduction`], [`Scan`] | the calls a user makes; run on a [`Device`] |
//! | [`ladder`] | reductions and scans as courses teach them, step by step |
//! | `cpu` | the same bracket in parallel on the CPU |
//! | `device` | contexts, streams, memory and launches, and [`Input`] |
//! | [`jit`] | rendered source and architecture to machine code, with its caches |
//! | [`codegen`] | types, operator, policy and templates to rendered source |
//! | [`policy`] | launch parameters and tile shapes; never changes a result |
//! | algebra: [`Monoid`], [`operators`], [`math`], [`tree`] | the operators themselves; no CUDA |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

extern crate self as warpfold;

pub mod codegen;
pub mod jit;
pub mod ladder;
#[cfg(feature = "laws")]
pub mod laws;
pub mod policy;

mod algebra;
mod cpu;
mod device;
mod error;
mod lock;
mod reduction;
mod scan;

#[doc(hidden)]
pub use algebra::translation;
pub use algebra::{
    Commutative, DeviceCode, DeviceFunction, DeviceMonoid, DeviceOperator, DeviceType, Field, Kind, Layout,
    Literal, Monoid, Scalar, math, operators, tree,
};
pub use cudarc;
pub use device::{Device, DeviceInput, Input, OnDevice, Output};
pub use error::Error;
pub use policy::Policy;
pub use reduction::Reduction;
pub use scan::Scan;
pub use warpfold_macros::{DeviceType, device, device_code, monoid};
