// IEEE 754-2019 minimum, maximum, minimumNumber and maximumNumber, with -0 below +0: the device twins of
// `warpfold::math`, decision for decision, so that both sides return the same bits.

namespace warpfold {

template <class T>
WARPFOLD_DEVICE bool is_negative(T value) {
    return (bits_of(value) >> (8 * sizeof(T) - 1)) != 0;
}

// A NaN if either operand is one.
template <class T>
WARPFOLD_DEVICE T minimum(T a, T b) {
    if (a != a) return a;
    if (b != b) return b;
    if (a == b) {
        if (is_negative(b)) return b;
        return a;
    }
    if (b < a) return b;
    return a;
}

template <class T>
WARPFOLD_DEVICE T maximum(T a, T b) {
    if (a != a) return a;
    if (b != b) return b;
    if (a == b) {
        if (is_negative(a)) return b;
        return a;
    }
    if (b > a) return b;
    return a;
}

// A NaN only if both operands are.
template <class T>
WARPFOLD_DEVICE T minimum_number(T a, T b) {
    if (a != a) return b;
    if (b != b) return a;
    return minimum(a, b);
}

template <class T>
WARPFOLD_DEVICE T maximum_number(T a, T b) {
    if (a != a) return b;
    if (b != b) return a;
    return maximum(a, b);
}

namespace rust {

// Of an integer or a float.
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

}  // namespace rust
}  // namespace warpfold
