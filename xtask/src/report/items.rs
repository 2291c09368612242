//! The plot of rates by item, as fractions of the read ceiling. A thick bar is an operator, a thin
//! bar its unaligned inputs, and a tick is CUB.

use anyhow::{Result, ensure};
use plotters::style::WHITE;

use super::canvas::{
    Align, Axis, BLUE, Canvas, FAINT, GRID, Heading, INK, LEGEND, MARGIN, SKY, Stroke, VERMILION, WIDTH,
    text_width,
};
use super::record::{Record, Series, Subject};
use super::tables::{LARGE, is_compute_heavy};
use super::units::in_words;

const TOP: i32 = 250;
const ROW: i32 = 58;
/// Space above the operators that instructions bound as well as memory.
const GAP: i32 = 24;
/// Width to the left of the panels, for the names of operators and items.
const NAMES: i32 = 460;

pub(crate) fn plot(record: &Record, heading: Heading) -> Result<String> {
    let mut subjects: Vec<&Subject> = record.subjects("warpfold").collect();
    ensure!(!subjects.is_empty(), "nothing was measured for `{}`", heading.title);
    subjects.sort_by_key(|subject| (is_compute_heavy(subject), subject.item_bytes));
    let gap = |subject: &Subject| if is_compute_heavy(subject) { GAP } else { 0 };
    let rows =
        (TOP..).step_by(ROW as usize).zip(subjects).map(|(top, subject)| (top + gap(subject), subject));
    let rows: Vec<(i32, &Subject)> = rows.collect();
    let bottom = rows.last().map_or(TOP, |(top, _)| top + ROW);
    Canvas::draw(bottom + 80, |canvas| {
        canvas.heading(&heading)?;
        legend(canvas)?;
        for (top, Subject { operator, item, item_bytes }) in &rows {
            let (right, middle) = (MARGIN + NAMES - 20, top + 20);
            canvas.text((right - 70, middle), &format!("{operator} of {item}"), Align::Right, INK)?;
            canvas.small_text((right, middle), &in_words(*item_bytes), Align::Right, FAINT)?;
        }
        let width = (WIDTH - 2 * MARGIN - NAMES) / 2;
        for (bytes, left) in LARGE.into_iter().zip([MARGIN + NAMES, MARGIN + NAMES + width]) {
            let panel = Panel { canvas, record, bytes, ends: (left, left + width - 40), bottom };
            panel.draw_axis()?;
            rows.iter().try_for_each(|(top, subject)| panel.draw_row(*top, subject))?;
        }
        Ok(())
    })
}

fn legend(canvas: &Canvas) -> Result<()> {
    // Each name, with the size and colour of its mark.
    let marks = [
        ("warpfold", (44, 28), BLUE),
        ("warpfold, unaligned input", (44, 10), SKY),
        ("CUB, aligned input", (5, 40), VERMILION),
    ];
    let mut left = MARGIN;
    for (name, (width, height), color) in marks {
        canvas.bar((left, LEGEND - height / 2), (left + width, LEGEND + height / 2), color)?;
        canvas.text((left + width + 12, LEGEND), name, Align::Left, INK)?;
        left += width + text_width(name) + 48;
    }
    canvas.line(&[(left, LEGEND), (left + 56, LEGEND)], CEILING)?;
    canvas.text((left + 68, LEGEND), "read ceiling", Align::Left, INK)
}

const CEILING: Stroke = Stroke::new(INK, 3).dashed();

/// All operators at one size.
struct Panel<'a, 'svg> {
    canvas: &'a Canvas<'svg>,
    record: &'a Record,
    bytes: u64,
    /// The pixels of the axis ends, 0 and slightly more than 1.
    ends: (i32, i32),
    bottom: i32,
}

impl Panel<'_, '_> {
    fn at(&self, fraction: f64) -> i32 {
        Axis { least: 0.0, most: 1.02, ticks: Vec::new() }.at(fraction, self.ends)
    }

    fn draw_axis(&self) -> Result<()> {
        let title = format!("input of {}", in_words(self.bytes));
        self.canvas.bold_text((self.ends.0, TOP - 36), &title, Align::Left)?;
        for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let x = self.at(tick);
            let stroke = if tick == 1.0 { CEILING } else { Stroke::new(GRID, 2) };
            self.canvas.line(&[(x, TOP - 10), (x, self.bottom)], stroke)?;
            self.canvas.text((x, self.bottom + 34), &tick.to_string(), Align::Center, FAINT)?;
        }
        Ok(())
    }

    fn draw_row(&self, top: i32, subject: &Subject) -> Result<()> {
        let (canvas, left) = (self.canvas, self.ends.0);
        let of_ceiling = |series: &Series| self.record.fraction(series, &Series::read(), self.bytes);
        let ours = Series::of("warpfold", subject);
        if let Some(fraction) = of_ceiling(&ours) {
            let end = self.at(fraction);
            canvas.bar((left, top + 6), (end, top + 34), BLUE)?;
            canvas.small_text((end - 10, top + 20), &format!("{fraction:.2}"), Align::Right, WHITE)?;
        }
        if let Some(fraction) = of_ceiling(&ours.unaligned()) {
            canvas.bar((left, top + 38), (self.at(fraction), top + 47), SKY)?;
        }
        if let Some(fraction) = of_ceiling(&Series::of("cub", subject)) {
            let x = self.at(fraction);
            canvas.bar((x - 2, top), (x + 3, top + 40), VERMILION)?;
        }
        Ok(())
    }
}
