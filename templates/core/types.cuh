// Rust's types for the generated type definitions, where C++ lacks them or names them differently.

namespace warpfold {

// Numbers, under Rust's names.
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

typedef unsigned long long Size;

WARPFOLD_DEVICE Size smaller(Size a, Size b) {
    if (b < a) return b;
    return a;
}

// A Rust array `[T; N]`: the same layout, but passed and returned by value, unlike a C++ array.
template <class T, Size N>
struct Array {
    static constexpr Size LENGTH = N;
    T element[N];
    WARPFOLD_DEVICE T& operator[](Size index) { return element[index]; }
    WARPFOLD_DEVICE const T& operator[](Size index) const { return element[index]; }
};

// The 16-bit floats of the crate `half`, as their bits. Without CUDA's headers they have no
// arithmetic.
struct Half {
    unsigned short bits;
};
struct BFloat16 {
    unsigned short bits;
};

// An element of a bitmap. In memory it is one bit.
struct Bit {
    bool is_set;
    WARPFOLD_DEVICE operator bool() const { return is_set; }
};

// Several types.
template <class... Types>
struct TypeList {};

template <class T, class U>
struct IsSame {
    static constexpr bool VALUE = false;
};
template <class T>
struct IsSame<T, T> {
    static constexpr bool VALUE = true;
};

// A float literal by its bits: exact for NaN payloads, infinities and signed zeros, too.
template <class T, class Bits>
WARPFOLD_DEVICE T from_bits(Bits bits) {
    if constexpr (IsSame<T, float>::VALUE)
        return float_from_bits(bits);
    else
        return double_from_bits(bits);
}

}  // namespace warpfold
