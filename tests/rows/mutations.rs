//! Mistakes in the kernels of rows. The tests must find each of them.

use support::mutations::Mutation;

pub const MUTATIONS: &[Mutation] = &[];
