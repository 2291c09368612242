//! The part of a generated source that comes from the user: types and operator.

mod code;
mod fields;
mod functions;
mod inside;
mod members;
mod operator;
mod steps;

use std::any::TypeId;
use std::collections::HashMap;

use self::code::{Code, FILE, Line};
use self::functions::Functions;
use self::members::Owner;
use super::names::identifier;
use super::packed;
use super::templates::ROUNDING;
use super::types::Types;
use crate::language::{Body, Form, Inside, RustType};
use crate::{DeviceMonoid, DeviceOperator, DeviceType, Error, Layout};

/// The types and the operator of a program.
pub(super) struct Definitions {
    pub(super) text: String,
    /// Whether the text uses the namespace `rust`. The lowering does; a hand-written body may.
    pub(super) need_semantics: bool,
    /// Whether the operator has fields that the kernel reads.
    pub(super) has_state: bool,
}

/// The properties of an operator's Rust type that its definitions depend on.
pub(crate) struct OperatorType {
    pub(super) name: &'static str,
    id: TypeId,
    size: usize,
    item: Layout,
    pub(super) packed: Option<&'static str>,
    /// The layout of an element of each array that a reader prepares.
    elements: Option<Vec<Layout>>,
}

impl OperatorType {
    /// An operator, and the layout of an element of each array that a reader prepares.
    pub(in crate::source) fn of<M: DeviceMonoid>(elements: Option<Vec<Layout>>) -> Self {
        let RustType { name, id } = M::rust_type();
        Self { name, id, size: size_of::<M>(), item: M::Item::layout(), packed: packed::form(id), elements }
    }
}

/// The type of a program's operator: a struct of this name with `combine`.
const OPERATOR: &str = "Operator";

pub(super) fn definitions(of: &OperatorType, operator: &DeviceOperator) -> Result<Definitions, Error> {
    let item = &of.item;
    let mut types = Types::default();
    claim_names(operator, &mut types);
    let item_name = types.name(item);
    let mut code = Code::default();
    code.line(&format!("typedef {item_name} Item;"));
    let mut functions = Functions {
        types: &mut types,
        code,
        constants: Vec::new(),
        state: None,
        members: Vec::new(),
        inside: Inside::NOTHING,
        elements: of.elements.clone(),
        operators: HashMap::new(),
        known: HashMap::new(),
    };
    functions.aliases(operator);
    let whole = Owner { id: of.id, name: of.name, size: of.size };
    let has_state = functions.operator(OPERATOR, operator, item, &whole, of.packed)?;
    let code = functions.code;
    let is_by_hand = code.0.iter().any(|line| matches!(line, Line::Author(_)));
    let mut text = format!("#line 1 \"{FILE}\"\nnamespace program {{\n");
    if types.rounds {
        text.push_str(&format!("#line 1 \"warpfold/templates/{}\"\n{}", ROUNDING.0, ROUNDING.1));
        code::resume(&mut text);
    }
    text.push_str(&types.definitions);
    text.push('\n');
    code.finish(&mut text);
    text.push_str("\n}  // namespace program\n");
    let need_semantics = is_by_hand || text.contains("rust::");
    Ok(Definitions { text, need_semantics, has_state })
}

/// Names in a hand-written body stay unchanged. A type with one of these names gets another name.
fn claim_names(operator: &DeviceOperator, types: &mut Types) {
    match &operator.form {
        Form::Function { combine, inside, .. } => {
            if let Body::Code(_) = combine.body {
                let functions = operator.functions.iter().map(|function| function.name);
                let constants = operator.constants.iter().map(|(name, ..)| *name);
                let parameters = combine.parameters.iter().map(|(name, _)| *name);
                for name in parameters.chain(functions).chain(constants) {
                    types.scope.claim(identifier(name));
                }
            }
            inside.operators.iter().for_each(|inner| claim_names(&(inner.operator)(), types));
            for (name, layout) in &operator.types {
                types.choose(layout, name);
            }
        }
        Form::Together { parts, .. } => parts.iter().for_each(|part| claim_names(&part.form, types)),
        Form::Filtering { monoid, .. } => claim_names(&monoid.form, types),
        Form::Prepared(prepared) => claim_names(&prepared.monoid.form, types),
    }
}
