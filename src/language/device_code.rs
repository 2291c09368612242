//! CUDA C++ that is written by hand.

use std::borrow::Cow;

/// A piece of CUDA C++, with the file and line of the Rust source that a compiler error reports.
///
/// ```
/// use warpfold::{DeviceCode, device_code};
///
/// // SAFETY: the body terminates, uses only its parameters and returns a valid `u32`.
/// let body: DeviceCode = unsafe { device_code!("return a < b ? b : a;") };
/// assert_eq!(body.text(), "return a < b ? b : a;");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct DeviceCode {
    text: Cow<'static, str>,
    file: &'static str,
    line: u32,
}

impl DeviceCode {
    /// Creates the body of a function, without its braces. Its first line is `line` of `file`, from
    /// 1.
    ///
    /// The body returns its value. Wrapping and promotion follow C++, not Rust.
    /// [`device_code!`](crate::device_code) reads file and line from a literal.
    ///
    /// For structs, write `if (c) return a; return b;` rather than `return c ? a : b;`. The
    /// conditional operator selects between the addresses of two objects, which moves both out of
    /// registers.
    ///
    /// # Safety
    ///
    /// The code runs on the GPU unchanged. It satisfies these conditions:
    ///
    /// 1. It terminates.
    /// 2. It reads and writes only its parameters and its own variables.
    /// 3. It returns a valid value of its Rust type (for a `bool`: 0 or 1).
    ///
    /// It is called on valid items only. Any two items may be its operands, not only neighbours:
    /// the GPU may evaluate extra pairs and discard the results. The conditions hold for all
    /// functions, types and constants that are added to its operator, since safe code can add them.
    ///
    /// ```
    /// use warpfold::DeviceCode;
    ///
    /// let function = "warpfold::minimum";
    /// // SAFETY: the body terminates, uses only its parameters and returns a valid `f32`.
    /// let body = unsafe { DeviceCode::at(format!("return {function}(a, b);"), file!(), line!()) };
    /// assert_eq!(body.text(), "return warpfold::minimum(a, b);");
    /// ```
    #[allow(unsafe_code)]
    pub unsafe fn at(text: impl Into<Cow<'static, str>>, file: &'static str, line: u32) -> Self {
        Self { text: text.into(), file, line }
    }

    /// The CUDA C++.
    ///
    /// ```
    /// use warpfold::device_code;
    ///
    /// // SAFETY: the body terminates, uses only its parameters and returns a valid `u32`.
    /// let body = unsafe { device_code!("return a ^ b;") };
    /// assert_eq!(body.text(), "return a ^ b;");
    /// ```
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The source file that contains the first line of the text.
    ///
    /// ```
    /// use warpfold::DeviceCode;
    ///
    /// // SAFETY: the body terminates, uses only its parameters and returns a valid `u32`.
    /// let body = unsafe { DeviceCode::at("return a & b;", "kernels/and.cu", 12) };
    /// assert_eq!(body.file(), "kernels/and.cu");
    /// ```
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The line of the text's first line in [`file`](Self::file), from 1.
    ///
    /// ```
    /// use warpfold::DeviceCode;
    ///
    /// // SAFETY: the body terminates, uses only its parameters and returns a valid `u32`.
    /// let body = unsafe { DeviceCode::at("return a & b;", "kernels/and.cu", 12) };
    /// assert_eq!(body.line(), 12);
    /// ```
    pub fn line(&self) -> u32 {
        self.line
    }
}
