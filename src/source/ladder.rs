//! The sources of the ladder's rungs: `templates/ladder/`.

use std::mem::MaybeUninit;

use super::arguments::arguments;
use super::entry::Entry;
use super::program::OperatorType;
use super::rendered::Source;
use super::templates::Template;
use crate::plan::ladder::{Role, Rung};
use crate::{DeviceMonoid, Error};

arguments! {
    /// The arguments of a kernel of the ladder: see `templates/ladder/rung.cuh`.
    RungArguments<T> {
        input: u64,
        length: u64,
        output: u64,
        shared: u64,
        block_level: u64,
        identity: MaybeUninit<T>,
    }
}

const COMMON: Template = ("ladder/rung.cuh", include_str!("../../templates/ladder/rung.cuh"));

macro_rules! files {
    ($($rung:ident $function:literal;)*) => {
        /// The name of the rung's file and of its function.
        fn function(rung: Rung) -> &'static str {
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

/// The files that a rung needs. A reduction may use every reduction before it. A scan needs only
/// its own.
fn templates(rung: Rung) -> Vec<Template> {
    let below = |&other: &Rung| other == rung || (rung.role() == Role::Reduces && other < rung);
    std::iter::once(COMMON).chain(Rung::ALL.into_iter().filter(below).map(template)).collect()
}

impl Source {
    /// Renders a rung of the ladder for blocks of `threads` threads. `adds` says whether the
    /// operator is an [addition](crate::Commutative::IS_ADDITION).
    ///
    /// # Errors
    ///
    /// The errors of an operator that has no CUDA C++ form, such as [`Error::Untranslatable`].
    pub fn of_rung<M: DeviceMonoid>(rung: Rung, threads: u32, adds: bool) -> Result<Self, Error> {
        let entry = entry::<M::Item>(rung, threads, adds);
        Self::render::<M>(&OperatorType::of::<M>(None), &templates(rung), &entry)
    }
}

fn entry<T>(rung: Rung, threads: u32, adds: bool) -> Entry {
    Entry {
        name: "warpfold_rung",
        template: function(rung),
        reader: None,
        arguments: RungArguments::<T>::fields(),
        shape: format!("THREADS = {threads}, ADDS = {}", u32::from(adds)),
        threads,
        blocks_per_multiprocessor: 1,
        compiles_fast: false,
    }
}

impl Rung {
    /// The name of its file in `templates/ladder/`.
    ///
    /// ```
    /// use warpfold::ladder::Rung;
    ///
    /// assert_eq!(Rung::KoggeStone.file(), "kogge_stone.cu");
    /// ```
    pub fn file(self) -> &'static str {
        template(self).0.trim_start_matches("ladder/")
    }

    /// The head comment of that file: its idea, its cost, and the improvement in the next rung.
    ///
    /// ```
    /// use warpfold::ladder::Rung;
    ///
    /// let explanation = Rung::KoggeStone.explanation();
    /// assert!(explanation.starts_with("Kogge-Stone: each block scans its items"));
    /// ```
    pub fn explanation(self) -> String {
        let head = template(self).1.lines().map_while(|line| line.strip_prefix("//"));
        head.map(|line| format!("{}\n", line.trim())).collect()
    }
}
