//! Units of figures.

/// GB/s (10^9 bytes a second) for `bytes` in `microseconds`.
pub(super) fn rate(bytes: u64, microseconds: f64) -> f64 {
    bytes as f64 / microseconds / 1e3
}

/// A number of bytes with its unit, such as 1 KiB or 64 MiB.
pub(super) fn in_words(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.iter().find(|(log2, _)| bytes >= 1 << log2 && bytes.is_multiple_of(1 << log2));
    unit.map_or_else(|| format!("{bytes} B"), |(log2, unit)| format!("{} {unit}", bytes >> log2))
}

#[cfg(test)]
mod tests;
