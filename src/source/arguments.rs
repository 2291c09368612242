//! The first parameter of each kernel, as the templates declare it. The rendered source asserts the
//! offset of each field.

/// The fields of a kernel's first parameter.
pub(super) struct Fields {
    /// The type's name in the templates.
    pub(super) name: &'static str,
    /// The name of each field, and its offset in bytes.
    pub(super) offsets: Vec<(&'static str, usize)>,
    pub(super) size: usize,
}

impl Fields {
    /// The C++ that defines `Arguments` as the type with these template arguments, and asserts its
    /// layout.
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

/// Declares the Rust type of a kernel's first parameter.
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
