//! The types of random programs.

use std::rc::Rc;

#[derive(Clone, PartialEq)]
pub(super) enum Ty {
    Scalar(&'static str),
    Array(Box<Ty>, usize),
    /// Of 2 or 3 parts.
    Tuple(Vec<Ty>),
    Struct(Rc<Struct>),
}

/// A struct that the program declares, or an instance of a generic one.
#[derive(PartialEq)]
pub(super) struct Struct {
    pub(super) name: String,
    /// The generic arguments, such as `<f32, 3>`, or nothing.
    pub(super) arguments: String,
    /// The fields of a tuple struct have numbers as names.
    pub(super) fields: Vec<(String, Ty)>,
    pub(super) is_tuple: bool,
    /// The least alignment, from `align(N)`.
    pub(super) align: usize,
    /// The name of a constant of this type.
    pub(super) constant: String,
}

/// A function of a struct that expressions may call.
#[derive(Clone)]
pub(super) struct Method {
    pub(super) of: Ty,
    /// The second operand.
    pub(super) other: Ty,
    pub(super) result: Ty,
    pub(super) kind: Called,
}

/// How a function is called.
#[derive(Clone)]
pub(super) enum Called {
    Method(&'static str),
    Function(&'static str),
    Operator(&'static str),
    Negation,
}

pub(super) const INTEGERS: [&str; 10] =
    ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];
pub(super) const SCALARS: [&str; 13] =
    ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32", "f64", "bool"];

impl Ty {
    pub(super) fn name(&self) -> String {
        match self {
            Ty::Scalar(name) => (*name).to_owned(),
            Ty::Array(element, length) => format!("[{}; {length}]", element.name()),
            Ty::Tuple(parts) => {
                let names: Vec<String> = parts.iter().map(Ty::name).collect();
                format!("({})", names.join(", "))
            }
            Ty::Struct(of) => format!("{}{}", of.name, of.arguments),
        }
    }

    pub(super) fn size(&self) -> usize {
        self.size_and_align().0
    }

    fn size_and_align(&self) -> (usize, usize) {
        match self {
            Ty::Scalar("i8" | "u8" | "bool") => (1, 1),
            Ty::Scalar("i16" | "u16") => (2, 2),
            Ty::Scalar("i32" | "u32" | "f32") => (4, 4),
            Ty::Scalar(_) => (8, 8),
            Ty::Array(element, length) => {
                let (size, align) = element.size_and_align();
                (size * length, align)
            }
            // rustc may choose a shorter layout.
            Ty::Tuple(parts) => in_order(parts.iter(), 1),
            Ty::Struct(of) => in_order(of.fields.iter().map(|(_, field)| field), of.align),
        }
    }

    /// Whether `part` is this type, or a type inside it.
    pub(super) fn contains(&self, part: &Ty) -> bool {
        let inside = match self {
            Ty::Scalar(_) => false,
            Ty::Array(element, _) => element.contains(part),
            Ty::Tuple(parts) => parts.iter().any(|inside| inside.contains(part)),
            Ty::Struct(of) => of.fields.iter().any(|(_, field)| field.contains(part)),
        };
        inside || self == part
    }
}

/// Size and alignment of parts that lie in order, with an alignment of at least `align`.
fn in_order<'a>(parts: impl Iterator<Item = &'a Ty>, align: usize) -> (usize, usize) {
    let (mut end, mut most) = (0_usize, align);
    for part in parts {
        let (size, align) = part.size_and_align();
        end = end.next_multiple_of(align) + size;
        most = most.max(align);
    }
    (end.next_multiple_of(most), most)
}

pub(super) fn is_float(name: &str) -> bool {
    name.starts_with('f')
}

pub(super) fn is_signed(name: &str) -> bool {
    name.starts_with('i')
}
