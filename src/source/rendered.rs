//! The rendered source: types, an operator, templates and an entry.

use std::fmt;

use super::entry::Entry;
use super::program::{self, OperatorType};
use super::templates::{RUST_SEMANTICS, TYPES, Template, WORDS};
use crate::{DeviceMonoid, DeviceOperator, Error};

/// A rendered source: the whole CUDA C++ text that NVRTC compiles.
///
/// ```
/// use warpfold::{Device, Reduction, operators::Max};
///
/// let source = Reduction::<Max<u8>>::new(Device::cpu()).source()?;
/// assert!(source.operator().contains("Max<u8>"));
/// println!("{source}");
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Source {
    operator: &'static str,
    kernel_name: &'static str,
    has_state: bool,
    compiles_fast: bool,
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
        // Called once, so that all parts of the source come from the same value.
        Self::render_operator(of, &M::device_operator(), templates, entry)
    }

    fn render_operator(
        of: &OperatorType,
        operator: &DeviceOperator,
        templates: &[Template],
        entry: &Entry,
    ) -> Result<Self, Error> {
        let definitions = program::definitions(of, operator)?;
        // Unused templates are omitted, since parsing them takes time.
        let meanings = if definitions.need_semantics { &RUST_SEMANTICS[..] } else { &[] };
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
            has_state: definitions.has_state,
            compiles_fast: entry.compiles_fast,
            text,
            program,
            kernel,
        })
    }

    /// The name of the kernel.
    pub fn kernel_name(&self) -> &'static str {
        self.kernel_name
    }

    /// Whether the kernel reads the operator's value.
    pub(crate) fn has_state(&self) -> bool {
        self.has_state
    }

    /// Whether the kernel exists to compile fast, rather than to run fast.
    pub(crate) fn compiles_fast(&self) -> bool {
        self.compiles_fast
    }

    /// The Rust type of the operator.
    pub fn operator(&self) -> &'static str {
        self.operator
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The types and the operator alone.
    ///
    /// Every C++17 compiler accepts this text after the templates before `words.cuh`, which use no
    /// threads. The compiler must supply the declarations of `intrinsics.cuh`.
    pub fn definitions(&self) -> &str {
        &self.text[self.program..self.kernel]
    }

    /// The generated text: everything after the templates.
    pub fn program(&self) -> &str {
        &self.text[self.program..]
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("operator", &self.operator)
            .field("kernel", &self.kernel_name)
            .field("bytes", &self.text.len())
            .finish()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
