//! What runs the ladder without a GPU, for the example: the part of the tests' support that it needs.
#![allow(dead_code)]

#[path = "cpp.rs"]
pub mod cpp;
#[path = "edges.rs"]
pub mod edges;
#[path = "programs.rs"]
pub mod programs;
#[path = "rungs.rs"]
pub mod rungs;
#[path = "simt.rs"]
pub mod simt;
#[path = "templates.rs"]
pub mod templates;
#[path = "tiers.rs"]
pub mod tiers;
