//! CUDA C++ that is written by hand.

use std::borrow::Cow;

/// A piece of CUDA C++ together with the place in the Rust source that it came from, which is what a compiler error
/// names.
#[derive(Clone, Debug)]
pub struct DeviceCode {
    text: Cow<'static, str>,
    file: &'static str,
    line: u32,
}

impl DeviceCode {
    /// The body of a function, without its braces, whose first line stands in `line` of `file`. It returns its value;
    /// wrapping and promotion follow C++, not Rust.
    ///
    /// [`device_code!`](crate::device_code) reads file and line from a literal.
    ///
    /// Write `if (c) return a; return b;` rather than `return c ? a : b;` for structs: a select of two objects is a
    /// select of their addresses, and takes both out of registers.
    ///
    /// # Safety
    ///
    /// The code runs on the GPU as it stands. It must end, must read and write nothing but its parameters and its own
    /// variables, and must return a valid value of its Rust type (for a `bool`, 0 or 1). It is only ever called on valid
    /// items, but on any two of them, not on neighbours alone: a result that nobody needs may be computed and dropped. All
    /// that holds whatever functions, types and constants are added to its operator, which safe code can do.
    #[allow(unsafe_code)]
    pub unsafe fn at(text: impl Into<Cow<'static, str>>, file: &'static str, line: u32) -> Self {
        Self { text: text.into(), file, line }
    }

    /// The CUDA C++.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The source file that the first line of the text stands in.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The line of [`file`](Self::file) that the first line of the text stands in, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }
}
