//! Programs that are a scan and little else, each with its test.

pub mod compaction;
pub mod recurrence;
pub mod run_length;
pub mod sausage;
