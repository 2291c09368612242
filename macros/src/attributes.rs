//! Attributes. A macro sees a function before rustc strips `#[cfg]` and before later attributes
//! change it, so an attribute could leave something out of the Rust and not of the CUDA C++.

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Attribute, Error, Generics, ImplItemFn, ItemFn};

/// Attributes that change no value.
const HARMLESS: [&str; 13] = [
    "allow",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "inline",
    "must_use",
    "rustfmt",
    "track_caller",
    "clippy",
    "warn",
];

const REFUSED: &str = "an attribute here may change the Rust and not the CUDA C++; `#[cfg]` stands before \
     `#[monoid]` or `#[device]`, for all of the item";

/// Refuses the other attributes of a function: its own, and those of all that it consists of.
pub(crate) fn check_function(function: &ItemFn) -> Result<(), Error> {
    check(|found| found.visit_item_fn(function))
}

/// As [`check_function`], of `combine` and of the `impl` around it.
pub(crate) fn check_combine(
    attributes: &[Attribute],
    generics: &Generics,
    combine: &ImplItemFn,
) -> Result<(), Error> {
    check(|found| {
        attributes.iter().for_each(|attribute| found.visit_attribute(attribute));
        found.visit_generics(generics);
        found.visit_impl_item_fn(combine);
    })
}

fn check(visit: impl FnOnce(&mut Found)) -> Result<(), Error> {
    let mut found = Found(None);
    visit(&mut found);
    found.0.map_or(Ok(()), Err)
}

/// What was found: one error for each attribute.
struct Found(Option<Error>);

impl Visit<'_> for Found {
    fn visit_attribute(&mut self, attribute: &Attribute) {
        let first = attribute.path().segments.first().map(|segment| &segment.ident);
        let is_harmless = |name: &Ident| HARMLESS.iter().any(|harmless| name == harmless);
        if !first.is_some_and(is_harmless) {
            let error = Error::new_spanned(attribute, REFUSED);
            match &mut self.0 {
                Some(errors) => errors.combine(error),
                none => *none = Some(error),
            }
        }
        visit::visit_attribute(self, attribute);
    }
}
