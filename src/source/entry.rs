//! The end of a source: the `extern "C"` kernel that instantiates the templates.

use std::fmt;

use super::arguments::Fields;

/// A kernel: its template with the arguments, and the layout of its parameter.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) template: &'static str,
    /// The C++ type of its reader, if it has one.
    pub(super) reader: Option<String>,
    pub(super) arguments: Fields,
    /// The constants of its shape, as C++.
    pub(super) shape: String,
    pub(super) threads: u32,
    pub(super) blocks_per_multiprocessor: u32,
    pub(super) compiles_fast: bool,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, template, arguments, reader, shape, threads, .. } = self;
        let blocks = self.blocks_per_multiprocessor;
        let (reader, arguments, of) = match reader {
            Some(reader) => (
                format!("typedef ::warpfold::{reader} Reader;\n"),
                arguments.assertions("Reader::Input, Item"),
                "Shape, Reader",
            ),
            None => (String::new(), arguments.assertions("Item"), "Shape"),
        };
        write!(
            f,
            "
namespace program {{

{reader}{arguments}
struct Shape {{
    static constexpr unsigned {shape};
}};
WARPFOLD_KERNEL({threads}, {blocks}) {name}(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {{
    ::warpfold::{template}<{of}>(arguments, op);
}}

}}  // namespace program
"
        )
    }
}
