//! Compares the generated part of rendered sources with golden files, for operators of each kind.
//!
//! `WARPFOLD_BLESS=1 cargo test --test rendering` rewrites the files. Read the difference before
//! you commit it.

use std::path::Path;

use support::operators::{LastPlaced, LeftmostNearest, MaxByNorm, ModularAffine, Reserved};
use support::templates::templates;
use warpfold::operators::{AffineComposition, Matrix2Product, Max, Sum};
use warpfold::plan::Kernel;
use warpfold::source::Source;
use warpfold::{
    Device, DeviceMonoid, DeviceOperator, DeviceType, Monoid, Policy, Reduction, Scan, device_code, monoid,
};

/// The program of an operator.
fn program<M: DeviceMonoid>(operator: M) -> String {
    program_of(&Reduction::with(Device::cpu(), operator).source().expect("renders"))
}

/// The program of a source, without the line numbers of Rust files, which change with every edit.
/// `tests/errors.rs` checks one of them.
fn program_of(source: &Source) -> String {
    let is_author = |line: &str| line.starts_with("#line ") && line.ends_with(".rs\"");
    let unnumbered = |line: &str| match line.split_once(" \"") {
        Some((_, file)) if is_author(line) => format!("#line _ \"{file}\n"),
        _ => format!("{line}\n"),
    };
    source.program().lines().map(unnumbered).collect()
}

#[track_caller]
fn assert_golden<M: DeviceMonoid>(name: &str, operator: M) {
    let program = program(operator);
    assert_eq!(program, self::program(operator), "rendering is a pure function");
    assert_golden_program(name, program);
}

#[track_caller]
fn assert_golden_program(name: &str, program: String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("rendering/{name}.cu"));
    if std::env::var_os("WARPFOLD_BLESS").is_some() {
        std::fs::write(&path, &program).expect("writable");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(program == golden, "{} differs; rendered now:\n{program}", path.display());
}

#[test]
fn a_scalar_operator() {
    assert_golden("sum_of_f32", Sum::<f32>::new());
    assert_golden("sum_of_i8", Sum::<i8>::new());
}

#[test]
fn a_scan() {
    let source = Scan::with(Device::cpu(), MaxByNorm).source().expect("renders");
    assert_golden_program("scan_by_max_by_norm", program_of(&source));
}

#[test]
fn a_baseline() {
    let policy = Policy::for_item(&<MaxByNorm as Monoid>::Item::layout());
    let source = |kernel| Source::of_reduction::<MaxByNorm>(&policy, kernel).expect("renders");
    let (baseline, large) = (source(Kernel::Baseline), source(Kernel::Large));
    assert_eq!(baseline.definitions(), large.definitions());
    let entry = &baseline.program()[baseline.definitions().len()..];
    assert_golden_program("baseline_of_12_bytes", entry.to_owned());
}

#[test]
fn operators_of_arrays() {
    assert_golden("matrix2_product_of_f64", Matrix2Product::<f64>::new());
    assert_golden("affine_composition_of_u16", AffineComposition::<u16>::new());
}

#[test]
fn an_operator_with_a_helper_function() {
    assert_golden("max_by_norm", MaxByNorm);
}

#[test]
fn a_helper_written_by_hand() {
    assert_golden("leftmost_nearest", LeftmostNearest { x: 0.0, y: 0.0, z: 0.0 });
}

#[test]
fn an_operator_with_state() {
    assert_golden("modular_affine", ModularAffine { modulus: 7, padding: 0 });
}

#[test]
fn state_is_no_part_of_the_source() {
    let with = |modulus| program(ModularAffine { modulus, padding: 0 });
    assert_eq!(with(7), with(11));
}

#[test]
fn padding_reserved_names_named_types_and_constants() {
    assert_golden("last_placed", LastPlaced);
    assert_golden("reserved", Reserved);
}

mod near {
    #[derive(Clone, Copy, Debug, warpfold::DeviceType)]
    #[repr(C)]
    pub struct Point(pub f32, pub f32);
}
mod far {
    #[derive(Clone, Copy, Debug, warpfold::DeviceType)]
    #[repr(C)]
    pub struct Point(pub f64);
}

/// A struct with two types of the same name, each used twice.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Segment {
    start: near::Point,
    end: near::Point,
    vanishing: [far::Point; 2],
}

#[derive(Clone, Copy, Default)]
struct Longest;

impl Monoid for Longest {
    type Item = Segment;
    fn identity(&self) -> Segment {
        Segment { start: near::Point(0.0, 0.0), end: near::Point(0.0, 0.0), vanishing: [far::Point(0.0); 2] }
    }
    fn combine(&self, left: Segment, _: Segment) -> Segment {
        left
    }
}

impl DeviceMonoid for Longest {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        // SAFETY: the body only reads its operands.
        DeviceOperator::new::<Self::Item>("left", "right", unsafe { device_code!("return left;") })
    }
}

#[test]
fn types_of_one_name_are_kept_apart() {
    assert_golden("two_points", Longest);
}

/// Line of the first statement of `Lines::combine`. The test counts other lines from it.
const FIRST_LINE: u32 = line!() + 12;

/// Clamps. The body has a gap, a statement of several lines, and a line of several statements.
#[derive(Clone, Copy, Default)]
struct Lines;

#[rustfmt::skip]
#[monoid]
impl Monoid for Lines {
    type Item = i32;
    fn identity(&self) -> i32 { 0 }
    fn combine(&self, a: i32, b: i32) -> i32 {
        let mut sum = a + b; let limit = 100;



        // Four lines without a counterpart.
        if sum > limit {
            sum = limit;
        }
        sum
    }
}

#[test]
fn every_line_has_the_number_of_its_original() {
    let source = Reduction::<Lines>::new(Device::cpu()).source().expect("renders");
    let mut number = 0;
    let mut found = Vec::new();
    for line in source.definitions().lines() {
        if let Some(rest) = line.strip_prefix("#line ") {
            number = rest.split(' ').next().and_then(|number| number.parse::<u32>().ok()).expect("a number");
            continue;
        }
        let statements = ["i32 sum", "if (sum", "sum = limit", "return sum"];
        found.extend(
            statements.iter().filter(|text| line.contains(**text)).map(|text| (*text, number - FIRST_LINE)),
        );
        number += 1;
    }
    assert_eq!(found, [("i32 sum", 0), ("if (sum", 5), ("sum = limit", 6), ("return sum", 8)]);
}

#[test]
fn a_source_holds_the_templates_whole() {
    let source = Reduction::<Sum<f32>>::new(Device::cpu()).source().expect("renders");
    let template = include_str!("../templates/reduce/bracket.cuh");
    assert!(
        source.text().contains(&format!("#line 1 \"warpfold/templates/reduce/bracket.cuh\"\n{template}"))
    );
    assert!(source.text().ends_with(source.program()));
}

/// The templates with Rust's semantics.
const RUST_SEMANTICS: [&str; 4] =
    ["rust/arrays.cuh", "rust/integers.cuh", "rust/floats.cuh", "rust/math.cuh"];

#[test]
fn a_source_has_what_rust_means_where_it_may_say_so() {
    fn has_meanings<M: DeviceMonoid>(operator: M) -> bool {
        let source = Reduction::with(Device::cpu(), operator).source().expect("renders");
        let has = |file| source.text().contains(&format!("#line 1 \"warpfold/templates/{file}\"\n"));
        let has = RUST_SEMANTICS.map(has);
        assert!(has == [has[0]; 4]);
        has[0]
    }
    assert!(!has_meanings(Sum::<f32>::new()));
    assert!(!has_meanings(MaxByNorm));
    assert!(has_meanings(Sum::<i32>::new()));
    assert!(has_meanings(Max::<f32>::new()));
    // A hand-written body may use any of these templates.
    assert!(has_meanings(Reserved));
    assert!(has_meanings(LeftmostNearest { x: 0.0, y: 0.0, z: 0.0 }));
}

#[test]
fn no_kernel_needs_what_rust_means() {
    let templates = templates();
    let has = |name: &str| templates.iter().any(|(other, _)| other == name);
    assert!(RUST_SEMANTICS.iter().all(|name| has(name)));
    for (name, text) in templates.iter().filter(|(name, _)| !RUST_SEMANTICS.contains(&name.as_str())) {
        // The prelude of a program may name their namespace.
        let text = text.replace("::warpfold::rust;", "");
        assert!(!text.contains("rust::") && !text.contains("using namespace"), "{name}");
    }
}

/// An enum with an order of its own, which is not that of its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceType)]
#[repr(u8)]
enum Rank {
    Low,
    #[default]
    High,
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (*other as u8).partial_cmp(&(*self as u8))
    }
}

/// The larger of two values, by generic code.
#[derive(Clone, Copy, Default)]
struct Larger<T>(std::marker::PhantomData<T>);

#[monoid]
impl<T: DeviceType + PartialOrd + Default> Monoid for Larger<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::default()
    }
    fn combine(&self, a: T, b: T) -> T {
        if a < b { b } else { a }
    }
}

#[test]
fn generic_code_does_not_take_a_type_for_a_number() {
    let source = Reduction::<Larger<f32>>::new(Device::cpu()).source();
    assert!(source.is_ok());
    let refused = Reduction::<Larger<Rank>>::new(Device::cpu()).source();
    assert!(matches!(refused, Err(warpfold::Error::Untranslatable { .. })), "{refused:?}");
    assert_eq!(Larger::default().combine(Rank::Low, Rank::High), Rank::Low);
}

mod helpers {
    #[warpfold::device]
    pub fn halved(x: u32) -> u32 {
        x / 2
    }

    #[warpfold::device]
    pub fn last<T: Copy, const N: usize>(x: [T; N]) -> T {
        x[N - 1]
    }
}

mod hidden {
    use super::helpers::*;
    use warpfold::{Monoid, monoid};

    /// Hides the function of this name from the import, and not its form.
    fn halved(x: u32) -> u32 {
        x
    }

    #[derive(Clone, Copy, Default)]
    pub struct Hidden;

    #[monoid]
    impl Monoid for Hidden {
        type Item = u32;
        fn identity(&self) -> u32 {
            0
        }
        fn combine(&self, a: u32, b: u32) -> u32 {
            a + halved(b)
        }
    }

    #[derive(Clone, Copy, Default)]
    pub struct Visible;

    #[monoid]
    impl Monoid for Visible {
        type Item = u32;
        fn identity(&self) -> u32 {
            0
        }
        fn combine(&self, a: u32, b: u32) -> u32 {
            super::helpers::halved(last([a, b])) + last::<u32, 1>([a])
        }
    }
}

#[test]
fn a_function_that_hides_a_device_function_is_not_taken_for_it() {
    let refused = Reduction::<hidden::Hidden>::new(Device::cpu()).source();
    let Err(warpfold::Error::Untranslatable { reason, .. }) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("another function hides"), "{reason}");
    let source = Reduction::<hidden::Visible>::new(Device::cpu()).source();
    assert!(source.is_ok(), "{source:?}");
}
