//! Programs in disguise: what rustc resolves or strips, and a macro that sees tokens alone could take for something else.
//!
//! All of them are Rust that means what the program would mean without it. A disguised program has the same results in
//! both languages, or is refused.

use rand::Rng;

/// What a whole program is disguised by.
#[derive(Clone, Copy)]
pub(super) struct Disguise {
    /// Some of what is written is compiled out.
    pub(super) attributes: bool,
    /// Types have other names.
    pub(super) aliases: bool,
    /// Functions stand in modules, and are exported again.
    pub(super) modules: bool,
    /// The operator is made by a macro with colliding names.
    pub(super) macros: bool,
    /// Traits of the user's have methods with known names.
    pub(super) traits: bool,
}

/// In the common part of all programs.
pub(super) const ALIASES: &str = "
mod aliases {
    macro_rules! aliases { ($($name:ident $of:ident)*) => { $(pub type $name = $of;)* } }
    aliases! { Ai8 i8 Ai16 i16 Ai32 i32 Ai64 i64 Aisize isize Au8 u8 Au16 u16 Au32 u32 Au64 u64 Ausize usize Af32 f32 Af64 f64 }
}
use aliases::*;
";

impl Disguise {
    pub(super) fn random(random: &mut impl Rng) -> Self {
        let mut one_of = |of: u32| random.random_range(0..of) == 0;
        Self {
            attributes: one_of(4),
            aliases: one_of(2),
            modules: one_of(2),
            macros: one_of(4),
            traits: one_of(4),
        }
    }
}
