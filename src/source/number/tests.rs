use super::*;

#[test]
fn integers_are_of_their_type_and_in_their_range() {
    assert_eq!(of_digits(Scalar::I32, "-2147483648").unwrap(), "(-2147483647 - 1)");
    assert_eq!(of_digits(Scalar::I64, "-9223372036854775808").unwrap(), "(-9223372036854775807ll - 1)");
    assert_eq!(of_digits(Scalar::U64, "18446744073709551615").unwrap(), "18446744073709551615ull");
    assert_eq!(of_digits(Scalar::I8, "-128").unwrap(), "i8(-128)");
    assert_eq!(of_digits(Scalar::U8, "256"), None);
    assert_eq!(of_bits(Scalar::I16, 0xffff), "i16(-1)");
}

#[test]
fn floats_are_exact() {
    assert_eq!(of_digits(Scalar::F32, "0.5").unwrap(), "0.5f");
    assert_eq!(of_digits(Scalar::F32, "1e20").unwrap(), "0x1.5af1d8p66f");
    assert_eq!(of_digits(Scalar::F32, "0.1").unwrap(), "0x1.99999ap-4f");
    assert_eq!(of_digits(Scalar::F64, "-0.1").unwrap(), "-0.1");
    assert_eq!(of_digits(Scalar::F64, "3").unwrap(), "3.0");
    assert_eq!(of_bits(Scalar::F64, 1), "0x0.0000000000001p-1022");
    assert_eq!(of_bits(Scalar::F64, f64::MAX.to_bits()), "0x1.fffffffffffffp1023");
    assert_eq!(
        of_bits(Scalar::F32, f32::INFINITY.to_bits().into()),
        "::warpfold::from_bits<f32>(0x7f800000u)"
    );
    assert_eq!(hexadecimal(f64::from_bits(1)), "0x0.0000000000001p-1022");
    assert_eq!(hexadecimal(2.0), "0x1p1");
}
