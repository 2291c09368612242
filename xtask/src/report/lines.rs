//! Line plots over the size of the input: two panels with the same axes and one legend.

use anyhow::{Result, ensure};

use super::canvas::text_width;
use super::canvas::{
    Align, Axis, Canvas, FAINT, GRID, Heading, INK, LEGEND, MARGIN, Point, Stroke, TEXT, WIDTH,
};
use super::units::in_words;

const HEIGHT: i32 = 900;
const TOP: i32 = 250;
const BOTTOM: i32 = HEIGHT - 80;
/// Width to the left of a panel, for the labels of its vertical axis.
const LABELS: i32 = 90;

pub(crate) struct Figure {
    pub(crate) heading: Heading,
    pub(crate) panels: [Panel; 2],
    pub(crate) scale: Scale,
}

pub(crate) struct Panel {
    pub(crate) title: String,
    /// Lines from back to front. Both panels have the same names. A line may have no points.
    pub(crate) lines: Vec<Line>,
    /// A lower bound of all lines, and its name.
    pub(crate) floor: Option<(f64, &'static str)>,
}

/// The points of one name, as pairs of bytes and a value.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) stroke: Stroke,
    pub(crate) points: Vec<(u64, f64)>,
}

/// The scale of the vertical axis.
#[derive(Clone, Copy)]
pub(crate) enum Scale {
    Linear,
    Logarithmic,
}

impl Figure {
    pub(crate) fn draw(&self) -> Result<String> {
        let lines = || self.panels.iter().flat_map(|panel| &panel.lines);
        let points = || lines().flat_map(|line| line.points.iter().copied());
        ensure!(points().next().is_some(), "nothing was measured for `{}`", self.heading.title);
        let floors = self.panels.iter().filter_map(|panel| panel.floor).map(|(value, _)| value);
        let values: Vec<f64> = points().map(|(_, value)| value).chain(floors).collect();
        let sizes: Vec<u64> = points().map(|(bytes, _)| bytes).collect();
        let (horizontal, vertical) = (bytes_axis(&sizes), self.scale.axis(&values));
        Canvas::draw(HEIGHT, |canvas| {
            canvas.heading(&self.heading)?;
            let mut left = MARGIN;
            let [first, second] = &self.panels;
            for (line, same) in first.lines.iter().zip(&second.lines).rev() {
                if line.points.is_empty() && same.points.is_empty() {
                    continue;
                }
                canvas.line(&[(left, LEGEND), (left + 56, LEGEND)], line.stroke)?;
                canvas.text((left + 68, LEGEND), line.name, Align::Left, INK)?;
                left += 104 + text_width(line.name);
            }
            let width = (WIDTH - 2 * MARGIN) / 2;
            for (panel, start) in self.panels.iter().zip([MARGIN, MARGIN + width]) {
                let ends = (start + LABELS, start + width - 36);
                Frame { canvas, horizontal: &horizontal, vertical: &vertical, scale: self.scale, ends }
                    .draw(panel)?;
            }
            Ok(())
        })
    }
}

impl Scale {
    fn height(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Logarithmic => value.log10(),
        }
    }

    /// An axis that contains all values and has ticks at round ones.
    fn axis(self, values: &[f64]) -> Axis {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        match self {
            Scale::Linear => {
                let power = 10f64.powi((most / 5.0).log10().floor() as i32);
                let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
                let step = steps.into_iter().find(|step| most / step <= 5.0).unwrap_or(most);
                let ticks = (0..=(most / step).ceil() as u32).map(|tick| f64::from(tick) * step);
                let ticks: Vec<_> = ticks.map(|value| (value, value.to_string())).collect();
                Axis { least: 0.0, most: ticks.last().map_or(most, |(value, _)| *value), ticks }
            }
            Scale::Logarithmic => {
                let (least, most) = ((least / 1.4).log10(), (most * 1.2).log10());
                let decades = least.floor() as i32..=most.ceil() as i32;
                let values =
                    decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(decade)));
                let ticks = values.map(|value| (value.log10(), value.to_string()));
                Axis {
                    least,
                    most,
                    ticks: ticks.filter(|(height, _)| (least..=most).contains(height)).collect(),
                }
            }
        }
    }
}

/// A logarithmic axis of bytes.
fn bytes_axis(sizes: &[u64]) -> Axis {
    let log2 = |bytes: u64| bytes.max(1).ilog2();
    let first = sizes.iter().copied().map(log2).min().unwrap_or(0);
    let last = sizes.iter().copied().map(log2).max().unwrap_or(0);
    let step = (last - first).div_ceil(6).next_multiple_of(2).max(2);
    let ticks = (first.next_multiple_of(2)..=last).step_by(step as usize);
    let ticks = ticks.map(|log2| (f64::from(log2), in_words(1 << log2))).collect();
    Axis { least: f64::from(first) - 0.2, most: f64::from(last) + 0.2, ticks }
}

/// The location of a panel, and its axes.
struct Frame<'a, 'svg> {
    canvas: &'a Canvas<'svg>,
    horizontal: &'a Axis,
    vertical: &'a Axis,
    scale: Scale,
    /// The pixels of the ends of the horizontal axis.
    ends: (i32, i32),
}

impl Frame<'_, '_> {
    fn draw(&self, panel: &Panel) -> Result<()> {
        let Self { canvas, ends: (left, right), .. } = *self;
        canvas.bold_text((left, TOP - 36), &panel.title, Align::Left)?;
        for (height, label) in &self.vertical.ticks {
            let y = self.vertical.at(*height, (BOTTOM, TOP));
            canvas.line(&[(left, y), (right, y)], Stroke::new(GRID, 2))?;
            canvas.text((left - 14, y), label, Align::Right, FAINT)?;
        }
        for (log2, label) in &self.horizontal.ticks {
            let x = self.horizontal.at(*log2, self.ends);
            canvas.line(&[(x, BOTTOM), (x, BOTTOM + 8)], Stroke::new(FAINT, 2))?;
            canvas.text((x, BOTTOM + 34), label, Align::Center, FAINT)?;
        }
        canvas.line(&[(left, BOTTOM), (right, BOTTOM)], Stroke::new(FAINT, 2))?;
        if let Some((value, words)) = panel.floor {
            let y = self.height(value);
            canvas.line(&[(left, y), (right, y)], Stroke::new(FAINT, 2).dashed())?;
            canvas.small_text((right, y + TEXT * 3 / 4), words, Align::Right, FAINT)?;
        }
        panel.lines.iter().try_for_each(|line| self.draw_line(line))
    }

    fn draw_line(&self, line: &Line) -> Result<()> {
        let at = |&(bytes, value): &(u64, f64)| {
            (self.horizontal.at((bytes as f64).log2(), self.ends), self.height(value))
        };
        let points: Vec<Point> = line.points.iter().map(at).collect();
        self.canvas.line(&points, line.stroke)?;
        // A dashed line is not a measurement of a reduction, so it has no dots.
        let dots = if line.stroke.dashed { &[] } else { &points[..] };
        let radius = line.stroke.width as i32 + 1;
        dots.iter().try_for_each(|&point| self.canvas.dot(point, radius, line.stroke.color))
    }

    fn height(&self, value: f64) -> i32 {
        self.vertical.at(self.scale.height(value), (BOTTOM, TOP))
    }
}

#[cfg(test)]
mod tests;
