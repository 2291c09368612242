//! The generated part of a source: types, operator and kernels.

use std::any::TypeId;
use std::mem::offset_of;

use super::names::identifier;
use super::types::Types;
use super::{Arguments, KERNEL};
use crate::{DeviceCode, DeviceFunction, DeviceMonoid, DeviceOperator, DeviceType, Error, Policy};

/// The name that the compiler knows the generated lines by.
const FILE: &str = "warpfold/program";

pub(super) fn render<M: DeviceMonoid>(operator: &DeviceOperator, policy: &Policy) -> Result<String, Error> {
    let item = M::Item::layout();
    policy.check(&item)?;
    let mut types = Types::default();
    // What the author wrote in a body keeps its name; a type that happens to be called so gets another.
    let functions = operator.functions.iter().map(|function| function.name);
    let constants = operator.constants.iter().map(|(name, ..)| *name);
    for name in [operator.left, operator.right].into_iter().chain(functions).chain(constants) {
        types.scope.claim(identifier(name));
    }
    for (name, layout) in &operator.types {
        types.choose(layout, name);
    }
    let item_name = types.name(&item);
    let state = match &operator.state {
        Some(state) if state.id == TypeId::of::<M>() => Some(types.name(state)),
        Some(state) => {
            return Err(Error::ForeignState { operator: std::any::type_name::<M>(), state: state.name });
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
    for function in &operator.functions {
        code.function(function, &constants, &mut types);
    }
    code.operator(operator, state.as_deref(), &constants);
    code.line("");
    let argument_offset = offset_of!(Arguments<M::Item>, identity);
    let argument_size = size_of::<Arguments<M::Item>>();
    code.line("typedef ::warpfold::Arguments<Item> Arguments;");
    code.line(&format!("static_assert(sizeof(Arguments) == {argument_size}, \"kernel arguments\");"));
    code.line(&format!(
        "static_assert(WARPFOLD_OFFSET(Arguments, identity) == {argument_offset}, \"kernel arguments\");"
    ));
    if state.is_some() {
        code.line("static_assert(sizeof(Operator) == sizeof(Operator::self), \"operator state\");");
    }
    code.kernel(policy);

    let mut text = format!("#line 1 \"{FILE}\"\nnamespace program {{\n");
    text.push_str(&types.definitions);
    text.push('\n');
    code.finish(&mut text);
    text.push_str("\n}  // namespace program\n");
    Ok(text)
}

/// The operator's constants as declarations, which stand at the head of every body.
fn declarations(operator: &DeviceOperator, types: &mut Types) -> Vec<String> {
    let declare = |(name, layout, literal): &(&str, _, _)| {
        let (name, value) = (identifier(name), types.literal(layout, literal));
        format!("const {} {name} = {value}; (void){name};", types.name(layout))
    };
    operator.constants.iter().map(declare).collect()
}

/// Generated lines, and between them the author's own, each under its own file and line.
#[derive(Default)]
struct Code(Vec<Line>);

enum Line {
    Generated(String),
    Author(DeviceCode),
}

impl Code {
    fn line(&mut self, text: &str) {
        self.0.push(Line::Generated(text.to_owned()));
    }

    fn body(&mut self, constants: &[String], body: &DeviceCode) {
        for constant in constants {
            self.line(&format!("        {constant}"));
        }
        self.0.push(Line::Author(body.clone()));
    }

    fn function(&mut self, function: &DeviceFunction, constants: &[String], types: &mut Types) {
        let parameters: Vec<String> = function
            .parameters
            .iter()
            .map(|(name, layout)| format!("{} {}", types.name(layout), identifier(name)))
            .collect();
        let (result, name) = (types.name(&function.result), identifier(function.name));
        self.line(&format!("\nWARPFOLD_DEVICE {result} {name}({}) {{", parameters.join(", ")));
        self.body(constants, &function.body);
        self.line("}");
    }

    fn operator(&mut self, operator: &DeviceOperator, state: Option<&str>, constants: &[String]) {
        self.line("\nstruct Operator {");
        if let Some(state) = state {
            self.line(&format!("    {state} self;"));
        }
        let (left, right) = (identifier(operator.left), identifier(operator.right));
        self.line(&format!("    WARPFOLD_DEVICE Item combine(Item {left}, Item {right}) const {{"));
        self.body(constants, &operator.body);
        self.line("    }\n};");
    }

    fn kernel(&mut self, policy: &Policy) {
        let Policy { width, group_items, rows, warps, blocks_per_multiprocessor: blocks, .. } = policy;
        let threads = warps * 32;
        self.line(&format!(
            "\nstruct Shape {{\n    static constexpr unsigned WIDTH = {width}, GROUP_ITEMS = {group_items}, ROWS = \
             {rows}, WARPS = {warps};\n}};\nWARPFOLD_KERNEL({threads}, {blocks}) {KERNEL}(WARPFOLD_PARAMETER \
             Arguments arguments, WARPFOLD_PARAMETER Operator op) {{\n    \
             ::warpfold::bracket<Shape>(arguments, op);\n}}"
        ));
    }

    /// Appends the lines to a text whose first line is a `#line 1` of the generated file.
    fn finish(self, text: &mut String) {
        for line in self.0 {
            match line {
                Line::Generated(line) => {
                    text.push_str(&line);
                    text.push('\n');
                }
                Line::Author(code) => {
                    let file = code.file().replace('\\', "/").replace('"', "'");
                    text.push_str(&format!("#line {} \"{file}\"\n{}\n", code.line(), code.text()));
                    // The line after this directive, numbered from the text's start.
                    let next = text.lines().count() + 1;
                    text.push_str(&format!("#line {next} \"{FILE}\"\n"));
                }
            }
        }
    }
}
