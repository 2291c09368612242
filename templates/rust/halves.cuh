// Conversions of the 16-bit floats.

namespace warpfold {
namespace rust {

// The same number as an f32. A NaN becomes a NaN.
WARPFOLD_DEVICE f32 widened(Half a) { return float_of_half(a.bits); }
WARPFOLD_DEVICE f32 widened(BFloat16 a) { return float_from_bits(static_cast<u32>(a.bits) << 16); }

}  // namespace rust
}  // namespace warpfold
