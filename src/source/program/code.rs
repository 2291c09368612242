//! The lines of a program, and the numbers of their originals.

use crate::DeviceCode;
use crate::source::lower::Lines;

/// The file name of the generated lines in compiler messages.
pub(super) const FILE: &str = "warpfold/program";

/// Generated lines, and between them the author's lines, each under its own file and line.
#[derive(Default)]
pub(super) struct Code(pub(super) Vec<Line>);

pub(super) enum Line {
    Generated(String),
    Author(DeviceCode),
    Translated(&'static str, Lines),
}

impl Code {
    pub(super) fn line(&mut self, text: &str) {
        self.0.push(Line::Generated(text.to_owned()));
    }

    /// Appends the lines to a text that starts with a `#line 1` of the generated file.
    pub(super) fn finish(self, text: &mut String) {
        for line in self.0 {
            match line {
                Line::Generated(line) => {
                    text.push_str(&line);
                    text.push('\n');
                }
                Line::Author(code) => {
                    text.push_str(&format!("{}{}\n", directive(code.line(), code.file()), code.text()));
                    resume(text);
                }
                Line::Translated(file, lines) => {
                    translated(text, file, &lines);
                    resume(text);
                }
            }
        }
    }
}

fn directive(line: u32, file: &str) -> String {
    format!("#line {line} \"{}\"\n", file.replace('\\', "/").replace('"', "'"))
}

/// Numbers the following lines from the start of the text.
pub(super) fn resume(text: &mut String) {
    let next = text.lines().count() + 1;
    text.push_str(&format!("#line {next} \"{FILE}\"\n"));
}

/// Writes all pieces of one source line on one line, with the number of the source line.
fn translated(text: &mut String, file: &str, lines: &Lines) {
    let mut depth = 2_usize;
    let mut number = None;
    let mut at = 0;
    while let Some((line, _)) = lines.get(at) {
        let end =
            lines[at..].iter().position(|(other, _)| other != line).map_or(lines.len(), |count| at + count);
        let pieces: Vec<&str> = lines[at..end].iter().map(|(_, piece)| piece.as_str()).collect();
        // A gap of at most two lines, such as a brace or a comment, becomes empty lines.
        match number {
            Some(next) if next <= *line && line - next <= 2 => {
                (next..*line).for_each(|_| text.push('\n'));
            }
            _ => text.push_str(&directive(*line, file)),
        }
        number = Some(line + 1);
        let joined = pieces.join(" ");
        let closing = joined.chars().take_while(|&character| character == '}').count();
        let indent = depth.saturating_sub(closing);
        text.push_str(&format!("{}{joined}\n", "    ".repeat(indent)));
        let count = |brace| joined.matches(brace).count();
        depth = (depth + count('{')).saturating_sub(count('}'));
        at = end;
    }
}
