//! The steps of an aggregate as structs with `prepare` and `present`.

use super::functions::Functions;
use super::members::{Member, Owner};
use crate::Error;
use crate::language::{Called, DeviceSteps, Steps};

impl Functions<'_> {
    /// Defines a struct with `prepare` and `present`. Returns whether it has fields.
    pub(super) fn steps(&mut self, name: &str, steps: &DeviceSteps, owner: &Owner) -> Result<bool, Error> {
        match &steps.0 {
            Steps::Nothing => {
                self.code.line(&format!(
                    "\nstruct {name} {{
    template <class Element> WARPFOLD_DEVICE Element prepare(u64, Element element) const {{ return element; }}
    template <class Item> WARPFOLD_DEVICE Item present(Item item, u64) const {{ return item; }}
}};"
                ));
                Ok(false)
            }
            Steps::Functions { functions, state } => {
                self.constants.clear();
                let methods: Vec<_> = functions.iter().map(|function| (function.name, function)).collect();
                self.with_state(name, owner, state.as_ref(), String::new(), &methods)
            }
            Steps::Mapped { .. } | Steps::Filtered { .. } => self.steps_around(name, steps, owner),
            Steps::Tuple { parts, item, output } => {
                let fields = self.parts_of(
                    name,
                    parts,
                    |this, name, part, _| this.steps(name, &part.form, &part.into()),
                    item,
                )?;
                let (item, output) = (self.types.name(item), self.types.name(output));
                self.code.line(&format!("\nstruct {name} {{"));
                let has_state = self.fields(&fields, owner);
                let prepared: Vec<String> = fields
                    .iter()
                    .map(|part| format!("{}.prepare(index__, element__)", part.object()))
                    .collect();
                let presented: Vec<String> = parts
                    .iter()
                    .zip(&fields)
                    .enumerate()
                    .map(|(k, (part, field))| {
                        let (monoid, item) = (format!("monoid__.part{k}()"), format!("item__._{k}"));
                        present(&part.form, &field.object(), &monoid, &item, "count__")
                    })
                    .collect();
                let (template, monoid) = monoid_parameter(steps);
                self.code.line(&format!(
                    "    template <class Element> WARPFOLD_DEVICE {item} prepare(u64 index__, Element element__) const {{
        return {item}{{{}}};
    }}
    {template}WARPFOLD_DEVICE {output} present({monoid}{item} item__, u64 count__) const {{
        return {output}{{{}}};
    }}
}};",
                    prepared.join(", "),
                    presented.join(", ")
                ));
                self.assert_fields(name, &fields, owner);
                Ok(has_state)
            }
        }
    }

    /// Defines the steps of `Mapped`, `Filtered` or `Masked`, around those of another aggregate.
    fn steps_around(&mut self, name: &str, whole: &DeviceSteps, owner: &Owner) -> Result<bool, Error> {
        let (function, inner_steps, item, output, is_filter) = match &whole.0 {
            Steps::Mapped { function, steps, item, output } => (Some(function), steps, item, output, false),
            Steps::Filtered { function, steps, item, output } => {
                (function.as_ref(), steps, item, output, true)
            }
            _ => unreachable!("the steps are around others"),
        };
        let (template, monoid) = monoid_parameter(whole);
        // Without a function, the second part of an element is a mark.
        let (call, element) = match function {
            Some(function) => (self.call(function)?, "element__"),
            None => ("element__._1 != 0".to_owned(), "element__._0"),
        };
        let inner = self.types.scope.claim(format!("{name}Of"));
        let has_state = self.steps(&inner, &inner_steps.form, &inner_steps.as_ref().into())?;
        let fields = [Member::of(inner_steps, inner, "steps__".to_owned(), has_state)];
        let (item, output) = (self.types.name(item), self.types.name(output));
        let steps = fields[0].object();
        let (prepared, presented) = match is_filter {
            false => {
                let presented = present(&inner_steps.form, &steps, "monoid__", "item__", "count__");
                (format!("{steps}.prepare(index__, {call})"), format!("return {presented};"))
            }
            true => {
                let of = |item| present(&inner_steps.form, &steps, "monoid__.part0()", item, "item__.count");
                let (none, some) = (of("monoid__.identity__"), of("item__.item"));
                (
                    format!("{item}{{{steps}.prepare(index__, {element}), u64({call})}}"),
                    format!("if (item__.count == 0) return {none};\n        return {some};"),
                )
            }
        };
        let accumulated = match is_filter {
            false => format!("return {steps}.accumulate(item__, index__, {call});"),
            true => format!(
                "if (!({call})) return item__;
        if (item__.count == 0) return {item}{{{steps}.prepare(index__, {element}), 1}};
        return {item}{{{steps}.accumulate(item__.item, index__, {element}), item__.count + 1}};"
            ),
        };
        self.code.line(&format!("\nstruct {name} {{"));
        self.fields(&fields, owner);
        if inner_steps.form.accumulate() {
            self.code.line(&format!(
                "    template <class Element> WARPFOLD_DEVICE {item} accumulate({item} item__, u64 index__, Element element__) const {{
        {accumulated}
    }}"
            ));
        }
        self.code.line(&format!(
            "    template <class Element> WARPFOLD_DEVICE {item} prepare(u64 index__, Element element__) const {{ return {prepared}; }}
    {template}WARPFOLD_DEVICE {output} present({monoid}{item} item__, u64 count__) const {{
        {presented}
    }}
}};"
        ));
        self.assert_fields(name, &fields, owner);
        Ok(has_state)
    }

    /// A call of a function with the parts of an element.
    fn call(&mut self, function: &Called) -> Result<String, Error> {
        let name = self.callee(&function.callee)?.name;
        let arguments: Vec<String> = match function.parameters {
            1 => vec!["element__".to_owned()],
            count => (0..count).map(|index| format!("element__._{index}")).collect(),
        };
        Ok(format!("{name}({})", arguments.join(", ")))
    }
}

/// A call of `present`.
pub(super) fn present(steps: &DeviceSteps, object: &str, monoid: &str, item: &str, count: &str) -> String {
    let monoid = if steps.need_monoid() { format!("{monoid}, ") } else { String::new() };
    format!("{object}.present({monoid}{item}, {count})")
}

/// The parameter of `present` for the monoid, if it needs one, and the template's head before it.
fn monoid_parameter(steps: &DeviceSteps) -> (&'static str, &'static str) {
    if steps.need_monoid() { ("template <class Monoid> ", "const Monoid& monoid__, ") } else { ("", "") }
}
