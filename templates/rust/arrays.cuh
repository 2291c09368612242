// Rust's operations on arrays, for one lane.

namespace warpfold {
namespace rust {

// An element of an array. An index past the end gives the last element.
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
