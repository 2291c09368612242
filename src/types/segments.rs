//! Parts of an input that are reduced by themselves, such as the rows or the columns of a matrix.

/// Parts of one length, at equal distances: the rows of a matrix, or its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// How many there are.
    pub count: u64,
    /// The elements of each.
    pub length: u64,
    /// The elements from the begin of a segment to the begin of the next.
    pub pitch: u64,
    /// The elements from an element of a segment to the next: 1 unless the segments are columns.
    pub stride: u64,
}

impl Segments {
    /// The elements from the first one to the last one, gaps included.
    pub(crate) fn extent(&self) -> u64 {
        match self.count.min(self.length) {
            0 => 0,
            _ => (self.count - 1) * self.pitch + (self.length - 1) * self.stride + 1,
        }
    }
}
