// What arrays do in Rust.

namespace warpfold {
namespace rust {

// An element of an array; the last one instead of one that is not there.
template <class A>
WARPFOLD_DEVICE auto& at(A& array, u64 index) {
    return array.element[index < A::LENGTH ? index : A::LENGTH - 1];
}
template <class A>
WARPFOLD_DEVICE const auto& at(const A& array, u64 index) {
    return array.element[index < A::LENGTH ? index : A::LENGTH - 1];
}
template <class A, class T>
WARPFOLD_DEVICE A filled(T element) {
    A array;
    for (u64 k = 0; k < A::LENGTH; ++k) array.element[k] = element;
    return array;
}

}  // namespace rust
}  // namespace warpfold
