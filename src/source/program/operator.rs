//! Operators as structs with `combine`. The operator of an aggregate also has `prepare` and
//! `present`.
//!
//! Generated names end with two underscores where a name of the user could stand beside them. No
//! name of the user does (`names::identifier`).

use super::OPERATOR;
use super::functions::{Functions, declarations};
use super::members::{Member, Owner, fields_of};
use super::steps::present;
use crate::language::{Body, Form, Inside, Part, Prepared, Type};
use crate::source::names::identifier;
use crate::{DeviceFunction, DeviceOperator, Error, Layout};

impl Functions<'_> {
    /// Defines a struct with `combine`. Returns whether it has fields.
    pub(super) fn operator(
        &mut self,
        name: &str,
        operator: &DeviceOperator,
        item: &Layout,
        owner: &Owner,
        packed: Option<&str>,
    ) -> Result<bool, Error> {
        match &operator.form {
            Form::Function { combine, state, inside } => {
                check_operands(combine, item, owner)?;
                // The author's names are those of this operator alone.
                let is_part_by_hand = name != OPERATOR && matches!(combine.body, Body::Code(_));
                if is_part_by_hand {
                    let item = self.types.name(item);
                    self.code.line(&format!("\nnamespace {name}_by_hand {{\ntypedef {item} Item;"));
                    self.aliases(operator);
                }
                self.constants = declarations(operator, self.types);
                for function in &operator.functions {
                    self.define(function, identifier(function.name))?;
                }
                let mut members = String::new();
                if let Some(form) = packed {
                    members.push_str(&format!("    typedef ::warpfold::packed::{form}<Item> Packed;\n"));
                }
                self.inside = *inside;
                let has_state =
                    self.with_state(name, owner, state.as_ref(), members, &[("combine", combine)])?;
                self.inside = Inside::NOTHING;
                if is_part_by_hand {
                    self.code.line(&format!("}}\nusing {name}_by_hand::{name};"));
                }
                Ok(has_state)
            }
            Form::Together { item, parts } => {
                let fields = self.parts_of(
                    name,
                    parts,
                    |this, name, part, field| this.operator(name, &part.form, field, &part.into(), None),
                    item,
                )?;
                let item = self.types.name(item);
                self.code.line(&format!("\nstruct {name} {{"));
                let has_state = self.fields(&fields, owner);
                self.code.line(&format!(
                    "    WARPFOLD_DEVICE {item} combine({item} left__, {item} right__) const {{"
                ));
                let values = fields
                    .iter()
                    .enumerate()
                    .map(|(k, part)| format!("{}.combine(left__._{k}, right__._{k})", part.object()));
                let access = fields.iter().enumerate().map(|(k, part)| {
                    format!(
                        "    WARPFOLD_DEVICE {} part{k}() const {{ return {}; }}\n",
                        part.ty,
                        part.object()
                    )
                });
                let access: String = access.collect();
                self.code.line(&format!(
                    "        return {item}{{{}}};\n    }}\n{access}}};",
                    values.collect::<Vec<_>>().join(", ")
                ));
                self.assert_fields(name, &fields, owner);
                Ok(has_state)
            }
            Form::Filtering { item, monoid, identity } => {
                let of_kept = fields_of(item)[0].layout.clone();
                let combines = self.types.scope.claim(format!("{name}Kept"));
                let of_monoid =
                    self.operator(&combines, &monoid.form, &of_kept, &monoid.as_ref().into(), None)?;
                let fields = [
                    Member::of(monoid, combines, "monoid__".to_owned(), of_monoid),
                    Member {
                        ty: self.types.name(&identity.0),
                        name: "identity__".to_owned(),
                        has_state: true,
                        offset: identity.1,
                        size: identity.0.size,
                    },
                ];
                let item = self.types.name(item);
                self.code.line(&format!("\nstruct {name} {{"));
                self.fields(&fields, owner);
                let monoid = fields[0].object();
                self.code.line(&format!(
                    "    WARPFOLD_DEVICE {item} combine({item} left__, {item} right__) const {{
        if (left__.count == 0) return right__;
        if (right__.count == 0) return left__;
        return {item}{{{monoid}.combine(left__.item, right__.item), left__.count + right__.count}};
    }}
    WARPFOLD_DEVICE {ty} part0() const {{ return {monoid}; }}
}};",
                    ty = fields[0].ty
                ));
                self.assert_fields(name, &fields, owner);
                Ok(true)
            }
            Form::Prepared(prepared) => self.prepared(name, prepared, owner),
        }
    }

    /// Defines the operator of an aggregate: it also has `prepare` and `present`.
    fn prepared(&mut self, name: &str, prepared: &Prepared, owner: &Owner) -> Result<bool, Error> {
        let Prepared { elements, monoid, steps, item, output, presented } = prepared;
        let given = self.elements.take();
        let elements = given.as_ref().unwrap_or(elements);
        let parts: Vec<String> = elements.iter().map(|part| self.types.name(part)).collect();
        let mut claim = |part| self.types.scope.claim(format!("{name}{part}"));
        let (combines, prepares) = (claim("Monoid"), claim("Steps"));
        let of_monoid = self.operator(&combines, &monoid.form, item, &monoid.into(), None)?;
        let of_steps = self.steps(&prepares, &steps.form, &steps.into())?;
        let fields = [
            Member::of(monoid, combines, "monoid__".to_owned(), of_monoid),
            Member::of(steps, prepares, "steps__".to_owned(), of_steps),
            // The number of elements, and 1 more. 0 if the kernel does not write the result.
            Member {
                ty: "u64".to_owned(),
                name: "presented".to_owned(),
                has_state: true,
                offset: *presented,
                size: 8,
            },
        ];
        // One array has the element itself. The parts of arrays in step meet in a variable.
        let element = match &elements[..] {
            [element] => self.types.name(element),
            _ => self.types.name_of(&Type::Tuple(elements.iter().map(Type::of).collect())),
        };
        let (item, output) = (self.types.name(item), self.types.name(output));
        let [monoid, steps, _] = &fields;
        let parts = parts.join(", ");
        self.code.line(&format!(
            "\nstruct {name} {{\n    typedef {element} Element;\n    typedef ::warpfold::TypeList<{parts}> Parts;\n    typedef {output} Output;"
        ));
        self.fields(&fields, owner);
        let (monoid, steps) = (monoid.object(), steps.object());
        let presented = present(&prepared.steps.form, &steps, &monoid, "item__", "count__");
        if prepared.steps.form.accumulate() {
            self.code.line(&format!(
                "    WARPFOLD_DEVICE {item} accumulate({item} item__, u64 index__, {element} element__) const {{ return {steps}.accumulate(item__, index__, element__); }}"
            ));
        }
        self.code.line(&format!(
            "    WARPFOLD_DEVICE {item} combine({item} left__, {item} right__) const {{ return {monoid}.combine(left__, right__); }}
    WARPFOLD_DEVICE {item} prepare(u64 index__, {element} element__) const {{ return {steps}.prepare(index__, element__); }}
    WARPFOLD_DEVICE {output} present({item} item__, u64 count__) const {{ return {presented}; }}
}};"
        ));
        self.assert_fields(name, &fields, owner);
        Ok(true)
    }

    /// Defines a struct with these methods, and `self` if they read it. Returns whether they do.
    pub(super) fn with_state(
        &mut self,
        name: &str,
        owner: &Owner,
        state: Option<&Layout>,
        mut members: String,
        methods: &[(&str, &DeviceFunction)],
    ) -> Result<bool, Error> {
        if let Some(state) = state {
            if state.id != owner.id {
                return Err(Error::ForeignState { operator: owner.name, state: state.name });
            }
            let state = self.types.name(state);
            members.push_str(&format!("    {state} self;\n"));
        }
        self.state = state.cloned();
        let mut bodies = Vec::new();
        for (_, function) in methods {
            bodies.push(self.parts(function)?);
        }
        self.state = None;
        let fields = std::mem::take(&mut self.members);
        self.code.line(&format!("\nstruct {name} {{"));
        let has_fields = self.fields(&fields, owner);
        if !members.is_empty() {
            self.code.line(members.trim_end_matches('\n'));
        }
        for ((method, function), (parameters, body)) in methods.iter().zip(bodies) {
            let result =
                if name == OPERATOR { "Item".to_owned() } else { self.types.name_of(&function.result) };
            self.code
                .line(&format!("    WARPFOLD_DEVICE {result} {method}({}) const {{", parameters.join(", ")));
            self.code.0.extend(body);
            self.code.line("    }");
        }
        self.code.line("};");
        if state.is_some() {
            self.code
                .line(&format!("static_assert(sizeof({name}) == sizeof({name}::self), \"operator state\");"));
        }
        self.assert_fields(name, &fields, owner);
        Ok(state.is_some() || has_fields)
    }

    /// Defines a struct for each part of a tuple. `define` gets the layout of the part of an item.
    pub(super) fn parts_of<T>(
        &mut self,
        name: &str,
        parts: &[Part<T>],
        define: impl Fn(&mut Self, &str, &Part<T>, &Layout) -> Result<bool, Error>,
        item: &Layout,
    ) -> Result<Vec<Member>, Error> {
        let fields = fields_of(item);
        let mut members = Vec::new();
        for (index, (part, field)) in parts.iter().zip(fields).enumerate() {
            let ty = self.types.scope.claim(format!("{name}{index}"));
            let has_state = define(self, &ty, part, &field.layout)?;
            members.push(Member::of(part, ty, format!("part_{index}"), has_state));
        }
        Ok(members)
    }
}

/// Checks that `combine` takes two items and returns one.
fn check_operands(combine: &DeviceFunction, item: &Layout, owner: &Owner) -> Result<(), Error> {
    let operands: Vec<&Type> = combine.parameters.iter().map(|(_, ty)| ty).collect();
    match operands.len() == 2 && operands.into_iter().chain([&combine.result]).all(|ty| ty.is_of(item)) {
        true => Ok(()),
        false => Err(Error::ForeignItem { operator: owner.name, item: item.name }),
    }
}
