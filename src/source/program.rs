//! The part of a generated source that comes from the user: types and operator.

use std::any::TypeId;
use std::collections::HashMap;

use super::lower::{self, Lines, lower};
use super::names::identifier;
use super::packed;
use super::types::Types;
use crate::language::Body;
use crate::language::{Callee, Type};
use crate::{DeviceCode, DeviceFunction, DeviceMonoid, DeviceOperator, DeviceType, Error, Layout};

/// The file name of the generated lines in compiler messages.
const FILE: &str = "warpfold/program";

/// The types and the operator of a program.
pub(super) struct Definitions {
    pub(super) text: String,
    /// Whether the text uses the namespace `rust`. The lowering does; a hand-written body may.
    pub(super) need_semantics: bool,
}

/// The properties of an operator's Rust type that its definitions depend on.
pub(crate) struct OperatorType {
    pub(super) name: &'static str,
    id: TypeId,
    item: Layout,
    pub(super) packed: Option<&'static str>,
}

impl OperatorType {
    pub(super) fn of<M: DeviceMonoid>() -> Self {
        Self {
            name: std::any::type_name::<M>(),
            id: TypeId::of::<M>(),
            item: M::Item::layout(),
            packed: packed::form(TypeId::of::<M>()),
        }
    }
}

pub(super) fn definitions(of: &OperatorType, operator: &DeviceOperator) -> Result<Definitions, Error> {
    let item = &of.item;
    let combine = &operator.combine;
    let of_items = |ty: &Type| matches!(ty, Type::Value(layout) if layout.id == item.id);
    let operands: Vec<&Type> = combine.parameters.iter().map(|(_, ty)| ty).collect();
    if operands.len() != 2 || !operands.into_iter().chain([&combine.result]).all(of_items) {
        return Err(Error::ForeignItem { operator: of.name, item: item.name });
    }
    let mut types = Types::default();
    // Names in a hand-written body stay unchanged. A type with one of these names gets another
    // name.
    if let Body::Code(_) = combine.body {
        let functions = operator.functions.iter().map(|function| function.name);
        let constants = operator.constants.iter().map(|(name, ..)| *name);
        let parameters = combine.parameters.iter().map(|(name, _)| *name);
        for name in parameters.chain(functions).chain(constants) {
            types.scope.claim(identifier(name));
        }
    }
    for (name, layout) in &operator.types {
        types.choose(layout, name);
    }
    let item_name = types.name(item);
    let state = match &operator.state {
        Some(state) if state.id == of.id => Some(types.name(state)),
        Some(state) => {
            return Err(Error::ForeignState { operator: of.name, state: state.name });
        }
        None => None,
    };

    let mut code = Code::default();
    code.line(&format!("typedef {item_name} Item;"));
    for (name, layout) in &operator.types {
        let (ty, name) = (types.name(layout), identifier(name));
        if ty != name {
            code.line(&format!("typedef {ty} {name};"));
        }
    }
    let constants = declarations(operator, &mut types);
    let mut functions =
        Functions { types: &mut types, code, constants: &constants, state: None, known: HashMap::new() };
    for function in &operator.functions {
        functions.define(function, identifier(function.name))?;
    }
    functions.state = operator.state.as_ref();
    functions.operator(operator, state.as_deref(), of.packed)?;
    let mut code = functions.code;
    if state.is_some() {
        code.line("static_assert(sizeof(Operator) == sizeof(Operator::self), \"operator state\");");
    }
    let is_by_hand = code.0.iter().any(|line| matches!(line, Line::Author(_)));
    let mut text = format!("#line 1 \"{FILE}\"\nnamespace program {{\n");
    text.push_str(&types.definitions);
    text.push('\n');
    code.finish(&mut text);
    text.push_str("\n}  // namespace program\n");
    let need_semantics = is_by_hand || text.contains("rust::");
    Ok(Definitions { text, need_semantics })
}

/// The operator's constants as declarations. They stand at the head of every hand-written body.
fn declarations(operator: &DeviceOperator, types: &mut Types) -> Vec<String> {
    let declare = |(name, layout, literal): &(&str, _, _)| {
        let (name, value) = (identifier(name), types.literal(layout, literal));
        format!("const {} {name} = {value}; (void){name};", types.name(layout))
    };
    operator.constants.iter().map(declare).collect()
}

/// The functions of a program, each before its callers.
struct Functions<'a> {
    types: &'a mut Types,
    code: Code,
    /// Declarations at the head of every hand-written body.
    constants: &'a [String],
    /// The type of `self`, if the function has a `self`.
    state: Option<&'a Layout>,
    /// The C++ names of the translated functions. `None` marks a function whose definition is in
    /// progress.
    known: HashMap<TypeId, Option<String>>,
}

impl Functions<'_> {
    fn define(&mut self, function: &DeviceFunction, name: String) -> Result<(), Error> {
        let (parameters, body) = self.parts(function)?;
        let result = self.types.name_of(&function.result);
        self.code.line(&format!("\nWARPFOLD_DEVICE {result} {name}({}) {{", parameters.join(", ")));
        self.code.0.extend(body);
        self.code.line("}");
        Ok(())
    }

    fn operator(
        &mut self,
        operator: &DeviceOperator,
        state: Option<&str>,
        packed: Option<&str>,
    ) -> Result<(), Error> {
        let (parameters, body) = self.parts(&operator.combine)?;
        self.code.line("\nstruct Operator {");
        if let Some(form) = packed {
            self.code.line(&format!("    typedef ::warpfold::packed::{form}<Item> Packed;"));
        }
        if let Some(state) = state {
            self.code.line(&format!("    {state} self;"));
        }
        self.code.line(&format!("    WARPFOLD_DEVICE Item combine({}) const {{", parameters.join(", ")));
        self.code.0.extend(body);
        self.code.line("    }\n};");
        Ok(())
    }

    /// A function's parameters and its body. Its callees are defined first.
    fn parts(&mut self, function: &DeviceFunction) -> Result<(Vec<String>, Vec<Line>), Error> {
        let (names, body) = match &function.body {
            Body::Code(code) => {
                let names = function.parameters.iter().map(|(name, _)| identifier(name)).collect();
                let constants =
                    self.constants.iter().map(|constant| Line::Generated(format!("        {constant}")));
                (names, constants.chain([Line::Author(code.clone())]).collect())
            }
            Body::Translation(translation) => {
                let callees: Result<Vec<_>, _> =
                    translation.callees.iter().map(|callee| self.callee(callee)).collect();
                let (names, lines) = lower(translation, &callees?, self.state, self.types)?;
                (names, vec![Line::Translated(translation.file, lines)])
            }
        };
        let typed = |((_, ty), name): (&(&str, Type), String)| format!("{} {name}", self.types.name_of(ty));
        Ok((function.parameters.iter().zip(names).map(typed).collect(), body))
    }

    fn callee(&mut self, callee: &Callee) -> Result<lower::Callee, Error> {
        let function = (callee.function)();
        let name = match self.known.get(&callee.id) {
            Some(Some(name)) => name.clone(),
            Some(None) => {
                let (file, line) = match &function.body {
                    Body::Translation(translation) => (translation.file, translation.line()),
                    Body::Code(code) => (code.file(), code.line()),
                };
                let reason = format!("`{}` calls itself by way of others: use a loop", function.name);
                return Err(Error::Untranslatable { file, line, reason });
            }
            None => {
                self.known.insert(callee.id, None);
                let name = self.types.scope.claim(identifier(function.name));
                let state = self.state.take();
                self.define(&function, name.clone())?;
                self.state = state;
                self.known.insert(callee.id, Some(name.clone()));
                name
            }
        };
        Ok(lower::Callee { name, result: function.result })
    }
}

/// Generated lines, and between them the author's lines, each under its own file and line.
#[derive(Default)]
struct Code(Vec<Line>);

enum Line {
    Generated(String),
    Author(DeviceCode),
    Translated(&'static str, Lines),
}

impl Code {
    fn line(&mut self, text: &str) {
        self.0.push(Line::Generated(text.to_owned()));
    }

    /// Appends the lines to a text that starts with a `#line 1` of the generated file.
    fn finish(self, text: &mut String) {
        for line in self.0 {
            match line {
                Line::Generated(line) => {
                    text.push_str(&line);
                    text.push('\n');
                }
                Line::Author(code) => {
                    text.push_str(&format!("{}{}\n", directive(code.line(), code.file()), code.text()));
                    resume(text);
                }
                Line::Translated(file, lines) => {
                    translated(text, file, &lines);
                    resume(text);
                }
            }
        }
    }
}

fn directive(line: u32, file: &str) -> String {
    format!("#line {line} \"{}\"\n", file.replace('\\', "/").replace('"', "'"))
}

/// Numbers the following lines from the start of the text.
fn resume(text: &mut String) {
    let next = text.lines().count() + 1;
    text.push_str(&format!("#line {next} \"{FILE}\"\n"));
}

/// Writes all pieces of one source line on one line, with the number of the source line.
fn translated(text: &mut String, file: &str, lines: &Lines) {
    let mut depth = 2_usize;
    let mut number = None;
    let mut at = 0;
    while let Some((line, _)) = lines.get(at) {
        let end =
            lines[at..].iter().position(|(other, _)| other != line).map_or(lines.len(), |count| at + count);
        let pieces: Vec<&str> = lines[at..end].iter().map(|(_, piece)| piece.as_str()).collect();
        // A gap of at most two lines, such as a brace or a comment, becomes empty lines.
        match number {
            Some(next) if next <= *line && line - next <= 2 => {
                (next..*line).for_each(|_| text.push('\n'));
            }
            _ => text.push_str(&directive(*line, file)),
        }
        number = Some(line + 1);
        let joined = pieces.join(" ");
        let closing = joined.chars().take_while(|&character| character == '}').count();
        let indent = depth.saturating_sub(closing);
        text.push_str(&format!("{}{joined}\n", "    ".repeat(indent)));
        let count = |brace| joined.matches(brace).count();
        depth = (depth + count('{')).saturating_sub(count('}'));
        at = end;
    }
}
