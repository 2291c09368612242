// Arithmetic of the 16-bit floats, as the crate `half` has it: an operation of f32, whose result is
// rounded to nearest, ties to even. Part of the programs that use it.

namespace halves__ {

// The bits of the f16 nearest to a number.
WARPFOLD_DEVICE unsigned short half_bits(f32 a) {
    const u32 sign = (::warpfold::bits_of(a) >> 16) & 0x8000;
    const u32 magnitude = ::warpfold::bits_of(a) & 0x7fffffff;
    if (magnitude > 0x7f800000) return static_cast<unsigned short>(sign | 0x7e00);
    // From 65520 on, infinity is nearest.
    if (magnitude >= 0x477ff000) return static_cast<unsigned short>(sign | 0x7c00);
    if (magnitude < 0x38800000) {
        // A subnormal is a multiple of 2^-24, as is the last bit of a float between 0.5 and 1.
        const f32 shifted = ::warpfold::float_from_bits(magnitude) + 0.5f;
        return static_cast<unsigned short>(sign | (::warpfold::bits_of(shifted) - 0x3f000000));
    }
    const u32 biased = magnitude - 0x38000000;
    return static_cast<unsigned short>(sign | ((biased + 0xfff + ((biased >> 13) & 1)) >> 13));
}
// The bits of the bf16 nearest to a number.
WARPFOLD_DEVICE unsigned short bfloat_bits(f32 a) {
    const u32 bits = ::warpfold::bits_of(a);
    if (a != a) return static_cast<unsigned short>((bits >> 16) | 0x40);
    return static_cast<unsigned short>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T>
struct Rounding;
template <>
struct Rounding<::warpfold::Half> {
    WARPFOLD_DEVICE static ::warpfold::Half of(f32 a) { return ::warpfold::Half{half_bits(a)}; }
};
template <>
struct Rounding<::warpfold::BFloat16> {
    WARPFOLD_DEVICE static ::warpfold::BFloat16 of(f32 a) { return ::warpfold::BFloat16{bfloat_bits(a)}; }
};

template <class T>
WARPFOLD_DEVICE T rounded(f32 a) {
    return Rounding<T>::of(a);
}
template <class T>
WARPFOLD_DEVICE T negated(T a) {
    return T{static_cast<unsigned short>(a.bits ^ 0x8000)};
}

}  // namespace halves__
