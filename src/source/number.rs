//! Numbers as CUDA C++ literals, each exactly of its type.

use super::names::scalar_name;
use crate::Scalar;

/// The number that Rust writes in base 10; `None` if the type has no such value.
pub(super) fn of_digits(scalar: Scalar, digits: &str) -> Option<String> {
    match scalar {
        Scalar::F32 => digits.parse().ok().map(f32_literal),
        Scalar::F64 => digits.parse().ok().map(f64_literal),
        _ => digits.parse().ok().and_then(|value| integer(scalar, value)),
    }
}

/// The scalar with these bits.
pub(super) fn of_bits(scalar: Scalar, bits: u64) -> String {
    let integer = |value: i128| integer(scalar, value).unwrap_or_default();
    match scalar {
        Scalar::I8 => integer((bits as i8).into()),
        Scalar::I16 => integer((bits as i16).into()),
        Scalar::I32 => integer((bits as i32).into()),
        Scalar::I64 => integer((bits as i64).into()),
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => integer(bits.into()),
        Scalar::Bool | Scalar::Bit => (bits != 0).to_string(),
        Scalar::F32 => f32_literal(f32::from_bits(bits as u32)),
        Scalar::F64 => f64_literal(f64::from_bits(bits)),
        Scalar::F16 | Scalar::BF16 => format!("{}{{{bits:#x}}}", scalar_name(scalar)),
    }
}

fn integer(scalar: Scalar, value: i128) -> Option<String> {
    Some(match scalar {
        // C++ has no negative literals, so the least value of a type has no literal.
        Scalar::I32 if value == i32::MIN.into() => format!("({} - 1)", i32::MIN + 1),
        Scalar::I64 if value == i64::MIN.into() => format!("({}ll - 1)", i64::MIN + 1),
        Scalar::I32 => i32::try_from(value).ok()?.to_string(),
        Scalar::I64 => format!("{}ll", i64::try_from(value).ok()?),
        Scalar::U32 => format!("{}u", u32::try_from(value).ok()?),
        Scalar::U64 => format!("{}ull", u64::try_from(value).ok()?),
        Scalar::I8 => format!("i8({})", i8::try_from(value).ok()?),
        Scalar::I16 => format!("i16({})", i16::try_from(value).ok()?),
        Scalar::U8 => format!("u8({})", u8::try_from(value).ok()?),
        Scalar::U16 => format!("u16({})", u16::try_from(value).ok()?),
        Scalar::Bool | Scalar::F32 | Scalar::F64 | Scalar::F16 | Scalar::BF16 | Scalar::Bit => return None,
    })
}

fn f32_literal(value: f32) -> String {
    if !value.is_finite() {
        return format!("::warpfold::from_bits<f32>({:#x}u)", value.to_bits());
    }
    // A compiler may parse the decimal as a double and then round again. So the decimal is written
    // only if the nearest double equals the float.
    let decimal = format!("{value:?}");
    match format!("{:?}", f64::from(value)) == decimal {
        true => format!("{decimal}f"),
        false => format!("{}f", hexadecimal(value.into())),
    }
}

fn f64_literal(value: f64) -> String {
    if !value.is_finite() {
        return format!("::warpfold::from_bits<f64>({:#x}ull)", value.to_bits());
    }
    // Every compiler parses a decimal of at most 15 digits correctly.
    let decimal = format!("{value:?}");
    let few = decimal.chars().filter(char::is_ascii_digit).count() <= 15;
    match few && (value == 0.0 || value.is_normal()) {
        true => decimal,
        false => hexadecimal(value),
    }
}

/// A hexadecimal float literal with the exact value, such as `0x1.8p+1`.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let (sign, exponent, fraction) =
        (if bits >> 63 == 1 { "-" } else { "" }, (bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let (whole, exponent) = if exponent == 0 { (0, -1022) } else { (1, exponent - 1023) };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("{sign}0x{whole}{point}{digits}p{exponent}")
}

#[cfg(test)]
mod tests;
