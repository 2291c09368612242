//! The methods of numbers that the C++ namespace `rust` has under the same name: see
//! `templates/rust/integers.cuh` and `floats.cuh`.

/// The type that a method returns. The names are those of `warpfold::language::syntax::Returns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returns {
    Same,
    Unsigned,
    Bool,
    U32,
    Ordering,
    PartialOrdering,
}

/// A method: its name, its receivers, the type that it returns, and whether the CPU and every GPU
/// agree on every bit of the result.
///
/// `kinds` lists the receivers: `i` and `u` are signed and unsigned integers, `f` floats, `h` 16-bit
/// floats, `b` is `bool` and `o` is `Ordering`. A method of this name on another kind comes from a trait that is
/// not known here.
pub(super) struct Method {
    pub(super) name: &'static str,
    pub(super) kinds: &'static str,
    pub(super) returns: Returns,
    pub(super) exact: bool,
}

type Rows = (&'static str, Returns, bool, &'static [&'static str]);

const ROWS: &[Rows] = &[
    ("iufh", Returns::Same, true, &["plus", "times", "minimum", "maximum"]),
    ("iuf", Returns::Same, true, &["rem_euclid", "div_euclid"]),
    ("ifh", Returns::Same, true, &["abs", "signum"]),
    (
        "iu",
        Returns::Same,
        true,
        &[
            "isqrt",
            "pow",
            "midpoint",
            "reverse_bits",
            "rotate_left",
            "rotate_right",
            "saturating_add",
            "saturating_div",
            "saturating_mul",
            "saturating_pow",
            "saturating_sub",
            "swap_bytes",
            "wrapping_add",
            "unbounded_shl",
            "unbounded_shr",
            "wrapping_div",
            "wrapping_div_euclid",
            "wrapping_mul",
            "wrapping_neg",
            "wrapping_pow",
            "wrapping_rem",
            "wrapping_rem_euclid",
            "wrapping_shl",
            "wrapping_shr",
            "wrapping_sub",
        ],
    ),
    ("iubo", Returns::Same, true, &["clamp", "max", "min"]),
    (
        "i",
        Returns::Same,
        true,
        &[
            "saturating_abs",
            "saturating_neg",
            "wrapping_abs",
            "wrapping_add_unsigned",
            "wrapping_sub_unsigned",
        ],
    ),
    (
        "u",
        Returns::Same,
        true,
        &[
            "div_ceil",
            "next_multiple_of",
            "next_power_of_two",
            "saturating_add_signed",
            "wrapping_add_signed",
        ],
    ),
    (
        "fh",
        Returns::Same,
        true,
        &[
            "ceil",
            "copysign",
            "floor",
            "fract",
            "ieee_maximum",
            "ieee_maximum_number",
            "ieee_minimum",
            "ieee_minimum_number",
            "mul_add",
            "recip",
            "round",
            "round_ties_even",
            "sqrt",
            "trunc",
        ],
    ),
    ("o", Returns::Same, true, &["reverse", "then"]),
    ("iu", Returns::Unsigned, true, &["abs_diff"]),
    ("i", Returns::Unsigned, true, &["unsigned_abs"]),
    ("fh", Returns::Unsigned, true, &["to_bits"]),
    ("iufbho", Returns::Bool, true, &["eq", "ge", "gt", "le", "lt", "ne"]),
    ("o", Returns::Bool, true, &["is_eq", "is_ge", "is_gt", "is_le", "is_lt", "is_ne"]),
    (
        "fh",
        Returns::Bool,
        true,
        &["is_finite", "is_infinite", "is_nan", "is_sign_negative", "is_sign_positive"],
    ),
    ("f", Returns::Bool, true, &["is_normal", "is_subnormal"]),
    ("i", Returns::Bool, true, &["is_negative", "is_positive"]),
    ("u", Returns::Bool, true, &["is_multiple_of", "is_power_of_two"]),
    ("iufh", Returns::Bool, true, &["is_one", "is_zero"]),
    (
        "iu",
        Returns::U32,
        true,
        &[
            "count_ones",
            "count_zeros",
            "ilog10",
            "ilog2",
            "leading_ones",
            "leading_zeros",
            "trailing_ones",
            "trailing_zeros",
        ],
    ),
    ("iubo", Returns::Ordering, true, &["cmp"]),
    ("fh", Returns::Ordering, true, &["total_cmp"]),
    ("iufbho", Returns::PartialOrdering, true, &["partial_cmp"]),
    // Each library has its own accuracy, so the last bits differ.
    (
        "f",
        Returns::Same,
        false,
        &[
            "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "exp2",
            "exp_m1", "hypot", "ln", "ln_1p", "log10", "log2", "powf", "powi", "sin", "sinh", "tan", "tanh",
        ],
    ),
];

/// The traits of `warpfold::language::known` that supply a method in generic code.
///
/// If no bound names one of them, the first one counts: a trait in a bound may have it as a
/// supertrait. If the list is empty, generic code can call the method only on numbers of a known
/// type.
pub(super) fn traits_of(method: &str) -> &'static [&'static str] {
    match method {
        "is_zero" => &["Zero"],
        "is_one" => &["One"],
        "eq" | "ne" => &["PartialEq"],
        "ge" | "gt" | "le" | "lt" | "partial_cmp" => &["PartialOrd"],
        "cmp" | "clamp" | "max" | "min" => &["Ord"],
        "plus" | "times" | "minimum" | "maximum" => &["Number"],
        "div_euclid" | "rem_euclid" => &["Euclid"],
        "is_negative" | "is_positive" => &["Signed"],
        "abs" | "signum" => &["Float", "Signed", "Real", "FloatCore"],
        "mul_add" => &["Float", "MulAdd", "Real"],
        "ceil" | "floor" | "fract" | "powi" | "recip" | "round" | "trunc" => &["Float", "Real", "FloatCore"],
        "is_finite" | "is_infinite" | "is_nan" | "is_normal" | "is_subnormal" => &["Float", "FloatCore"],
        "is_sign_negative" | "is_sign_positive" => &["Float", "Real", "FloatCore"],
        "copysign" => &["Float"],
        "ieee_maximum" | "ieee_maximum_number" | "ieee_minimum" | "ieee_minimum_number" => &["Ieee"],
        "acos" | "acosh" | "asin" | "asinh" | "atan" | "atan2" | "atanh" | "cbrt" | "cos" | "cosh"
        | "exp" | "exp2" | "exp_m1" | "hypot" | "ln" | "ln_1p" | "log10" | "log2" | "powf" | "sin"
        | "sinh" | "sqrt" | "tan" | "tanh" => &["Float", "Real"],
        "count_ones" | "count_zeros" | "leading_ones" | "leading_zeros" | "reverse_bits" | "rotate_left"
        | "rotate_right" | "swap_bytes" | "trailing_ones" | "trailing_zeros" => &["PrimInt"],
        "pow" => &["PrimInt", "Pow"],
        "saturating_add" => &["Saturating", "SaturatingAdd"],
        "saturating_sub" => &["Saturating", "SaturatingSub"],
        "saturating_mul" => &["SaturatingMul"],
        "wrapping_add" => &["WrappingAdd"],
        "wrapping_mul" => &["WrappingMul"],
        "wrapping_neg" => &["WrappingNeg"],
        "wrapping_shl" => &["WrappingShl"],
        "wrapping_shr" => &["WrappingShr"],
        "wrapping_sub" => &["WrappingSub"],
        _ => &[],
    }
}

/// Whether a known trait declares the method with `&self`.
pub(super) fn is_by_reference(known: &str, method: &str) -> bool {
    match known {
        "Ord" => method == "cmp",
        "Euclid" | "One" | "PartialEq" | "PartialOrd" | "Signed" | "Zero" => true,
        _ => known.starts_with("Wrapping") || known.starts_with("Saturating") && known != "Saturating",
    }
}

pub(super) fn method(name: &str) -> Option<Method> {
    ROWS.iter().find_map(|(kinds, returns, exact, names)| {
        let name = names.iter().find(|&&known| known == name)?;
        Some(Method { name, kinds, returns: *returns, exact: *exact })
    })
}

/// Whether the method is known as one of `warpfold::operators::Number` only: other traits have
/// methods of the same name.
pub(super) fn is_of_number(name: &str) -> bool {
    matches!(name, "plus" | "times" | "minimum" | "maximum")
}

/// Whether the method is one of the trait `Ord` by value.
pub(super) fn is_order(name: &str) -> bool {
    matches!(name, "min" | "max" | "clamp")
}

/// The advice in the error for a method of the standard library that has no counterpart. None for
/// a name that a type of the user may have.
pub(super) fn instead(name: &str) -> Option<&'static str> {
    Some(match name {
        _ if name.starts_with("checked_") || name.starts_with("overflowing_") => {
            "it returns more than a number: use the `wrapping_` or `saturating_` method, and compare"
        }
        "try_into" => "it returns a `Result`: use `x as T`",
        "sin_cos" => "call `sin` and `cos`",
        "to_degrees" | "to_radians" => "multiply by the factor",
        "iter" | "into_iter" | "map" | "iter_mut" | "swap" | "fill" => {
            "write `for x in a`, or index the array: `for k in 0..N { ... a[k] ... }`"
        }
        "clone" | "to_owned" | "borrow" | "as_ref" => "items are `Copy`: use the value itself",
        "unwrap" | "expect" => "there is no `Option` or `Result` here, and nothing may panic",
        _ => return None,
    })
}
