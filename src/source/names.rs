//! Rust names as CUDA C++ names: valid, readable and unique.

use std::collections::HashSet;

use crate::Scalar;

/// Names that an identifier of the user must not have: C++ keywords, alternative tokens, and macros
/// and names that the compiler or the templates define.
const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "program",
    "rust",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f32",
    "f64",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "warpfold",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    // Macros of the compiler and of the intrinsics.
    "linux",
    "unix",
    "assert",
    "NULL",
    "INFINITY",
    "NAN",
    "WARPFOLD_DEVICE",
    "WARPFOLD_OUTLINED",
    "WARPFOLD_SHARED",
    "WARPFOLD_KERNEL",
    "WARPFOLD_PARAMETER",
    "WARPFOLD_OFFSET",
    // Names that the generated program declares.
    "Arguments",
    "Array",
    "Element",
    "Item",
    "Monoid",
    "Operator",
    "Output",
    "Parts",
    "Reader",
    "Shape",
    "combine",
    "prepare",
    "present",
    "presented",
    "self",
];

/// `name` as a C++ identifier:
///
/// - A character that C++ does not allow becomes `u` and its code point.
/// - A leading digit gets an underscore before it.
/// - A reserved name gets an underscore after it.
pub(super) fn identifier(name: &str) -> String {
    let mut identifier = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '_' | '0'..='9' => identifier.push(character),
            _ => identifier.push_str(&format!("u{:04x}", u32::from(character))),
        }
    }
    if identifier.is_empty() || identifier.starts_with(|first: char| first.is_ascii_digit()) {
        identifier.insert(0, '_');
    }
    // C++ reserves names with two underscores in a row, and names with a leading underscore and a
    // capital.
    while identifier.contains("__") {
        identifier = identifier.replace("__", "_u_");
    }
    let capital = |second: char| second.is_ascii_uppercase();
    if identifier.strip_prefix('_').is_some_and(|rest| rest.starts_with(capital)) {
        identifier.insert(0, 'u');
    }
    if RESERVED.contains(&identifier.as_str()) {
        identifier.push('_');
    }
    identifier
}

/// `crate::module::Pair<other::Point, [f32; 4]>` as `Pair_Point_f32_4`.
pub(super) fn type_identifier(path: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = path.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
    let last: Vec<&str> = words.map(|word| word.rsplit("::").next().unwrap_or(word)).collect();
    identifier(last.join("_").trim_matches('_'))
}

/// The names that are taken in one scope.
#[derive(Clone, Default)]
pub(super) struct Scope(HashSet<String>);

impl Scope {
    /// `wanted`, or the first of `wanted_2`, `wanted_3`, ... that is free.
    pub(super) fn claim(&mut self, wanted: String) -> String {
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let free = std::iter::once(wanted.clone()).chain(numbered).find(|name| !self.0.contains(name));
        let name = free.unwrap_or(wanted);
        self.0.insert(name.clone());
        name
    }
}

/// The C++ name of a scalar's type.
pub(super) fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I8 => "i8",
        Scalar::I16 => "i16",
        Scalar::I32 => "i32",
        Scalar::I64 => "i64",
        Scalar::U8 => "u8",
        Scalar::U16 => "u16",
        Scalar::U32 => "u32",
        Scalar::U64 => "u64",
        Scalar::Bool => "bool",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
        Scalar::F16 => "::warpfold::Half",
        Scalar::BF16 => "::warpfold::BFloat16",
        Scalar::Bit => "::warpfold::Bit",
    }
}

#[cfg(test)]
mod tests;
