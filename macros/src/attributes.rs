//! Refuses attributes that could change the Rust code but not the CUDA C++. A macro sees a function
//! before rustc strips `#[cfg]` and before later attributes change it.

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Attribute, Error, Generics, ImplItemFn, ItemFn};

/// Attributes that do not change the value of a function.
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
     `#[monoid]`, `#[aggregate]` or `#[device]`, for all of the item";

/// Refuses every attribute of a function, or inside it, that is not in [`HARMLESS`].
pub(crate) fn check_function(function: &ItemFn) -> Result<(), Error> {
    check(|found| found.visit_item_fn(function))
}

/// Does the same for a method, such as `combine`, and for the attributes and generics of its `impl`.
pub(crate) fn check_method(
    attributes: &[Attribute],
    generics: &Generics,
    method: &ImplItemFn,
) -> Result<(), Error> {
    check(|found| {
        attributes.iter().for_each(|attribute| found.visit_attribute(attribute));
        found.visit_generics(generics);
        found.visit_impl_item_fn(method);
    })
}

fn check(visit: impl FnOnce(&mut Found)) -> Result<(), Error> {
    let mut found = Found(None);
    visit(&mut found);
    found.0.map_or(Ok(()), Err)
}

/// Collects one error for each refused attribute.
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
