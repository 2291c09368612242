//! Thirteen operators of real programs. Each file has one operator and its laws.

pub mod argmax;
pub mod bounding_box;
pub mod bracket_matching;
pub mod log_sum_exp;
pub mod longest_run;
pub mod max_by_norm;
pub mod maximum_subarray;
pub mod modular_matrix;
pub mod polynomial_hash;
pub mod quaternion;
pub mod top_four;
pub mod two_sum;
pub mod welford;
