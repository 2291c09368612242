//! A histogram as lines of text.

use crate::adaptive_histogram::Counts;

/// Characters of the longest bar.
const WIDTH: usize = 40;
/// An eighth of a character to a whole one.
const PARTS: [&str; 9] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];

/// The text of an edge. Numbers of everyday size have the same number of decimals in each line.
fn text_of_edge(edge: f64, width: f64, size: f64) -> String {
    let decimals = 2.0 - width.log10().floor();
    match size < 1e7 && decimals <= 6.0 {
        true => format!("{edge:.*}", decimals.max(0.0) as usize),
        false => format!("{edge:.5e}"),
    }
}

/// A line for each interval: its lower edge, its bar and its count.
pub fn of(counts: &Counts) -> String {
    let bins = counts.bins();
    let most = bins.iter().copied().max().unwrap_or(0).max(1);
    let size = counts.edge(0).abs().max(counts.edge(bins.len()).abs());
    let edge = |k: usize| text_of_edge(counts.edge(k), counts.width(), size);
    let mut lines = Vec::new();
    for (k, &count) in bins.iter().enumerate() {
        // An interval that is not empty has at least an eighth.
        let eighths = (count as f64 / most as f64 * (8 * WIDTH) as f64).round() as usize;
        let eighths = if count > 0 { eighths.max(1) } else { 0 };
        let bar = "█".repeat(eighths / 8) + PARTS[eighths % 8];
        lines.push(format!("{:>13} {bar:<WIDTH$} {count}", edge(k)));
    }
    lines.push(format!("{:>13}", edge(bins.len())));
    for (number, which) in [(counts.below, "-inf"), (counts.above, "inf")] {
        if number > 0 {
            lines.push(format!("{which:>13} {number}"));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use warpfold::Device;

    use super::*;
    use crate::summary;

    /// The histogram of small integers.
    fn counts(numbers: &[f64]) -> Counts {
        summary::of(&Device::cpu(), numbers, None).expect("reduces").counts
    }

    #[test]
    fn bars_have_the_lengths_of_counts() {
        let numbers = [&[0.0; 10][..], &[8.0; 5], &[24.0], &[f64::INFINITY; 2]].concat();
        let text = of(&counts(&numbers));
        let lengths: Vec<usize> = text.lines().map(|line| line.matches('█').count()).collect();
        assert_eq!(lengths, [40, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[4].starts_with("         8.00 █") && lines[4].ends_with(" 5"), "{text}");
        assert!(lines[14].ends_with("inf 2"));
    }

    #[test]
    fn one_among_many_is_seen() {
        let numbers = [&[0.0; 10_000][..], &[1.0]].concat();
        assert!(of(&counts(&numbers)).lines().nth(8).expect("a line").contains('▏'));
    }
}
