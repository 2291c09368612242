//! `prepare` and `present` as CUDA C++.

use super::function::{Callee, DeviceFunction, Translated};
use super::part::Part;
use crate::operators::Aggregate;
use crate::types::Layout;

const ACCUMULATE: &str = "accumulate";

/// The steps of an aggregate before and after the combination, as CUDA C++.
#[derive(Clone, Debug)]
pub struct DeviceSteps(pub(crate) Steps);

/// An aggregate whose functions a macro has translated.
pub trait TranslatedAggregate: Aggregate {
    /// `prepare`, `present`, and `accumulate` if it is written out.
    const STEPS: &'static [Translated];
}

/// The kinds of steps.
#[derive(Clone, Debug)]
pub(crate) enum Steps {
    /// Of a monoid: an element is an item, and an item is a result.
    Nothing,
    /// `prepare`, `present`, and `accumulate` if it is written out. The layout is that of `self`,
    /// if one of them reads it.
    Functions { functions: Vec<DeviceFunction>, state: Option<Layout> },
    /// Of a tuple: the steps of each part, and the layouts of the item and of the result in device
    /// memory.
    Tuple { parts: Vec<Part<DeviceSteps>>, item: Layout, output: Layout },
    /// Of `Mapped`: a function before other steps.
    Mapped { function: Called, steps: Box<Part<DeviceSteps>>, item: Layout, output: Layout },
    /// Of `Filtered`: a function says which items count. Of `Masked` there is no function: the
    /// second part of an element says so.
    Filtered { function: Option<Called>, steps: Box<Part<DeviceSteps>>, item: Layout, output: Layout },
}

/// A function, and the number of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    pub(crate) callee: Callee,
    pub(crate) parameters: usize,
}

impl DeviceSteps {
    /// Whether `present` needs the monoid, for the identity of a part that no element is left of.
    pub(crate) fn need_monoid(&self) -> bool {
        match &self.0 {
            Steps::Nothing | Steps::Functions { .. } => false,
            Steps::Tuple { parts, .. } => parts.iter().any(|part| part.form.need_monoid()),
            Steps::Mapped { steps, .. } => steps.form.need_monoid(),
            Steps::Filtered { .. } => true,
        }
    }

    /// Whether they have `accumulate`.
    pub(crate) fn accumulate(&self) -> bool {
        match &self.0 {
            Steps::Nothing | Steps::Tuple { .. } => false,
            Steps::Functions { functions, .. } => {
                functions.iter().any(|function| function.name == ACCUMULATE)
            }
            Steps::Mapped { steps, .. } | Steps::Filtered { steps, .. } => steps.form.accumulate(),
        }
    }

    /// These steps without `accumulate`, for kernels that do not call it.
    pub(crate) fn without_accumulate(mut self) -> Self {
        match &mut self.0 {
            Steps::Nothing => {}
            Steps::Functions { functions, .. } => functions.retain(|function| function.name != ACCUMULATE),
            Steps::Tuple { parts, .. } => {
                for part in parts {
                    part.form = part.form.clone().without_accumulate();
                }
            }
            Steps::Mapped { steps, .. } | Steps::Filtered { steps, .. } => {
                steps.form = steps.form.clone().without_accumulate();
            }
        }
        self
    }

    /// The steps that `#[aggregate]` makes of Rust functions.
    pub fn translated<A: TranslatedAggregate>() -> Self {
        let functions = A::STEPS.iter().copied().map(DeviceFunction::translated).collect();
        Self(Steps::Functions { functions, state: None })
    }

    /// Makes the fields of the aggregate, which has this layout, available to the functions.
    #[must_use]
    pub fn state(mut self, layout: Layout) -> Self {
        if let Steps::Functions { state, .. } = &mut self.0 {
            *state = Some(layout);
        }
        self
    }
}
