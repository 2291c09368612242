//! The first parameter of each kernel, as templates declare it. A rendered source asserts where each field stands.

use std::mem::{MaybeUninit, offset_of};

/// The fields of a kernel's first parameter.
pub(super) struct Fields {
    /// The type's name in the templates.
    name: &'static str,
    /// Of each field its name, and where it stands.
    offsets: Vec<(&'static str, usize)>,
    size: usize,
}

impl Fields {
    /// The C++ that calls the type `Arguments`, of these template arguments, and asserts that it is laid out as in Rust.
    pub(super) fn assertions(&self, of: &str) -> String {
        let Self { name, offsets, size } = self;
        let offsets = offsets.iter().map(|(field, offset)| {
            format!("static_assert(WARPFOLD_OFFSET(Arguments, {field}) == {offset}, \"kernel arguments\");\n")
        });
        format!(
            "typedef ::warpfold::{name}<{of}> Arguments;\nstatic_assert(sizeof(Arguments) == {size}, \"kernel arguments\");\n{}",
            offsets.collect::<String>()
        )
    }
}

macro_rules! arguments {
    ($($(#[$about:meta])* $name:ident<$($of:ident),*> { $($field:ident: $ty:ty,)* })*) => {$(
        $(#[$about])*
        #[repr(C)]
        #[allow(missing_docs)]
        pub struct $name<$($of),*> {
            $(pub $field: $ty,)*
        }

        impl<$($of),*> $name<$($of),*> {
            pub(super) fn fields() -> Fields {
                let offsets = vec![$((stringify!($field), offset_of!(Self, $field)),)*];
                Fields { name: stringify!($name), offsets, size: size_of::<Self>() }
            }
        }
    )*};
}
arguments! {
    /// What a kernel that reduces is given: see `templates/reduce/arguments.cuh`.
    Arguments<I, T> {
        input: I,
        length: u64,
        output: u64,
        tickets: u64,
        runs: u32,
        row_level: u32,
        serial: u32,
        whole: u32,
        gathers: u32,
        identity: MaybeUninit<T>,
    }
    /// What a kernel that scans is given: see `templates/scan/scan.cuh`.
    ScanArguments<I, T> {
        input: I,
        length: u64,
        output: u64,
        shared: u64,
        tiles: u64,
        exclusive: u32,
        identity: MaybeUninit<T>,
    }
    /// What a kernel of the ladder is given: see `templates/ladder/rung.cuh`.
    RungArguments<T> {
        input: u64,
        length: u64,
        output: u64,
        shared: u64,
        block_level: u64,
        identity: MaybeUninit<T>,
    }
}
