//! Small programs that consist mainly of a scan, each with its test.

pub mod compaction;
pub mod recurrence;
pub mod run_length;
pub mod sausage;
