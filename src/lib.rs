#![doc = include_str!("../README.md")]
//!
//! # The layers of this crate
//!
//! A module uses only the modules below it:
//!
//! | module | content |
//! | --- | --- |
//! | `laws` (feature `laws`) | the laws of an operator as tests, run on every backend |
//! | [`ladder`] | textbook reductions and scans, step by step |
//! | [`Reduction`], [`Scan`] | the calls of a user, on a [`Device`] |
//! | `cpu` | the same bracket in parallel on the CPU |
//! | `cuda` | contexts, streams, memory and launches, and [`Input`] |
//! | [`jit`] | from rendered source and architecture to machine code, with caches |
//! | [`source`] | from types, operator, plan and templates to rendered source |
//! | [`plan`] | launch parameters and tile shapes; never changes a result |
//! | `language` | the expansion of `#[monoid]` and `#[device]`: CUDA C++ as data |
//! | [`operators`]: [`Monoid`], [`math`], [`tree`] | the operators themselves; no CUDA |
//! | types: [`DeviceType`], [`Layout`] | value types with the same layout in Rust and CUDA C++ |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

extern crate self as warpfold;

pub mod ladder;
#[doc(hidden)]
pub mod language;
#[cfg(feature = "laws")]
pub mod laws;
pub mod operators;
pub mod plan;
pub mod source;

mod cpu;
mod cuda;
mod error;
mod reduction;
mod scan;
mod types;

pub use cuda::{Device, DeviceInput, Input, OnDevice, Output, jit};
pub use cudarc;
pub use error::Error;
pub use language::{DeviceCode, DeviceFunction, DeviceMonoid, DeviceOperator};
#[doc(inline)]
pub use operators::{Commutative, Monoid, math, tree};
pub use plan::Policy;
pub use reduction::Reduction;
pub use scan::Scan;
pub use types::{DeviceType, Field, Kind, Layout, Literal, Scalar};
pub use warpfold_macros::{DeviceType, device, device_code, monoid};
