//! Rendering: a source, from types, an operator, templates and an entry.

use std::fmt;

use super::entry::Entry;
use super::program::{self, OperatorType};
use super::templates::{MEANINGS, TYPES, Template, WORDS};
use crate::{DeviceMonoid, DeviceOperator, Error};

/// A rendered source: the whole CUDA C++ text that NVRTC compiles.
#[derive(Clone, Debug)]
pub struct Source {
    operator: &'static str,
    kernel_name: &'static str,
    has_state: bool,
    is_soon_compiled: bool,
    text: String,
    program: usize,
    kernel: usize,
}

impl Source {
    pub(super) fn render<M: DeviceMonoid>(
        of: &OperatorType,
        templates: &[Template],
        entry: &Entry,
    ) -> Result<Self, Error> {
        // Asked once, so that all that follows from it is of one piece.
        Self::render_operator(of, &M::device_operator(), templates, entry)
    }

    fn render_operator(
        of: &OperatorType,
        operator: &DeviceOperator,
        templates: &[Template],
        entry: &Entry,
    ) -> Result<Self, Error> {
        let definitions = program::definitions(of, operator)?;
        // What is not needed is not parsed.
        let meanings = if definitions.need_meanings { &MEANINGS[..] } else { &[] };
        let mut text = String::new();
        for (name, template) in TYPES.iter().chain(meanings).chain(&WORDS).chain(templates) {
            text.push_str(&format!("#line 1 \"warpfold/templates/{name}\"\n{template}"));
        }
        let program = text.len();
        text.push_str(&definitions.text);
        let kernel = text.len();
        text.push_str(&entry.to_string());
        Ok(Self {
            operator: of.name,
            kernel_name: entry.name,
            has_state: operator.state.is_some(),
            is_soon_compiled: entry.is_soon_compiled,
            text,
            program,
            kernel,
        })
    }

    /// What its kernel is called.
    pub fn kernel_name(&self) -> &'static str {
        self.kernel_name
    }

    /// Whether the kernels read the operator's value.
    pub(crate) fn has_state(&self) -> bool {
        self.has_state
    }

    /// Whether its kernel is there to be soon compiled, and not for its speed.
    pub(crate) fn is_soon_compiled(&self) -> bool {
        self.is_soon_compiled
    }

    /// The Rust type of the operator.
    pub fn operator(&self) -> &'static str {
        self.operator
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The types and the operator alone, which any C++17 compiler takes after those templates that
    /// know no threads (those before `words.cuh`), given what `intrinsics.cuh` declares.
    pub fn definitions(&self) -> &str {
        &self.text[self.program..self.kernel]
    }

    /// What was generated: everything after the templates.
    pub fn program(&self) -> &str {
        &self.text[self.program..]
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
