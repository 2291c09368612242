//! Disguised programs: they contain constructs that rustc resolves or strips, and that a macro
//! could misread because it sees only tokens.
//!
//! In Rust a disguised program means the same as the program without its disguise. It must have
//! equal results in both languages, or be refused.

use rand::Rng;

/// The disguises of a program.
#[derive(Clone, Copy)]
pub(super) struct Disguise {
    /// Some statements, elements or arms are compiled out by `#[cfg]`.
    pub(super) attributes: bool,
    /// Types have aliases.
    pub(super) aliases: bool,
    /// Functions stand in modules and are re-exported.
    pub(super) modules: bool,
    /// A macro with colliding names writes the operator.
    pub(super) macros: bool,
    /// User traits have methods with the names of known methods.
    pub(super) traits: bool,
}

/// Type aliases for all disguised programs.
pub(super) const ALIASES: &str = "
mod aliases {
    macro_rules! aliases { ($($name:ident $of:ident)*) => { $(pub type $name = $of;)* } }
    aliases! { Ai8 i8 Ai16 i16 Ai32 i32 Ai64 i64 Aisize isize Au8 u8 Au16 u16 Au32 u32 Au64 u64 Ausize usize Af32 f32 Af64 f64 Abool bool }
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
