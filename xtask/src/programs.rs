//! `cargo xtask programs`: random programs in the subset of `#[monoid]`, compiled by both compilers and compared.
//!
//! Each program is an operator with a typed body, and maybe a helper function. What would panic in Rust is not written:
//! divisors are odd and not -1, indices are taken modulo a length. Nor is what would make a promise of a NaN's sign.
//! The crate that they become is built anew each time, and run; it says which program disagrees, on which items.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use crate::command::{command, run};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many programs.
    #[arg(long, default_value_t = 2000)]
    count: u32,
    /// The same seed gives the same programs.
    #[arg(long)]
    seed: Option<u64>,
    /// Pairs of items that each program is run on.
    #[arg(long, default_value_t = 1000)]
    pairs: u32,
}

impl Options {
    /// A batch for every day, of a seed of its own.
    pub(crate) fn few() -> Self {
        Self { count: 150, seed: None, pairs: 300 }
    }
}

const FOLDER: &str = "target/programs";

pub(crate) fn run_all(options: &Options) -> Result<()> {
    let seed = options.seed.unwrap_or_else(rand::random);
    println!("{} random programs of seed {seed}, on {} pairs of items each", options.count, options.pairs);
    write(Path::new(FOLDER), seed, options.count, options.pairs)?;
    run(command(&format!("cargo run --quiet --manifest-path {FOLDER}/Cargo.toml"))
        .env("CARGO_TARGET_DIR", format!("{FOLDER}/target")))
}

/// The crate of the programs.
fn write(folder: &Path, seed: u64, count: u32, pairs: u32) -> Result<()> {
    let root = std::env::current_dir()?.display().to_string();
    let mut random = SmallRng::seed_from_u64(seed);
    let mut programs = String::new();
    let mut visits = String::new();
    for number in 0..count {
        programs.push_str(&Generator::new(&mut random, number).program());
        writeln!(visits, "    visit(\"p{number}\", P{number});")?;
    }
    let main = format!(
        "#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]
#[path = \"{root}/tests/support/cpp.rs\"]
mod cpp;
#[path = \"{root}/tests/support/edges.rs\"]
mod edges;
#[path = \"{root}/tests/support/templates.rs\"]
mod templates;

use edges::Edge;
use warpfold::laws::proptest::prelude::*;
use warpfold::{{DeviceMonoid, DeviceType, Monoid, device, math, monoid}};

{TYPES}
{programs}
fn main() {{
    let mut library = cpp::Library::default();
    let mut checks: Vec<(&'static str, Box<dyn Fn(&cpp::Library)>)> = Vec::new();
    fn add<M: DeviceMonoid>(library: &mut cpp::Library, checks: &mut Vec<(&'static str, Box<dyn Fn(&cpp::Library)>)>, name: &'static str, operator: M) where M::Item: Edge {{
        let number = checks.len();
        library.add(number, operator);
        checks.push((name, Box::new(move |library| cpp::check(operator, library.combine(number), {pairs}))));
    }}
    macro_rules! visit {{ ($name:expr, $operator:expr) => {{ add(&mut library, &mut checks, $name, $operator) }} }}
{}
    let mut failed = 0;
    for (name, check) in &checks {{
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&library))).is_err() {{
            eprintln!(\"{{name}} of seed {seed} disagrees\");
            failed += 1;
        }}
    }}
    println!(\"{{}} programs, {{failed}} disagreements\", checks.len());
    std::process::exit((failed > 0) as i32);
}}
",
        visits.replace("visit(", "visit!(")
    );
    let manifest = format!(
        "[package]
name = \"programs\"
version = \"0.0.0\"
edition = \"2024\"

[dependencies]
cc = \"1\"
libloading = \"0.9\"
tempfile = \"3\"
warpfold = {{ path = \"{root}\", features = [\"laws\"] }}

[profile.dev]
overflow-checks = false
debug = false
incremental = false

[workspace]
"
    );
    fs::create_dir_all(folder.join("src")).context("the folder of the programs")?;
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("src/main.rs"), main)?;
    // The versions that this workspace has tried.
    fs::copy("Cargo.lock", folder.join("Cargo.lock"))?;
    Ok(())
}

/// What the programs have in common.
const TYPES: &str = "
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Record { a: i32, b: u8, c: f64, d: [i16; 3], e: bool }
impl Edge for Record {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy(), Edge::strategy(), Edge::strategy(), Edge::strategy())
            .prop_map(|(a, b, c, d, e)| Self { a, b, c, d, e })
            .boxed()
    }
}
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Pair(u64, f32);
impl Edge for Pair {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy()).prop_map(|(long, float)| Self(long, float)).boxed()
    }
}
const SEVEN: i32 = 7;
const MASK: u64 = 0xff00_ff00_0000_1234;
const TENTH: f64 = 0.1;
#[device]
fn select<T: Copy>(condition: bool, yes: T, no: T) -> T {
    if condition { yes } else { no }
}
#[device]
fn halves(x: u64) -> (u32, u32) {
    ((x >> 32) as u32, x as u32)
}
";

#[derive(Clone, PartialEq)]
enum Ty {
    Scalar(&'static str),
    Array(&'static str, usize),
    Record,
    Pair,
}

const INTEGERS: [&str; 10] = ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];
const SCALARS: [&str; 13] =
    ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32", "f64", "bool"];

impl Ty {
    fn name(&self) -> String {
        match self {
            Ty::Scalar(name) => (*name).to_owned(),
            Ty::Array(name, length) => format!("[{name}; {length}]"),
            Ty::Record => "Record".to_owned(),
            Ty::Pair => "Pair".to_owned(),
        }
    }
}

fn is_float(name: &str) -> bool {
    name.starts_with('f')
}

fn is_signed(name: &str) -> bool {
    name.starts_with('i')
}

#[derive(Clone)]
struct Variable {
    name: String,
    ty: Ty,
    mutable: bool,
}

struct Generator<'r> {
    random: &'r mut SmallRng,
    number: u32,
    variables: Vec<Variable>,
    names: u32,
    /// Loops around what is written, and what the innermost `break` gives.
    loops: u32,
    result: Ty,
    helper: Option<(Vec<Ty>, Ty)>,
    /// Statements and expressions that may still be written.
    budget: i32,
}

impl<'r> Generator<'r> {
    fn new(random: &'r mut SmallRng, number: u32) -> Self {
        Self {
            random,
            number,
            variables: Vec::new(),
            names: 0,
            loops: 0,
            result: Ty::Pair,
            helper: None,
            budget: 0,
        }
    }

    fn chance(&mut self, of: u32) -> bool {
        self.random.random_range(0..of) == 0
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of.choose(self.random).expect("something to choose from").clone()
    }

    fn ty(&mut self) -> Ty {
        match self.random.random_range(0..10) {
            0 => Ty::Record,
            1 => Ty::Pair,
            2..5 => Ty::Array(self.pick(&SCALARS), self.random.random_range(1..5)),
            _ => Ty::Scalar(self.pick(&SCALARS)),
        }
    }

    fn program(mut self) -> String {
        let number = self.number;
        let mut text = String::new();
        if self.chance(2) {
            let parameters: Vec<Ty> = (0..self.random.random_range(1..4)).map(|_| self.ty()).collect();
            let result = self.ty();
            let list: Vec<String> =
                parameters.iter().enumerate().map(|(k, ty)| format!("x{k}: {}", ty.name())).collect();
            let body = self.body(&parameters, "x", &result, 12);
            let _ = writeln!(
                text,
                "#[device]\nfn h{number}({}) -> {} {{\n{body}}}\n",
                list.join(", "),
                result.name()
            );
            self.helper = Some((parameters, result));
        }
        let item = self.ty();
        let body = self.body(&[item.clone(), item.clone()], "x", &item, 30);
        let item = item.name();
        let _ = writeln!(
            text,
            "#[derive(Clone, Copy)]\nstruct P{number};\n#[monoid]\nimpl Monoid for P{number} {{\n    type Item = {item};\n    \
             fn identity(&self) -> {item} {{ Edge::example() }}\n    fn \
             combine(&self, x0: {item}, x1: {item}) -> {item} {{\n{body}    }}\n}}\n"
        );
        text
    }

    fn body(&mut self, parameters: &[Ty], name: &str, result: &Ty, budget: i32) -> String {
        let variable =
            |(k, ty): (usize, &Ty)| Variable { name: format!("{name}{k}"), ty: ty.clone(), mutable: false };
        self.variables = parameters.iter().enumerate().map(variable).collect();
        self.result = result.clone();
        self.budget = budget;
        self.loops = 0;
        let mut text = String::new();
        self.statements(&mut text, 8);
        let value = self.value(result, 3);
        let _ = writeln!(text, "        {value}");
        text
    }

    fn statements(&mut self, text: &mut String, most: u32) {
        for _ in 0..self.random.random_range(1..=most) {
            if self.budget <= 0 {
                return;
            }
            self.budget -= 1;
            self.statement(text);
        }
    }

    fn block(&mut self, most: u32) -> String {
        let outer = self.variables.len();
        let mut text = String::new();
        self.statements(&mut text, most);
        self.variables.truncate(outer);
        text
    }

    fn declare(&mut self, ty: Ty, mutable: bool) -> String {
        // Now and then a name that is there already.
        let name = match self.variables.choose(self.random) {
            Some(variable) if self.random.random_range(0..6) == 0 => variable.name.clone(),
            _ => {
                self.names += 1;
                format!("v{}", self.names)
            }
        };
        self.variables.push(Variable { name: name.clone(), ty, mutable });
        name
    }

    /// A variable that is what its name says, of those that pass.
    fn visible(&mut self, pass: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let mut seen = Vec::new();
        let mut found = Vec::new();
        for variable in self.variables.iter().rev() {
            if seen.contains(&variable.name) {
                continue;
            }
            seen.push(variable.name.clone());
            if pass(variable) {
                found.push(variable.clone());
            }
        }
        found.choose(self.random).cloned()
    }

    fn statement(&mut self, text: &mut String) {
        match self.random.random_range(0..20) {
            0..6 => {
                let (ty, mutable) = (self.ty(), self.chance(2));
                let value = self.value(&ty, 3);
                let word = if mutable { "mut " } else { "" };
                let typed = if self.chance(2) { format!(": {}", ty.name()) } else { String::new() };
                // A literal alone would be of another type.
                let typed = if value.chars().all(|c| c.is_ascii_digit() || "-._ e".contains(c)) {
                    format!(": {}", ty.name())
                } else {
                    typed
                };
                let name = self.declare(ty, mutable);
                let _ = writeln!(text, "        let {word}{name}{typed} = {value};");
            }
            6..10 => self.assignment(text),
            10 | 11 => {
                let condition = self.boolean(2);
                let then = self.block(3);
                let otherwise = if self.chance(2) {
                    format!(" else {{\n{}        }}", self.block(2))
                } else {
                    String::new()
                };
                let _ = writeln!(text, "        if {condition} {{\n{then}        }}{otherwise}");
            }
            12 => {
                let low = self.random.random_range(0..3);
                let high = low + self.random.random_range(0..5);
                let ty = self.pick(&INTEGERS);
                let (reverse, equals) = (self.chance(3), if self.chance(3) { "=" } else { "" });
                let range = format!("{low}{ty}..{equals}{high}");
                let range = if reverse { format!("({range}).rev()") } else { range };
                let outer = self.variables.len();
                self.names += 1;
                let name = format!("k{}", self.names);
                self.variables.push(Variable { name: name.clone(), ty: Ty::Scalar(ty), mutable: false });
                self.loops += 1;
                let body = self.block(3);
                self.loops -= 1;
                self.variables.truncate(outer);
                let _ = writeln!(text, "        for {name} in {range} {{\n{body}        }}");
            }
            13 => {
                self.names += 1;
                let (name, most) = (format!("n{}", self.names), self.random.random_range(1..6));
                // Rust lets nothing jump out of a condition without a label.
                let outer = std::mem::take(&mut self.loops);
                let condition = self.boolean(2);
                self.loops = outer + 1;
                let body = self.block(3);
                self.loops -= 1;
                let _ = writeln!(
                    text,
                    "        let mut {name} = 0;\n        while {name} < {most} && {condition} {{\n        {name} += 1;\n{body}        }}"
                );
            }
            14 => {
                let ty = Ty::Scalar(self.pick(&INTEGERS));
                let value = self.value(&ty, 2);
                let Ty::Scalar(scalar) = ty else { return };
                let arms = [self.block(2), self.block(2), self.block(2)];
                let guard = self.boolean(1);
                let top = if is_signed(scalar) { "-3" } else { "3" };
                let _ = writeln!(
                    text,
                    "        match {value} {{\n        0 | 1 => {{\n{}        }}\n        {top}..=9 if {guard} => {{\n{}        }}\n        _ => {{\n{}        }}\n        }}",
                    arms[0], arms[1], arms[2]
                );
            }
            15 if self.loops > 0 => {
                let condition = self.boolean(2);
                let jump = self.pick(&["break", "continue"]);
                let _ = writeln!(text, "        if {condition} {{ {jump}; }}");
            }
            16 => {
                let condition = self.boolean(2);
                let result = self.result.clone();
                let value = self.value(&result, 2);
                let _ = writeln!(text, "        if {condition} {{ return {value}; }}");
            }
            17 => {
                let ty = self.ty();
                let (a, b) = (self.value(&ty, 2), self.value(&ty, 2));
                let (first, second) = (self.declare(ty.clone(), true), self.declare(ty.clone(), true));
                if first == second {
                    self.variables.truncate(self.variables.len() - 2);
                    return;
                }
                let name = ty.name();
                let _ = writeln!(
                    text,
                    "        let (mut {first}, mut {second}): ({name}, {name}) = ({a}, {b});\n        ({first}, {second}) = ({second}, {first});"
                );
            }
            18 => {
                let value = self.value(&Ty::Scalar("u64"), 2);
                let (high, low) =
                    (self.declare(Ty::Scalar("u32"), false), self.declare(Ty::Scalar("u32"), false));
                if high == low {
                    self.variables.truncate(self.variables.len() - 2);
                    return;
                }
                let _ = writeln!(text, "        let ({high}, {low}) = halves({value});");
            }
            _ => {
                let value = self.value(&Ty::Record, 2);
                let names = [
                    self.declare(Ty::Scalar("i32"), false),
                    self.declare(Ty::Scalar("f64"), false),
                    self.declare(Ty::Scalar("i16"), false),
                ];
                if names[0] == names[1] || names[1] == names[2] || names[0] == names[2] {
                    self.variables.truncate(self.variables.len() - 3);
                    return;
                }
                let _ = writeln!(
                    text,
                    "        let Record {{ a: {}, c: {}, d: [_, {}, _], .. }} = {value};",
                    names[0], names[1], names[2]
                );
            }
        }
    }

    fn assignment(&mut self, text: &mut String) {
        let Some(variable) = self.visible(|variable| variable.mutable) else { return };
        let (place, ty) = self.part(&variable.name, &variable.ty, 1);
        let value = self.value(&ty, 2);
        let operator = match &ty {
            Ty::Scalar(name) if is_float(name) => self.pick(&["", "+", "-", "*", "/"]),
            Ty::Scalar("bool") => self.pick(&["", "&", "|", "^"]),
            Ty::Scalar(_) => self.pick(&["", "+", "-", "*", "&", "|", "^", "<<", ">>"]),
            _ => "",
        };
        let _ = writeln!(text, "        {place} {operator}= {value};");
    }

    /// A part of a place, at random.
    fn part(&mut self, place: &str, ty: &Ty, depth: u32) -> (String, Ty) {
        if depth > 0 && self.chance(4) {
            return (place.to_owned(), ty.clone());
        }
        match ty {
            Ty::Scalar(_) => (place.to_owned(), ty.clone()),
            Ty::Array(element, length) => {
                let index = self.index(*length);
                (format!("{place}[{index}]"), Ty::Scalar(element))
            }
            Ty::Pair => match self.chance(2) {
                true => (format!("{place}.0"), Ty::Scalar("u64")),
                false => (format!("{place}.1"), Ty::Scalar("f32")),
            },
            Ty::Record => match self.random.random_range(0..5) {
                0 => (format!("{place}.a"), Ty::Scalar("i32")),
                1 => (format!("{place}.b"), Ty::Scalar("u8")),
                2 => (format!("{place}.c"), Ty::Scalar("f64")),
                3 => (format!("{place}.e"), Ty::Scalar("bool")),
                _ => {
                    let index = self.index(3);
                    (format!("{place}.d[{index}]"), Ty::Scalar("i16"))
                }
            },
        }
    }

    fn index(&mut self, length: usize) -> String {
        if self.chance(2) {
            return self.random.random_range(0..length).to_string();
        }
        let value = self.leaf(&Ty::Scalar("usize"));
        format!("({value}) % {length}")
    }

    fn boolean(&mut self, depth: u32) -> String {
        // In a condition a `{` opens the block.
        format!("({})", self.value(&Ty::Scalar("bool"), depth))
    }

    /// An expression of a type.
    fn value(&mut self, ty: &Ty, depth: u32) -> String {
        self.budget -= 1;
        let depth = if self.budget < -40 { 0 } else { depth };
        if depth == 0 || self.chance(6) {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        match self.random.random_range(0..24) {
            0 => {
                let (condition, yes, no) =
                    (self.boolean(depth), self.value(ty, depth), self.value(ty, depth));
                return format!("(if {condition} {{ {yes} }} else {{ {no} }})");
            }
            1 => {
                let outer = self.variables.len();
                let mut text = String::new();
                self.statements(&mut text, 2);
                let value = self.value(ty, depth);
                self.variables.truncate(outer);
                return format!("{{\n{text}        {value} }}");
            }
            2 => {
                let (condition, yes, no) =
                    (self.value(&Ty::Scalar("bool"), depth), self.value(ty, depth), self.value(ty, depth));
                return format!("select({condition}, {yes}, {no})");
            }
            3 => {
                let scalar = self.pick(&["u8", "i32", "u64"]);
                let (of, guard) = (self.value(&Ty::Scalar(scalar), depth), self.boolean(depth));
                let arms = [self.value(ty, depth), self.value(ty, depth), self.value(ty, depth)];
                return format!(
                    "(match {of} {{ 0..=3 => {}, x if x > 100 && {guard} => {}, _ => {} }})",
                    arms[0], arms[1], arms[2]
                );
            }
            4 => {
                self.names += 1;
                let (count, most) = (format!("c{}", self.names), self.random.random_range(1..5));
                let (condition, early, late) =
                    (self.boolean(depth), self.value(ty, depth), self.value(ty, depth));
                return format!(
                    "{{ let mut {count} = 0u8; loop {{ {count} += 1; if {count} > {most} {{ break {late}; }} if {condition} {{ break {early}; }} }} }}"
                );
            }
            5 | 6 => {
                if let Some((parameters, result)) = self.helper.clone()
                    && result == *ty
                {
                    let arguments: Vec<String> =
                        parameters.iter().map(|parameter| self.value(parameter, depth)).collect();
                    return format!("h{}({})", self.number, arguments.join(", "));
                }
            }
            _ => {}
        }
        match ty {
            Ty::Scalar(name) if is_float(name) => self.float(name, depth),
            Ty::Scalar("bool") => self.truth(depth),
            Ty::Scalar(name) => self.integer(name, depth),
            Ty::Array(element, length) => {
                if self.chance(3) {
                    let value = self.value(&Ty::Scalar(element), depth);
                    return format!("[{value}; {length}]");
                }
                let values: Vec<String> =
                    (0..*length).map(|_| self.value(&Ty::Scalar(element), depth)).collect();
                format!("[{}]", values.join(", "))
            }
            Ty::Pair => {
                let (first, second) =
                    (self.value(&Ty::Scalar("u64"), depth), self.value(&Ty::Scalar("f32"), depth));
                format!("Pair({first}, {second})")
            }
            Ty::Record => {
                let (a, d) = (self.value(&Ty::Scalar("i32"), depth), self.value(&Ty::Array("i16", 3), depth));
                if let Some(base) = self.visible(|variable| variable.ty == Ty::Record)
                    && self.chance(2)
                {
                    return format!("(Record {{ d: {d}, a: {a}, ..{} }})", base.name);
                }
                let (b, c, e) = (
                    self.value(&Ty::Scalar("u8"), depth),
                    self.value(&Ty::Scalar("f64"), depth),
                    self.value(&Ty::Scalar("bool"), depth),
                );
                format!("(Record {{ e: {e}, d: {d}, a: {a}, b: {b}, c: {c} }})")
            }
        }
    }

    fn leaf(&mut self, ty: &Ty) -> String {
        if let Some(variable) = self.visible(|variable| variable.ty == *ty)
            && !self.chance(4)
        {
            return variable.name;
        }
        if let Ty::Scalar(scalar) = ty {
            // A part of something larger.
            let parts = |variable: &Variable| match &variable.ty {
                Ty::Scalar(_) => false,
                Ty::Array(element, _) => element == scalar,
                Ty::Record => ["i32", "u8", "f64", "i16", "bool"].contains(scalar),
                Ty::Pair => ["u64", "f32"].contains(scalar),
            };
            if let Some(variable) = self.visible(parts) {
                for _ in 0..6 {
                    let outer = self.budget;
                    let (place, part) = match &variable.ty {
                        Ty::Array(_, length) => (
                            format!("{}[{}]", variable.name, self.random.random_range(0..*length)),
                            ty.clone(),
                        ),
                        other => self.part(&variable.name, other, 0),
                    };
                    self.budget = outer;
                    if part == *ty {
                        return place;
                    }
                }
            }
        }
        match ty {
            // What is computed from nothing but literals tests little.
            Ty::Scalar(name) if *name != "bool" && !self.chance(3) => {
                match self.visible(|variable| matches!(variable.ty, Ty::Scalar(_))) {
                    Some(Variable { name: variable, ty: Ty::Scalar("bool"), .. }) if is_float(name) => {
                        format!("({variable} as u8 as {name})")
                    }
                    Some(Variable { name: variable, .. }) => format!("({variable} as {name})"),
                    None => self.literal(name),
                }
            }
            Ty::Scalar(name) => self.literal(name),
            Ty::Array(name, length) => {
                let values: Vec<String> = (0..*length).map(|_| self.literal(name)).collect();
                format!("[{}]", values.join(", "))
            }
            Ty::Pair => format!("Pair({}, {})", self.literal("u64"), self.literal("f32")),
            Ty::Record => format!(
                "(Record {{ a: {}, b: {}, c: {}, d: [{}, 2, 3], e: true }})",
                self.literal("i32"),
                self.literal("u8"),
                self.literal("f64"),
                self.literal("i16")
            ),
        }
    }

    fn literal(&mut self, name: &'static str) -> String {
        match name {
            "bool" => self.chance(2).to_string(),
            "f32" | "f64" => {
                let text = self.pick(&[
                    "0.0",
                    "1.0",
                    "0.5",
                    "3.25",
                    "0.1",
                    "1e10",
                    "1e-7",
                    "123456.789",
                    "7.0",
                    "100.0",
                    "16777217.0",
                ]);
                let sign = if self.chance(3) { "-" } else { "" };
                match self.chance(12) {
                    true => format!("{name}::MAX"),
                    false => format!("({sign}{text}{name})"),
                }
            }
            _ => match self.random.random_range(0..10) {
                0 => format!("{name}::MAX"),
                1 => format!("{name}::MIN"),
                2 if name == "i32" => "SEVEN".to_owned(),
                3 if name == "u64" => "MASK".to_owned(),
                _ => {
                    let value = self.random.random_range(0..120);
                    let sign = if is_signed(name) && self.chance(3) { "-" } else { "" };
                    format!("({sign}{value}{name})")
                }
            },
        }
    }

    fn integer(&mut self, name: &'static str, depth: u32) -> String {
        let ty = Ty::Scalar(name);
        let a = self.value(&ty, depth);
        match self.random.random_range(0..22) {
            0..4 => {
                let (b, operator) = (self.value(&ty, depth), self.pick(&["+", "-", "*"]));
                format!("({a} {operator} {b})")
            }
            // A literal that takes its type from what it stands beside.
            4 | 5 => {
                let (value, operator) =
                    (self.random.random_range(1..100), self.pick(&["+", "-", "*", "&", "/", "%"]));
                format!("({a} {operator} {value})")
            }
            6 | 7 => {
                let (b, operator) = (self.value(&ty, depth), self.pick(&["&", "|", "^"]));
                format!("({a} {operator} {b})")
            }
            8 => {
                let other = self.pick(&INTEGERS);
                let (by, operator) = (self.value(&Ty::Scalar(other), depth), self.pick(&["<<", ">>"]));
                format!("({a} {operator} {by})")
            }
            9 => {
                let by = self.value(&ty, depth);
                let operator = self.pick(&["/", "%"]);
                format!("({a} {operator} (({by} & 63) | 1))")
            }
            10 if is_signed(name) => format!("(-{a})"),
            10 | 11 => format!("(!{a})"),
            12 | 13 => {
                let from = self.pick(&SCALARS);
                let value = self.value(&Ty::Scalar(from), depth);
                format!("(({value}) as {name})")
            }
            14 => {
                let b = self.value(&ty, depth);
                let method = self.pick(&[
                    "wrapping_add",
                    "wrapping_sub",
                    "wrapping_mul",
                    "saturating_add",
                    "saturating_sub",
                    "saturating_mul",
                    "min",
                    "max",
                ]);
                format!("{name}::{method}({a}, {b})")
            }
            15 => {
                let method = self.pick(&["swap_bytes", "reverse_bits", "wrapping_neg"]);
                format!("({a}).{method}()")
            }
            16 => {
                let by = self.value(&Ty::Scalar("u32"), depth);
                let method = self.pick(&[
                    "rotate_left",
                    "rotate_right",
                    "wrapping_shl",
                    "wrapping_shr",
                    "wrapping_pow",
                ]);
                format!("({a}).{method}({by})")
            }
            17 => {
                let method = self.pick(&["count_ones", "leading_zeros", "trailing_zeros", "leading_ones"]);
                format!("(({a}).{method}() as {name})")
            }
            18 => {
                let b = self.value(&ty, depth);
                let method = if is_signed(name) { "rem_euclid" } else { "abs_diff" };
                match is_signed(name) {
                    true => format!("({a}).{method}(({b} & 63) | 1)"),
                    false => format!("({a}).{method}({b})"),
                }
            }
            19 if is_signed(name) => format!("({a}).{}()", self.pick(&["signum", "wrapping_abs"])),
            20 if name == "u32" => {
                let from = self.value(&Ty::Scalar("i32"), depth);
                format!("(({from}) as f32).to_bits()")
            }
            20 if name == "u64" => {
                let from = self.value(&Ty::Scalar("i64"), depth);
                format!("(({from}) as f64).to_bits()")
            }
            _ => {
                let b = self.value(&ty, depth);
                format!("({a}).clamp(({b}).min(9), 9)")
            }
        }
    }

    fn float(&mut self, name: &'static str, depth: u32) -> String {
        let ty = Ty::Scalar(name);
        let a = self.value(&ty, depth);
        match self.random.random_range(0..16) {
            0..5 => {
                let (b, operator) = (self.value(&ty, depth), self.pick(&["+", "-", "*", "/", "%"]));
                format!("({a} {operator} {b})")
            }
            5 => {
                let operator = self.pick(&["+", "-", "*", "/"]);
                format!("({a} {operator} 0.7)")
            }
            6 => format!("(-{a})"),
            7 | 8 => {
                let from = self.pick(&INTEGERS);
                let value = self.value(&Ty::Scalar(from), depth);
                format!("(({value}) as {name})")
            }
            9 => {
                let from = if name == "f32" { "f64" } else { "f32" };
                let value = self.value(&Ty::Scalar(from), depth);
                format!("(({value}) as {name})")
            }
            10 => {
                let method = self.pick(&[
                    "abs",
                    "sqrt",
                    "floor",
                    "ceil",
                    "trunc",
                    "round",
                    "round_ties_even",
                    "fract",
                    "recip",
                    "signum",
                ]);
                format!("({a}).{method}()")
            }
            11 => {
                let (b, c) = (self.value(&ty, depth), self.value(&ty, depth));
                format!("({a}).mul_add({b}, {c})")
            }
            12 => {
                let (b, function) = (
                    self.value(&ty, depth),
                    self.pick(&["minimum", "maximum", "minimum_number", "maximum_number"]),
                );
                format!("math::{function}({a}, {b})")
            }
            13 => {
                let sign = self.value(&Ty::Scalar("i32"), depth);
                format!("({a}).copysign(({sign}) as {name})")
            }
            14 => {
                let b = self.value(&ty, depth);
                format!("({a}).rem_euclid({b})")
            }
            _ => match name {
                "f64" => format!("({a} + TENTH)"),
                _ => {
                    let from = self.value(&Ty::Scalar("u32"), depth);
                    format!("f32::from_bits(({from}) >> 2)")
                }
            },
        }
    }

    fn truth(&mut self, depth: u32) -> String {
        let scalar = self.pick(&SCALARS);
        match self.random.random_range(0..10) {
            0..5 => {
                let ty = Ty::Scalar(scalar);
                let (a, b) = (self.value(&ty, depth), self.value(&ty, depth));
                let operator = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("(({a}) {operator} ({b}))")
            }
            5 | 6 => {
                let ty = Ty::Scalar("bool");
                let (a, b) = (self.value(&ty, depth), self.value(&ty, depth));
                format!("({a} {} {b})", self.pick(&["&&", "||", "&", "|", "^"]))
            }
            7 => format!("(!{})", self.value(&Ty::Scalar("bool"), depth)),
            8 => {
                let method = self.pick(&["is_nan", "is_finite", "is_infinite"]);
                format!("({}).{method}()", self.value(&Ty::Scalar("f64"), depth))
            }
            _ => {
                let ty = Ty::Scalar(self.pick(&INTEGERS));
                let (a, b) = (self.value(&ty, depth), self.value(&ty, depth));
                let Ty::Scalar(name) = ty else { return "true".to_owned() };
                format!(
                    "{name}::cmp(&({a}), &({b})).{}()",
                    self.pick(&["is_lt", "is_le", "is_gt", "is_ge", "is_eq"])
                )
            }
        }
    }
}
