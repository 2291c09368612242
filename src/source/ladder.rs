//! The templates of the ladder.

use super::templates::Template;
use crate::plan::ladder::{Role, Rung};

const COMMON: Template = ("ladder/rung.cuh", include_str!("../../templates/ladder/rung.cuh"));

macro_rules! files {
    ($($rung:ident $function:literal;)*) => {
        /// What its file and its function are called.
        pub(super) fn function(rung: Rung) -> &'static str {
            match rung {
                $(Rung::$rung => $function,)*
            }
        }

        fn template(rung: Rung) -> Template {
            match rung {
                $(Rung::$rung => (
                    concat!("ladder/", $function, ".cu"),
                    include_str!(concat!("../../templates/ladder/", $function, ".cu")),
                ),)*
            }
        }
    };
}
files! {
    Sequential "sequential";
    BottomUp "bottom_up";
    TopDown "top_down";
    GlobalHalving "global_halving";
    Interleaved "interleaved";
    TwoItems "two_items";
    Strided "strided";
    SequentialAddressing "sequential_addressing";
    FirstCombine "first_combine";
    LastWarp "last_warp";
    Unrolled "unrolled";
    Cascading "cascading";
    Shuffles "shuffles";
    Atomics "atomics";
    LastBlock "last_block";
    KoggeStone "kogge_stone";
    BrentKung "brent_kung";
    Exclusive "exclusive";
    Hierarchical "hierarchical";
}

/// A reduction's files: those before it, on which it may build, and its own. Others stand alone.
pub(super) fn templates(rung: Rung) -> Vec<Template> {
    let below = |&other: &Rung| other == rung || (rung.role() == Role::Reduces && other < rung);
    std::iter::once(COMMON).chain(Rung::ALL.into_iter().filter(below).map(template)).collect()
}

impl Rung {
    /// The file that it is, in `templates/ladder/`.
    pub fn file(self) -> &'static str {
        template(self).0.trim_start_matches("ladder/")
    }

    /// What that file says about it: its idea, its cost, and what the next one mends.
    pub fn explanation(self) -> String {
        let head = template(self).1.lines().map_while(|line| line.strip_prefix("//"));
        head.map(|line| format!("{}\n", line.trim())).collect()
    }
}
