// IEEE 754-2019 minimum, maximum, minimumNumber and maximumNumber, with -0 below +0.
//
// They are the device versions of `warpfold::math`. Both return the same bits, except for those of
// a NaN.

namespace warpfold {

template <class T>
WARPFOLD_DEVICE bool is_negative(T value) {
    return (bits_of(value) >> (8 * sizeof(T) - 1)) != 0;
}

// Returns a NaN if either operand is one.
template <class T>
WARPFOLD_DEVICE T minimum(T a, T b) {
    if ((a != a) | (a < b) | ((a == b) & is_negative(a))) return a;
    return b;
}
template <class T>
WARPFOLD_DEVICE T maximum(T a, T b) {
    if ((a != a) | (a > b) | ((a == b) & is_negative(b))) return a;
    return b;
}

// Returns a NaN only if both operands are NaNs.
template <class T>
WARPFOLD_DEVICE T minimum_number(T a, T b) {
    if ((a != a) | (b < a) | ((a == b) & is_negative(b))) return b;
    return a;
}
template <class T>
WARPFOLD_DEVICE T maximum_number(T a, T b) {
    if ((a != a) | (b > a) | ((a == b) & is_negative(a))) return b;
    return a;
}

// For `f32` there are instructions. The first two exist only from 8.0 on.
#ifndef WARPFOLD_HAS_NAN_MIN_MAX
WARPFOLD_DEVICE f32 min_or_nan(f32 a, f32 b) { return (a != a) | (b != b) ? a + b : min_number(a, b); }
WARPFOLD_DEVICE f32 max_or_nan(f32 a, f32 b) { return (a != a) | (b != b) ? a + b : max_number(a, b); }
#endif
template <>
WARPFOLD_DEVICE f32 minimum(f32 a, f32 b) {
    return min_or_nan(a, b);
}
template <>
WARPFOLD_DEVICE f32 maximum(f32 a, f32 b) {
    return max_or_nan(a, b);
}
template <>
WARPFOLD_DEVICE f32 minimum_number(f32 a, f32 b) {
    return min_number(a, b);
}
template <>
WARPFOLD_DEVICE f32 maximum_number(f32 a, f32 b) {
    return max_number(a, b);
}

namespace rust {

// For integers and floats.
template <class T>
WARPFOLD_DEVICE T minimum(T a, T b) {
    if constexpr (Number<T>::FLOAT)
        return ::warpfold::minimum(a, b);
    else
        return min(a, b);
}
template <class T>
WARPFOLD_DEVICE T maximum(T a, T b) {
    if constexpr (Number<T>::FLOAT)
        return ::warpfold::maximum(a, b);
    else
        return max(a, b);
}

// The names that `warpfold::math` calls.
template <class T>
WARPFOLD_DEVICE T ieee_minimum(T a, T b) {
    return ::warpfold::minimum(a, b);
}
template <class T>
WARPFOLD_DEVICE T ieee_maximum(T a, T b) {
    return ::warpfold::maximum(a, b);
}
template <class T>
WARPFOLD_DEVICE T ieee_minimum_number(T a, T b) {
    return ::warpfold::minimum_number(a, b);
}
template <class T>
WARPFOLD_DEVICE T ieee_maximum_number(T a, T b) {
    return ::warpfold::maximum_number(a, b);
}

}  // namespace rust
}  // namespace warpfold
