//! A histogram as lines of text.

use warpfold::aggregates::HistogramCounts;

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
pub fn of<const BINS: usize>(low: f64, high: f64, counts: &HistogramCounts<BINS>) -> String {
    let most = counts.bins.iter().copied().max().unwrap_or(0).max(1);
    let width = (high - low) / BINS as f64;
    let edge = |k: usize| text_of_edge(low + width * k as f64, width, low.abs().max(high.abs()));
    let mut lines = Vec::new();
    for (k, &count) in counts.bins.iter().enumerate() {
        // An interval that is not empty has at least an eighth.
        let eighths = (count as f64 / most as f64 * (8 * WIDTH) as f64).round() as usize;
        let eighths = if count > 0 { eighths.max(1) } else { 0 };
        let bar = "█".repeat(eighths / 8) + PARTS[eighths % 8];
        lines.push(format!("{:>13} {bar:<WIDTH$} {count}", edge(k)));
    }
    lines.push(format!("{:>13}", edge(BINS)));
    for (number, which) in [(counts.below, "-inf"), (counts.above, "inf")] {
        if number > 0 {
            lines.push(format!("{which:>13} {number}"));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_the_lengths_of_counts() {
        let counts = HistogramCounts { below: 0, above: 2, nan: 1, bins: [10, 5, 0, 1] };
        let text = of(0.0, 4.0, &counts);
        let lengths: Vec<usize> = text.lines().map(|line| line.matches('█').count()).collect();
        assert_eq!(lengths, [40, 20, 0, 4, 0, 0]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("         1.00 █") && lines[1].ends_with(" 5"), "{text}");
        assert!(lines[5].ends_with("inf 2"));
    }

    #[test]
    fn one_among_many_is_seen() {
        let counts = HistogramCounts { below: 0, above: 0, nan: 0, bins: [1_000_000, 1] };
        assert!(of(0.0, 1.0, &counts).lines().nth(1).expect("a line").contains('▏'));
    }
}
