// The namespace of a rendered program, with the names that it uses.

namespace warpfold {
namespace rust {}
}  // namespace warpfold

namespace program {
namespace rust = ::warpfold::rust;
using ::warpfold::Array;
using ::warpfold::f32;
using ::warpfold::f64;
using ::warpfold::i16;
using ::warpfold::i32;
using ::warpfold::i64;
using ::warpfold::i8;
using ::warpfold::u16;
using ::warpfold::u32;
using ::warpfold::u64;
using ::warpfold::u8;
}  // namespace program
