// The counterpart of `templates/core/intrinsics.cuh` for the CPU. It suffices for the types and
// operators of a rendered source, but not for its kernel.
#include <math.h>
#include <string.h>

#include <utility>

#define WARPFOLD_DEVICE inline
#define WARPFOLD_OFFSET(type, field) __builtin_offsetof(type, field)

namespace warpfold {

WARPFOLD_DEVICE float float_from_bits(unsigned bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
WARPFOLD_DEVICE float float_of_half(unsigned short bits) {
    const unsigned sign = static_cast<unsigned>(bits & 0x8000) << 16, number = static_cast<unsigned>(bits & 0x7fff) << 13;
    // The exponent of an f32 has a bias that is greater by 112. An infinity or a NaN has the
    // greatest exponent.
    const float scaled = float_from_bits(number) * float_from_bits((127 + 112) << 23);
    unsigned scaled_bits;
    memcpy(&scaled_bits, &scaled, sizeof scaled_bits);
    return float_from_bits(sign | scaled_bits | (number >= 31u << 23 ? 0xffu << 23 : 0));
}
WARPFOLD_DEVICE double double_from_bits(unsigned long long bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
WARPFOLD_DEVICE unsigned bits_of(float value) {
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
WARPFOLD_DEVICE unsigned long long bits_of(double value) {
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
// -0 is below +0.
WARPFOLD_DEVICE bool is_below(float a, float b) { return a == b ? signbit(a) && !signbit(b) : a < b; }
WARPFOLD_DEVICE float min_number(float a, float b) { return isnan(a) || is_below(b, a) ? b : a; }
WARPFOLD_DEVICE float max_number(float a, float b) { return isnan(a) || is_below(a, b) ? b : a; }
WARPFOLD_DEVICE unsigned count_leading_zeros(unsigned word) { return word == 0 ? 32 : __builtin_clz(word); }
WARPFOLD_DEVICE unsigned count_leading_zeros(unsigned long long word) { return word == 0 ? 64 : __builtin_clzll(word); }
WARPFOLD_DEVICE unsigned popcount(unsigned word) { return __builtin_popcount(word); }
WARPFOLD_DEVICE unsigned popcount(unsigned long long word) { return __builtin_popcountll(word); }

}  // namespace warpfold
