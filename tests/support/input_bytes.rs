//! Values and inputs of kernels, in bytes.

/// The bytes of an array.
pub enum ArrayBytes {
    /// And their alignment.
    Values(Vec<u8>, usize),
    /// Of a bitmap, as its bits.
    Bits(Vec<bool>),
}

/// Bits from bit `first` on, and bits that are set around them.
pub fn bitmap(bits: &[bool], first: usize) -> Vec<u8> {
    let mut bytes = vec![0xff; (first + bits.len()).div_ceil(8)];
    for (index, _) in bits.iter().enumerate().filter(|(_, is_set)| !**is_set) {
        bytes[(first + index) / 8] &= !(1 << ((first + index) % 8));
    }
    bytes
}

/// The number of arrays of a kernel that reads no input.
pub(super) const NO_ARRAY: u64 = u64::MAX;

/// An input in bytes, and the places of its arrays: begin and size in bytes, and the first bit of a
/// bitmap. Other bytes are no part of the input.
pub(super) struct InputBytes {
    pub(super) bytes: Vec<u8>,
    pub(super) arrays: Vec<[u64; 3]>,
}

/// The first bit of an array that is no bitmap.
const NO_BITMAP: u64 = u64::MAX;

impl InputBytes {
    pub(super) fn of_one(bytes: Vec<u8>) -> Self {
        Self { arrays: vec![[0, bytes.len() as u64, NO_BITMAP]], bytes }
    }

    /// Arrays one after the other. Array k lies `misalignment + k` alignments past an aligned
    /// address. A bitmap lies as many bits past one.
    pub(super) fn of_arrays(parts: Vec<ArrayBytes>, misalignment: usize) -> Self {
        let mut all = Self { bytes: Vec::new(), arrays: Vec::new() };
        for (index, part) in parts.into_iter().enumerate() {
            let begin = all.bytes.len().next_multiple_of(256);
            let ((begin, bytes), first_bit) = match part {
                ArrayBytes::Values(bytes, align) => {
                    ((begin + (misalignment + index) * align, bytes), NO_BITMAP)
                }
                ArrayBytes::Bits(bits) => {
                    let bytes = bitmap(&bits, misalignment + index);
                    ((begin, bytes), (misalignment + index) as u64)
                }
            };
            all.bytes.resize(begin, 0xee);
            all.arrays.push([begin as u64, bytes.len() as u64, first_bit]);
            all.bytes.extend(bytes);
        }
        all
    }
}

/// The bytes of values, those of padding included.
pub fn bytes<T>(values: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(values)];
    // SAFETY: both sides have the size of the values. Bytes of padding have no meaning.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr().cast(), bytes.as_mut_ptr(), bytes.len()) };
    bytes
}

/// Values from their bytes.
///
/// # Safety
///
/// The bytes are those of `count` values.
pub(super) unsafe fn values<T>(bytes: &[u8], count: usize) -> Vec<T> {
    assert_eq!(bytes.len(), count * size_of::<T>());
    let value = |index: usize| bytes[index * size_of::<T>()..].as_ptr().cast();
    // SAFETY: the bytes of value `index` begin there, as the caller promises.
    (0..count).map(|index| unsafe { std::ptr::read_unaligned(value(index)) }).collect()
}
