//! Runs of adjacent elements that are reduced by themselves, such as the rows of a matrix.

/// Runs of adjacent elements, of one length, at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// How many there are.
    pub count: u64,
    /// The elements of each, at least one.
    pub length: u64,
    /// The elements from the begin of one to the begin of the next, at least `length`.
    pub pitch: u64,
}

impl Segments {
    /// The elements from the first one to the last one, gaps included.
    pub(crate) fn extent(&self) -> u64 {
        if self.count == 0 { 0 } else { (self.count - 1) * self.pitch + self.length }
    }
}
