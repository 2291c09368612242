//! Rendering: types, an operator, a policy and the templates to one CUDA C++ source.
//!
//! Rendering is a pure function, and works on any machine. The templates are whole files,
//! concatenated and never edited; what is generated comes after them: the types and the operator,
//! in the namespace `program`, and the `extern "C"` kernels that instantiate the templates. What
//! Rust and CUDA C++ must agree on is asserted there.

mod arguments;
mod entry;
mod ladder;
mod lower;
mod names;
mod number;
mod packed;
mod program;
mod read;
mod templates;
mod types;

pub use arguments::{Arguments, RungArguments, ScanArguments};
pub use read::ArrayInput;
pub(crate) use read::{ItemsAsTheyAre, Reader};
pub(crate) use types::LAYOUT_ASSERTION;

use std::fmt;

use self::entry::Entry;
use self::program::OperatorType;
use self::templates::{ARGUMENTS, BASELINE, LANES, MEANINGS, REDUCTION, SCAN, TYPES, Template, WORDS};
use crate::plan::ladder::Rung;
use crate::plan::{Data, Kernel, ScanPolicy};
use crate::{DeviceMonoid, DeviceOperator, DeviceType, Error, Policy};

/// What is read and combined by an operator and a reader.
pub(crate) fn data_of<M: DeviceMonoid, R: Reader>() -> Data {
    let item = M::Item::layout();
    Data { elements: R::elements(&item), item }
}

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
    /// The source of a kernel that reduces with `M`.
    pub fn of_reduction<M: DeviceMonoid>(policy: &Policy, kernel: Kernel) -> Result<Self, Error> {
        Self::of_reduction_by::<M, ItemsAsTheyAre>(policy, kernel)
    }

    /// The same, for what a reader stages.
    pub(crate) fn of_reduction_by<M: DeviceMonoid, R: Reader>(
        policy: &Policy,
        kernel: Kernel,
    ) -> Result<Self, Error> {
        policy.check(&data_of::<M, R>())?;
        let operator = OperatorType::of::<M>();
        let primitive = match kernel {
            Kernel::Baseline => &[BASELINE][..],
            _ => &REDUCTION,
        };
        let templates = [&LANES[..], R::TEMPLATES, &[ARGUMENTS], primitive].concat();
        let entry = Entry::of_reduction::<R, M::Item>(policy, kernel, &operator);
        Self::render::<M>(&operator, &templates, &entry)
    }

    /// The source of a kernel that scans with `M`.
    pub fn of_scan<M: DeviceMonoid>(policy: &ScanPolicy, kernel: Kernel) -> Result<Self, Error> {
        Self::of_scan_by::<M, ItemsAsTheyAre>(policy, kernel)
    }

    /// The same, for what a reader stages.
    pub(crate) fn of_scan_by<M: DeviceMonoid, R: Reader>(
        policy: &ScanPolicy,
        kernel: Kernel,
    ) -> Result<Self, Error> {
        policy.check(&M::Item::layout())?;
        let operator = OperatorType::of::<M>();
        let templates = [&LANES[..], R::TEMPLATES, &SCAN].concat();
        let entry = Entry::of_scan::<R, M::Item>(policy.shape(kernel), &operator);
        Self::render::<M>(&operator, &templates, &entry)
    }

    /// The source of a rung of the ladder for blocks of so many threads, by an operator that is an
    /// [addition](crate::Commutative::IS_ADDITION) or not.
    pub fn of_rung<M: DeviceMonoid>(rung: Rung, threads: u32, adds: bool) -> Result<Self, Error> {
        let entry = Entry::of_rung::<M::Item>(rung, threads, adds);
        Self::render::<M>(&OperatorType::of::<M>(), &ladder::templates(rung), &entry)
    }

    fn render<M: DeviceMonoid>(
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
