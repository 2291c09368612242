//! A canvas for plots, in pixels from the upper left corner, and axes that turn values into pixels.

use anyhow::Result;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width in pixels. Pages show plots at half of this or less, so coordinates of whole pixels are
/// fine enough.
pub(crate) const WIDTH: i32 = 1920;
pub(crate) const MARGIN: i32 = 40;
/// Vertical position of a legend.
pub(crate) const LEGEND: i32 = 150;
pub(crate) const TEXT: i32 = 26;

pub(crate) const INK: RGBColor = RGBColor(31, 35, 40);
pub(crate) const FAINT: RGBColor = RGBColor(101, 109, 118);
pub(crate) const GRID: RGBColor = RGBColor(225, 228, 232);

// The palette of Okabe and Ito, which is distinguishable in colour-blindness.
pub(crate) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(crate) const SKY: RGBColor = RGBColor(86, 180, 233);
pub(crate) const VERMILION: RGBColor = RGBColor(213, 94, 0);
pub(crate) const ORANGE: RGBColor = RGBColor(230, 159, 0);
pub(crate) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(crate) const PURPLE: RGBColor = RGBColor(176, 110, 154);

pub(crate) type Point = (i32, i32);

/// The edge or centre of a text that lies at its point.
#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// The style of a line.
#[derive(Clone, Copy)]
pub(crate) struct Stroke {
    pub(crate) color: RGBColor,
    pub(crate) width: u32,
    pub(crate) dashed: bool,
}

impl Stroke {
    pub(crate) const fn new(color: RGBColor, width: u32) -> Self {
        Self { color, width, dashed: false }
    }

    pub(crate) const fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }
}

/// The title of a plot, and the origin of its figures.
pub(crate) struct Heading {
    pub(crate) title: &'static str,
    pub(crate) subtitle: &'static str,
    pub(crate) origin: String,
}

pub(crate) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

impl Canvas<'_> {
    /// Draws on a white canvas, and returns the SVG.
    pub(crate) fn draw(height: i32, draw: impl FnOnce(&Canvas) -> Result<()>) -> Result<String> {
        let mut svg = String::new();
        let size = (WIDTH.unsigned_abs(), height.unsigned_abs());
        let canvas = Canvas { area: SVGBackend::with_string(&mut svg, size).into_drawing_area() };
        canvas.area.fill(&WHITE)?;
        draw(&canvas)?;
        canvas.area.present()?;
        drop(canvas);
        Ok(svg)
    }

    pub(crate) fn text(&self, at: Point, text: &str, align: Align, color: RGBColor) -> Result<()> {
        self.styled(at, text, align, font(TEXT, FontStyle::Normal).color(&color))
    }

    pub(crate) fn small_text(&self, at: Point, text: &str, align: Align, color: RGBColor) -> Result<()> {
        self.styled(at, text, align, font(TEXT * 4 / 5, FontStyle::Normal).color(&color))
    }

    pub(crate) fn bold_text(&self, at: Point, text: &str, align: Align) -> Result<()> {
        self.styled(at, text, align, font(TEXT, FontStyle::Bold).color(&INK))
    }

    pub(crate) fn heading(&self, heading: &Heading) -> Result<()> {
        let title = font(TEXT * 5 / 4, FontStyle::Bold).color(&INK);
        self.styled((MARGIN, 46), heading.title, Align::Left, title)?;
        self.text((MARGIN, 92), heading.subtitle, Align::Left, FAINT)?;
        self.text((WIDTH - MARGIN, 46), &heading.origin, Align::Right, FAINT)
    }

    fn styled(&self, at: Point, text: &str, align: Align, style: TextStyle) -> Result<()> {
        let horizontal = match align {
            Align::Left => HPos::Left,
            Align::Center => HPos::Center,
            Align::Right => HPos::Right,
        };
        Ok(self.area.draw_text(text, &style.pos(Pos::new(horizontal, VPos::Center)), at)?)
    }

    pub(crate) fn line(&self, points: &[Point], stroke: Stroke) -> Result<()> {
        let style = stroke.color.stroke_width(stroke.width);
        if stroke.dashed {
            self.area.draw(&DashedPathElement::new(points.iter().copied(), 14, 10, style))?;
        } else {
            self.area.draw(&PathElement::new(points, style))?;
        }
        Ok(())
    }

    pub(crate) fn dot(&self, at: Point, radius: i32, color: RGBColor) -> Result<()> {
        Ok(self.area.draw(&Circle::new(at, radius, color.filled()))?)
    }

    pub(crate) fn bar(&self, corner: Point, opposite: Point, color: RGBColor) -> Result<()> {
        Ok(self.area.draw(&Rectangle::new([corner, opposite], color.filled()))?)
    }
}

fn font(pixels: i32, style: FontStyle) -> TextStyle<'static> {
    // The SVG backend divides a font's size by this factor.
    FontDesc::new(FontFamily::SansSerif, f64::from(pixels) * 1.24, style).into()
}

/// The approximate width of a text in pixels. The reader's browser chooses the font.
pub(crate) fn text_width(text: &str) -> i32 {
    text.chars().count() as i32 * TEXT * 11 / 20
}

/// A range of values that is drawn along an axis. Values may be logarithms.
pub(crate) struct Axis {
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// The pixel of a value. `first` is the pixel of the least value, and `last` that of the
    /// greatest.
    pub(crate) fn at(&self, value: f64, (first, last): (i32, i32)) -> i32 {
        let part = (value - self.least) / (self.most - self.least);
        first + (part * f64::from(last - first)).round() as i32
    }
}

#[cfg(test)]
mod tests;
