//! The first parameter of each kernel, as templates declare it. A rendered source asserts where each field stands.

/// The fields of a kernel's first parameter.
pub(super) struct Fields {
    /// The type's name in the templates.
    pub(super) name: &'static str,
    /// Of each field its name, and where it stands.
    pub(super) offsets: Vec<(&'static str, usize)>,
    pub(super) size: usize,
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

/// Declares such a type.
macro_rules! arguments {
    ($(#[$about:meta])* $name:ident<$($of:ident),*> { $($field:ident: $ty:ty,)* }) => {
        $(#[$about])*
        #[repr(C)]
        #[allow(missing_docs)]
        pub struct $name<$($of),*> {
            $(pub $field: $ty,)*
        }

        impl<$($of),*> $name<$($of),*> {
            pub(super) fn fields() -> $crate::source::arguments::Fields {
                $crate::source::arguments::Fields {
                    name: stringify!($name),
                    offsets: vec![$((stringify!($field), std::mem::offset_of!(Self, $field)),)*],
                    size: size_of::<Self>(),
                }
            }
        }
    };
}
pub(super) use arguments;
