//! Random expressions.

use rand::Rng;

use super::generator::{Generator, Variable};
use super::types::{INTEGERS, SCALARS, Ty, is_float, is_signed};

impl Generator<'_> {
    /// A random expression of a type.
    pub(super) fn value(&mut self, ty: &Ty, depth: u32) -> String {
        self.budget -= 1;
        let depth = if self.budget < -40 { 0 } else { depth };
        if depth == 0 || self.chance(6) {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        match self.random.random_range(0..32) {
            24..28 => {
                if let Some(call) = self.called_method(ty, depth) {
                    return call;
                }
            }
            28 => return self.of_option(ty, depth),
            29 => {
                let phase = self.phase(depth);
                let arms = [self.value(ty, depth), self.value(ty, depth), self.value(ty, depth)];
                return format!(
                    "(match {phase} {{ Phase::Liquid => {}, Phase::Solid => {}, _ => {} }})",
                    arms[0], arms[1], arms[2]
                );
            }
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
                let absent = self.absent_element("true");
                return format!("select({absent}{condition}, {yes}, {no})");
            }
            3 => {
                let scalar = self.pick(&["u8", "i32", "u64"]);
                let (of, guard) = (self.value(&Ty::Scalar(scalar), depth), self.boolean(depth));
                let arms = [self.value(ty, depth), self.value(ty, depth), self.value(ty, depth)];
                let absent = self.absent_arm(&arms[2]);
                // The block makes a copy, since a guard must not assign to what is matched.
                return format!(
                    "(match {{ {of} }} {{ {absent}0..=3 => {}, x if x > 100 && {guard} => {}, _ => {} }})",
                    arms[0], arms[1], arms[2]
                );
            }
            4 => {
                let of = self.ty();
                let (matched, mut bound, outer) = (self.value(&of, depth), Vec::new(), self.variables.len());
                let pattern = self.pattern(&of, true, &mut bound);
                self.variables.extend(bound);
                let guard =
                    if self.chance(2) { format!(" if {}", self.boolean(depth)) } else { String::new() };
                let yes = self.value(ty, depth);
                self.variables.truncate(outer);
                let no = self.value(ty, depth);
                // The block makes a copy, since a guard must not assign to what is matched.
                return format!("(match {{ {matched} }} {{ {pattern}{guard} => {yes}, _ => {no} }})");
            }
            5 => {
                self.names += 1;
                let (count, most) = (format!("c{}", self.names), self.random.random_range(1..5));
                let condition = self.without_jumps(|this| this.boolean(depth));
                let early = self.without_jumps(|this| this.value(ty, depth));
                let late = self.without_jumps(|this| this.value(ty, depth));
                return format!(
                    "{{ let mut {count} = 0u8; loop {{ {count} += 1; if {count} > {most} {{ break {late}; }} if {condition} {{ break {early}; }} }} }}"
                );
            }
            6 | 7 => {
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
                    let value = self.value(element, depth);
                    return format!("[{value}; {length}]");
                }
                let values: Vec<String> = (0..*length).map(|_| self.value(element, depth)).collect();
                let absent = self.absent_element(&values[0]);
                format!("[{absent}{}]", values.join(", "))
            }
            Ty::Tuple(parts) => {
                let values: Vec<String> = parts.iter().map(|part| self.value(part, depth)).collect();
                format!("({})", values.join(", "))
            }
            Ty::Struct(of) => {
                let base = self.visible(|variable| variable.ty == *ty).filter(|_| self.chance(2));
                self.constructed(of, base.map(|base| base.name), |this, field| this.value(field, depth))
            }
        }
    }

    pub(super) fn leaf(&mut self, ty: &Ty) -> String {
        if let Some(variable) = self.visible(|variable| variable.ty == *ty)
            && !self.chance(4)
        {
            return variable.name;
        }
        // An element or a field of a variable.
        if let Some(variable) = self.visible(|variable| variable.ty.contains(ty)) {
            let places = self.places(variable.name, &variable.ty, ty);
            return self.pick(&places);
        }
        match ty {
            // Expressions of literals only would test little.
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
            Ty::Array(element, length) => {
                let values: Vec<String> = (0..*length).map(|_| self.leaf(element)).collect();
                format!("[{}]", values.join(", "))
            }
            Ty::Tuple(parts) => {
                let values: Vec<String> = parts.iter().map(|part| self.leaf(part)).collect();
                format!("({})", values.join(", "))
            }
            Ty::Struct(of) if self.chance(2) => of.constant.clone(),
            Ty::Struct(of) => self.constructed(of, None, Self::leaf),
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
            // A literal whose type is inferred from the other operand.
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
                format!("(({value}) as {})", self.alias(name))
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
                    "midpoint",
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
                    "saturating_pow",
                    "unbounded_shl",
                    "unbounded_shr",
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
        if self.combines && self.chance(6) {
            let (b, operator) = (self.value(&ty, depth), self.pick(&["Sum", "Product", "Min", "Max"]));
            return format!("::warpfold::operators::{operator}::<{name}>::default().combine({a}, {b})");
        }
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
                format!("(({value}) as {})", self.alias(name))
            }
            9 => {
                let from = if name == "f32" { "f64" } else { "f32" };
                let value = self.value(&Ty::Scalar(from), depth);
                format!("(({value}) as {})", self.alias(name))
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
        match self.random.random_range(0..13) {
            10 => {
                let ty = self.ty();
                let (a, b) = (self.value(&ty, depth), self.value(&ty, depth));
                format!("(({a}) {} ({b}))", self.pick(&["==", "!="]))
            }
            11 => {
                let (a, b) = (self.phase(depth), self.phase(depth));
                format!("({a} {} {b})", self.pick(&["<", "<=", ">", ">=", "==", "!="]))
            }
            12 => {
                let ty = Ty::Scalar(scalar);
                let (a, b) = (self.value(&ty, depth), self.value(&ty, depth));
                format!("({a}).partial_cmp(&({b})).{}()", self.pick(&["is_some", "is_none"]))
            }
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
            7 => match self.owned_method() {
                Some(method) => format!("({}).{method}()", self.value(&Ty::Scalar("i32"), depth)),
                None => format!("(!{})", self.value(&Ty::Scalar("bool"), depth)),
            },
            8 => {
                let method = self.pick(&["is_nan", "is_finite", "is_infinite", "is_normal", "is_subnormal"]);
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
