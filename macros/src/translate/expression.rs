//! Expressions.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    BinOp, Block, Expr, ExprCall, ExprForLoop, ExprMatch, ExprMethodCall, ExprStruct, Label, Lit, Pat, Path,
    RangeLimits, UnOp,
};

use super::methods::{self, Method, Returns};
use super::pattern::member_name;
use super::statement::macro_refused;
use super::{
    Pair, Translator, callee_name, constant_name, has_braces, has_labelled_jump, line, optional, plain,
    reference, slot_name, this,
};

const REFERENCE: &str = "pass and return values: items are `Copy`";

/// Of generic code only what is `Ord` is known not to be a float.
const ORDER_OF_ANYTHING: &str = "of floats `min`, `max` and `clamp` leave open which zero they return; in generic code write \
     `Ord::min(a, b)` for integers, or `warpfold::math::minimum(a, b)` for floats";

const PRIMITIVES: [&str; 13] =
    ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32", "f64", "bool"];

impl Translator<'_> {
    /// An expression. Only where its value is `wanted` does a piece of control flow have a type.
    pub(super) fn expression(&mut self, expression: &Expr, wanted: bool) -> Pair {
        let syntax = quote!(::warpfold::translation::syntax::Expression);
        self.check_attributes(attributes(expression));
        match expression {
            Expr::Paren(inner) => {
                let Pair { probe, tree } = self.expression(&inner.expr, wanted);
                Pair { probe: quote!((#probe)), tree }
            }
            Expr::Group(inner) => {
                let Pair { probe, tree } = self.expression(&inner.expr, wanted);
                Pair { probe: quote!((#probe)), tree }
            }
            Expr::Lit(literal) => self.literal(expression, &literal.lit, ""),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (UnOp::Neg(_), Expr::Lit(literal)) if !matches!(literal.lit, Lit::Bool(_)) => {
                    self.literal(expression, &literal.lit, "-")
                }
                (UnOp::Deref(_), Expr::Path(path)) if path.path.is_ident("self") => {
                    self.uses_state.get_or_insert(path.span());
                    let this = this();
                    Pair { probe: quote!((*#this)), tree: quote!(#syntax::State) }
                }
                (UnOp::Neg(_) | UnOp::Not(_), operand) => {
                    let kind = match unary.op {
                        UnOp::Neg(_) => quote!(Negate),
                        _ => quote!(Not),
                    };
                    let op = unary.op;
                    let Pair { probe, tree } = self.primitive(operand);
                    Pair { probe: quote!(#op #probe), tree: quote!(#syntax::#kind(&#tree)) }
                }
                _ => self.outside(expression, "a dereference", REFERENCE),
            },
            Expr::Path(path) => self.path(expression, &path.path, path.qself.is_some()),
            Expr::Field(field) => {
                let base = match &*field.base {
                    Expr::Path(path) if path.path.is_ident("self") => {
                        self.uses_state.get_or_insert(path.span());
                        let this = this();
                        Pair { probe: quote!(#this), tree: quote!(#syntax::State) }
                    }
                    base => self.expression(base, true),
                };
                let (member, name) = (&field.member, member_name(&field.member));
                let Pair { probe, tree } = base;
                Pair { probe: quote!(#probe.#member), tree: quote!(#syntax::Field(&#tree, #name)) }
            }
            Expr::Index(index) => {
                if matches!(&*index.index, Expr::Range(_)) {
                    return self.outside(&index.index, "a slice", "use a loop over the elements");
                }
                let base = self.expression(&index.expr, true);
                let at = self.index(&index.index);
                let (base_probe, at_probe) = (base.probe, at.probe);
                let (base, at) = (base.tree, at.tree);
                Pair { probe: quote!(#base_probe[#at_probe]), tree: quote!(#syntax::Index(&#base, &#at)) }
            }
            Expr::Binary(binary) => self.binary(&binary.left, &binary.op, &binary.right),
            Expr::Assign(assign) => {
                let value = self.expression(&assign.right, true);
                let place = self.place(&assign.left);
                let (place_probe, value_probe) = (place.probe, value.probe);
                let (place, value) = (place.tree, value.tree);
                Pair {
                    probe: quote!(#place_probe = #value_probe),
                    tree: quote!(#syntax::Assign(&#place, &#value)),
                }
            }
            Expr::Cast(cast) if is_literal_of(&cast.expr, &cast.ty) => {
                // The type that it is cast to is what rustc takes the literal for.
                let digits = literal_digits(&cast.expr);
                let (slot, text) = (self.slot(), digits);
                let name = slot_name(slot);
                Pair {
                    probe: quote_spanned!(expression.span()=> #name.of(#expression)),
                    tree: quote!(#syntax::Number { text: #text, ty: #slot }),
                }
            }
            Expr::Cast(cast) => {
                let Pair { probe, tree } = self.primitive(&cast.expr);
                let slot = self.slot();
                let (name, ty) = (slot_name(slot), &cast.ty);
                Pair {
                    probe: quote_spanned!(expression.span()=> #name.of(#probe as #ty)),
                    tree: quote!(#syntax::Cast(&#tree, #slot)),
                }
            }
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Call(call) => self.call(call),
            Expr::Struct(structure) => self.structure(structure),
            Expr::Tuple(tuple) if tuple.elems.is_empty() => {
                self.outside(expression, "`()`", "return a value, or leave it out")
            }
            Expr::Tuple(tuple) => {
                let (probes, trees) = self.all(&tuple.elems);
                Pair { probe: quote!((#(#probes,)*)), tree: quote!(#syntax::Tuple(&[#(#trees),*])) }
            }
            Expr::Array(array) => {
                let (probes, trees) = self.all(&array.elems);
                let slot = self.slot();
                let name = slot_name(slot);
                Pair {
                    probe: quote_spanned!(expression.span()=> #name.of([#(#probes),*])),
                    tree: quote!(#syntax::Array(#slot, &[#(#trees),*])),
                }
            }
            Expr::Repeat(repeat) => {
                let Pair { probe, tree } = self.expression(&repeat.expr, true);
                let slot = self.slot();
                let (name, length) = (slot_name(slot), &repeat.len);
                Pair {
                    probe: quote_spanned!(expression.span()=> #name.of([#probe; #length])),
                    tree: quote!(#syntax::Repeat(#slot, &#tree)),
                }
            }
            Expr::Block(block) => {
                if let Some(label) = &block.label {
                    return self.refuse(
                        label,
                        "a labelled block has no counterpart in CUDA C++; use `loop` and `break`",
                    );
                }
                let control = self.braced(&block.block, wanted, "Block");
                self.control(control, wanted)
            }
            Expr::If(_) | Expr::Match(_) | Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => {
                let control = self.flow(expression, wanted);
                self.control(control, wanted)
            }
            Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) => {
                let control = self.jump(expression);
                self.control(control, false)
            }
            other => self.refused(other),
        }
    }

    /// What is outside the subset, and what to write instead.
    fn refused(&mut self, expression: &Expr) -> Pair {
        let (what, instead) = match expression {
            Expr::Reference(_) => ("a reference", REFERENCE),
            Expr::Closure(_) => ("a closure", "write a `#[device]` function, and pass it what it needs"),
            Expr::Macro(call) => {
                let name = call.mac.path.segments.last().map(|segment| segment.ident.to_string());
                return self.refuse(call, macro_refused(&name.unwrap_or_default()));
            }
            Expr::Range(_) => ("a range", "it may only be what `for` counts over, or a pattern"),
            Expr::Let(_) => ("a `let` in a condition", "compare, or use `match` on a number"),
            Expr::Try(_) => ("`?`", "there is no `Option` or `Result` here"),
            Expr::Unsafe(_) => ("`unsafe`", "write the device form by hand, with `DeviceOperator::new`"),
            Expr::Async(_) | Expr::Await(_) => ("`async`", "compute the value"),
            Expr::Const(_) => ("a `const` block", "name the constant: `const N: u32 = ...;`"),
            Expr::Infer(_) => ("`_`", "write the value"),
            _ => ("this expression", "docs/OPERATORS.md lists what has one"),
        };
        self.outside(expression, what, instead)
    }

    fn literal(&mut self, expression: &Expr, literal: &Lit, sign: &str) -> Pair {
        let digits = match literal {
            Lit::Int(number) => number.base10_digits().to_owned(),
            Lit::Float(number) => number.base10_digits().to_owned(),
            Lit::Byte(byte) => byte.value().to_string(),
            Lit::Bool(truth) => {
                return Pair {
                    probe: quote!(#expression),
                    tree: quote!(::warpfold::translation::syntax::Expression::Bool(#truth)),
                };
            }
            _ => return self.outside(expression, "text", "use numbers"),
        };
        let (slot, text) = (self.slot(), format!("{sign}{digits}"));
        let name = slot_name(slot);
        Pair {
            probe: quote_spanned!(expression.span()=> #name.of(#expression)),
            tree: quote!(::warpfold::translation::syntax::Expression::Number { text: #text, ty: #slot }),
        }
    }

    fn path(&mut self, expression: &Expr, path: &Path, qualified: bool) -> Pair {
        let name = path.get_ident().filter(|_| !qualified);
        if let Some(name) = name {
            if name == "self" {
                return self.refuse(
                    expression,
                    "the operator itself is behind a reference: read its fields, as `self.field`, or copy it, as `*self`",
                );
            }
            if let Some(variable) = self.local(name) {
                return Pair {
                    probe: quote!(#expression),
                    tree: quote!(::warpfold::translation::syntax::Expression::Local(#variable)),
                };
            }
        }
        self.constant_value(quote!(#expression))
    }

    /// What rustc evaluates: a path, or a call without arguments.
    fn constant_value(&mut self, value: TokenStream) -> Pair {
        let span = value.span();
        let constant = self.constant(value);
        let name = constant_name(constant);
        Pair {
            probe: quote_spanned!(span=> #name.get()),
            tree: quote!(::warpfold::translation::syntax::Expression::Constant(#constant)),
        }
    }

    /// An operand of an operator or a method: where types are known, the probe asks whether it is a number.
    fn primitive(&mut self, operand: &Expr) -> Pair {
        let Pair { probe, tree } = self.expression(operand, true);
        if self.function.generic {
            return Pair { probe, tree };
        }
        let checked = quote_spanned!(operand.span()=> ::warpfold::translation::number(#probe));
        Pair { probe: checked, tree }
    }

    fn binary(&mut self, left: &Expr, op: &BinOp, right: &Expr) -> Pair {
        let syntax = quote!(::warpfold::translation::syntax);
        let (name, compound) = match op {
            BinOp::Add(_) => ("Add", false),
            BinOp::Sub(_) => ("Subtract", false),
            BinOp::Mul(_) => ("Multiply", false),
            BinOp::Div(_) => ("Divide", false),
            BinOp::Rem(_) => ("Remainder", false),
            BinOp::And(_) => ("And", false),
            BinOp::Or(_) => ("Or", false),
            BinOp::BitXor(_) => ("BitXor", false),
            BinOp::BitAnd(_) => ("BitAnd", false),
            BinOp::BitOr(_) => ("BitOr", false),
            BinOp::Shl(_) => ("ShiftLeft", false),
            BinOp::Shr(_) => ("ShiftRight", false),
            BinOp::Eq(_) => ("Equal", false),
            BinOp::Lt(_) => ("Less", false),
            BinOp::Le(_) => ("LessOrEqual", false),
            BinOp::Ne(_) => ("NotEqual", false),
            BinOp::Ge(_) => ("GreaterOrEqual", false),
            BinOp::Gt(_) => ("Greater", false),
            BinOp::AddAssign(_) => ("Add", true),
            BinOp::SubAssign(_) => ("Subtract", true),
            BinOp::MulAssign(_) => ("Multiply", true),
            BinOp::DivAssign(_) => ("Divide", true),
            BinOp::RemAssign(_) => ("Remainder", true),
            BinOp::BitXorAssign(_) => ("BitXor", true),
            BinOp::BitAndAssign(_) => ("BitAnd", true),
            BinOp::BitOrAssign(_) => ("BitOr", true),
            BinOp::ShlAssign(_) => ("ShiftLeft", true),
            BinOp::ShrAssign(_) => ("ShiftRight", true),
            other => return self.refuse(other, "this operator has no counterpart in CUDA C++"),
        };
        let operator = format_ident!("{name}");
        let operator = quote!(#syntax::Operator::#operator);
        if compound {
            let place_span = left.span();
            let value = self.primitive(right);
            let place = self.place(left);
            let (place_probe, value_probe) = (place.probe, value.probe);
            let (place, value) = (place.tree, value.tree);
            // What is changed must be a number, too; a struct may have operators of its own.
            let asked = (!self.function.generic)
                .then(|| quote_spanned!(place_span=> let _ = ::warpfold::translation::number(#place_probe);));
            return Pair {
                probe: quote!({ #asked #place_probe #op #value_probe }),
                tree: quote!(#syntax::Expression::Compound(#operator, &#place, &#value)),
            };
        }
        let (left, right) = (self.primitive(left), self.primitive(right));
        let (left_probe, right_probe) = (left.probe, right.probe);
        let (left, right) = (left.tree, right.tree);
        Pair {
            probe: quote!(#left_probe #op #right_probe),
            tree: quote!(#syntax::Expression::Binary(#operator, &#left, &#right)),
        }
    }

    /// An index: without statements, so that it does not matter when it is computed.
    fn index(&mut self, index: &Expr) -> Pair {
        if has_braces(index) {
            return self.refuse(index, "an index has no blocks in it here; name it with `let` first");
        }
        self.expression(index, true)
    }

    /// What is assigned to: a variable, a field or an element of one, or a tuple of such.
    fn place(&mut self, place: &Expr) -> Pair {
        match place {
            Expr::Path(path) if path.path.get_ident().is_some_and(|name| self.local(name).is_some()) => {
                self.expression(place, true)
            }
            Expr::Paren(inner) => self.place(&inner.expr),
            Expr::Group(inner) => self.place(&inner.expr),
            Expr::Field(field) => {
                let Pair { probe, tree } = self.place(&field.base);
                let (member, name) = (&field.member, member_name(&field.member));
                Pair {
                    probe: quote!(#probe.#member),
                    tree: quote!(::warpfold::translation::syntax::Expression::Field(&#tree, #name)),
                }
            }
            Expr::Index(index) => {
                let (base, at) = (self.place(&index.expr), self.index(&index.index));
                let (base_probe, at_probe) = (base.probe, at.probe);
                let (base, at) = (base.tree, at.tree);
                Pair {
                    probe: quote!(#base_probe[#at_probe]),
                    tree: quote!(::warpfold::translation::syntax::Expression::Index(&#base, &#at)),
                }
            }
            Expr::Tuple(tuple) => {
                if let Some(inner) = tuple.elems.iter().find(|element| matches!(element, Expr::Tuple(_))) {
                    return self.refuse(inner, "a tuple inside a tuple cannot be assigned to; assign one after the other");
                }
                let pairs: Vec<Pair> = tuple.elems.iter().map(|element| self.place(element)).collect();
                let (probes, trees): (Vec<_>, Vec<_>) = pairs.into_iter().map(|pair| (pair.probe, pair.tree)).unzip();
                Pair {
                    probe: quote!((#(#probes,)*)),
                    tree: quote!(::warpfold::translation::syntax::Expression::Tuple(&[#(#trees),*])),
                }
            }
            other => self.refuse(
                other,
                "only a variable of the body, a field or an element of one, or a tuple of these can be assigned to",
            ),
        }
    }

    fn method_call(&mut self, call: &ExprMethodCall) -> Pair {
        let name = plain(&call.method);
        if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self")) {
            return self.refuse(
                call,
                "a method of the operator has no counterpart in CUDA C++; write a free `#[device]` function, and pass it \
                 what it needs, `*self` if that is everything",
            );
        }
        let refused = self.errors.len();
        let receiver = self.receiver(&call.receiver, &name);
        let Some(method) = methods::method(&name) else {
            // Of a chain of methods the first is what is wrong.
            if self.errors.len() > refused {
                return Pair::default();
            }
            let instead = methods::instead(&name);
            return self.refuse(
                &call.method,
                format!("the method `{name}` has no counterpart in CUDA C++; {instead}"),
            );
        };
        if self.function.generic && is_order(&name) {
            return self.refuse(&call.method, ORDER_OF_ANYTHING);
        }
        if methods::is_of_number(&name) {
            let message = format!(
                "other traits have a `{name}`, too; write `Number::{name}(a, b)`, of `warpfold::operators`"
            );
            return self.refuse(&call.method, message);
        }
        let (probes, trees): (Vec<_>, Vec<_>) =
            call.args.iter().map(|argument| self.argument(argument)).unzip();
        let Pair { probe, tree } = receiver;
        let (word, turbofish) = (&call.method, &call.turbofish);
        if let Some(turbofish) = turbofish {
            return self.refuse(turbofish, "a method of a number has no type arguments");
        }
        let probe = quote!(#probe.#word(#(#probes),*));
        let trees: Vec<TokenStream> = std::iter::once(tree).chain(trees).collect();
        self.method(probe, &method, &trees, None)
    }

    fn receiver(&mut self, receiver: &Expr, method: &str) -> Pair {
        let Pair { probe, tree } = self.primitive(receiver);
        if self.function.generic || !is_order(method) {
            return Pair { probe, tree };
        }
        Pair { probe: quote_spanned!(receiver.span()=> ::warpfold::translation::ordered(#probe)), tree }
    }

    /// An argument of a method, which may be behind a reference: `a.total_cmp(&b)`.
    fn argument(&mut self, argument: &Expr) -> (TokenStream, TokenStream) {
        match argument {
            Expr::Reference(inner) if inner.mutability.is_none() => {
                let Pair { probe, tree } = self.expression(&inner.expr, true);
                (quote!(&#probe), tree)
            }
            argument => {
                let Pair { probe, tree } = self.expression(argument, true);
                (probe, tree)
            }
        }
    }

    fn method(
        &mut self,
        probe: TokenStream,
        method: &Method,
        operands: &[TokenStream],
        slot: Option<usize>,
    ) -> Pair {
        self.exact &= method.exact;
        let returns = match (slot, method.returns) {
            (Some(slot), _) => quote!(Slot(#slot)),
            (None, returns) => {
                let name = format_ident!(
                    "{}",
                    match returns {
                        Returns::Same => "Same",
                        Returns::Unsigned => "Unsigned",
                        Returns::Bool => "Bool",
                        Returns::U32 => "U32",
                        Returns::Ordering => "Ordering",
                    }
                );
                quote!(#name)
            }
        };
        let (name, kinds) = (method.name, method.kinds);
        let tree = quote!(::warpfold::translation::syntax::Expression::Method {
            name: #name,
            kinds: #kinds,
            returns: ::warpfold::translation::syntax::Returns::#returns,
            operands: &[#(#operands),*],
        });
        Pair { probe, tree }
    }

    fn call(&mut self, call: &ExprCall) -> Pair {
        let func = match &*call.func {
            Expr::Group(inner) => &*inner.expr,
            func => func,
        };
        let Expr::Path(callee) = func else {
            return self.refuse(&call.func, "only a function can be called, by its name");
        };
        let last = callee.path.segments.last().map(|segment| plain(&segment.ident)).unwrap_or_default();
        let before = callee.path.segments.iter().rev().nth(1).map(|segment| plain(&segment.ident));
        let before = before.unwrap_or_default();
        let of_type = callee.qself.is_some() || before.starts_with(|first: char| first.is_uppercase());
        let of_type = of_type || PRIMITIVES.contains(&before.as_str());
        let is_constant = of_type || matches!(last.as_str(), "size_of" | "align_of");
        if call.args.is_empty() && is_constant {
            return self.constant_value(quote!(#call));
        }
        // `std::cmp::max(a, b)`, which is `Ord::max`.
        if before == "cmp" && matches!(last.as_str(), "max" | "min") {
            return self.associated(call, &callee.path, &last);
        }
        // `f32::sqrt(x)`, `Float::sqrt(x)`, `<T as Float>::sqrt(x)`: a method by another way.
        if of_type && !last.starts_with(|first: char| first.is_uppercase()) {
            let known = match methods::is_of_number(&last) {
                true => before == "Number",
                false => true,
            };
            let known = known
                && (PRIMITIVES.contains(&before.as_str())
                    || methods::TRAITS.contains(&before.as_str())
                    || self.function.type_parameters.contains(&before));
            if !known {
                return self.refuse(
                    &call.func,
                    "a function of this type or trait has no counterpart in CUDA C++; write a free `#[device]` function",
                );
            }
            return self.associated(call, &callee.path, &last);
        }
        if last.starts_with(|first: char| first.is_uppercase()) {
            return self.tuple_structure(call);
        }
        let here = callee.path.segments.len() == 1
            || callee.path.segments.first().is_some_and(|first| first.ident == "self");
        if !self.function.has_self && here && last == plain(self.function.name) {
            return self.refuse(
                &call.func,
                "a function that calls itself has no bound on a GPU's stack; use a loop",
            );
        }
        if callee.path.get_ident().is_some_and(|name| self.local(name).is_some()) {
            return self.refuse(&call.func, "only a `#[device]` function can be called, by its name");
        }
        let (probes, trees) = self.all(&call.args);
        let (number, path) = (self.callees.len(), &callee.path);
        self.callees.push(path.clone());
        let name = callee_name(number);
        Pair {
            probe: quote!(#path::probe(&#name, #(#probes),*)),
            tree: quote!(::warpfold::translation::syntax::Expression::Call(#number, &[#(#trees),*])),
        }
    }

    /// `f32::from_bits(x)`, `u64::from(x)`, `f32::sqrt(x)`.
    fn associated(&mut self, call: &ExprCall, path: &Path, name: &str) -> Pair {
        let slot = self.slot();
        let slot_name = slot_name(slot);
        let func = &call.func;
        match name {
            "from" if call.args.len() == 1 => {
                let Pair { probe, tree } = self.primitive(&call.args[0]);
                Pair {
                    probe: quote_spanned!(call.span()=> #slot_name.of(#func(#probe))),
                    tree: quote!(::warpfold::translation::syntax::Expression::Cast(&#tree, #slot)),
                }
            }
            "from_bits" => {
                let (probes, trees) = self.all(&call.args);
                let method = Method { name: "from_bits", kinds: "u", returns: Returns::Same, exact: true };
                self.method(
                    quote_spanned!(call.span()=> #slot_name.of(#func(#(#probes),*))),
                    &method,
                    &trees,
                    Some(slot),
                )
            }
            name => {
                let Some(method) = methods::method(name) else {
                    let instead = methods::instead(name);
                    return self.refuse(path, format!("`{name}` has no counterpart in CUDA C++; {instead}"));
                };
                let is_ord = path
                    .segments
                    .iter()
                    .rev()
                    .nth(1)
                    .is_some_and(|segment| segment.ident == "Ord" || segment.ident == "cmp");
                if self.function.generic && is_order(name) && !is_ord {
                    return self.refuse(path, ORDER_OF_ANYTHING);
                }
                let mut arguments = call.args.iter();
                let Some(first) = arguments.next() else { return Pair::default() };
                let first = match first {
                    // `Ord::cmp(&a, &b)`
                    Expr::Reference(inner) if inner.mutability.is_none() => {
                        let Pair { probe, tree } = self.receiver(&inner.expr, name);
                        (quote!(&#probe), tree)
                    }
                    first => {
                        let Pair { probe, tree } = self.receiver(first, name);
                        (probe, tree)
                    }
                };
                let rest: Vec<_> = arguments.map(|argument| self.argument(argument)).collect();
                let (probes, trees): (Vec<_>, Vec<_>) = std::iter::once(first).chain(rest).unzip();
                // The slot is not asked: it takes on what the method returns.
                self.method(
                    quote_spanned!(call.span()=> #slot_name.of(#func(#(#probes),*))),
                    &method,
                    &trees,
                    None,
                )
            }
        }
    }

    /// `Pair(a, b)`, the literal of a tuple struct.
    fn tuple_structure(&mut self, call: &ExprCall) -> Pair {
        let (probes, trees) = self.all(&call.args);
        let slot = self.slot();
        let (name, func) = (slot_name(slot), &call.func);
        let fields = trees.iter().enumerate().map(|(position, tree)| {
            let position = position.to_string();
            quote!((#position, #tree))
        });
        Pair {
            probe: quote_spanned!(call.span()=> #name.of(#func(#(#probes),*))),
            tree: quote!(::warpfold::translation::syntax::Expression::Struct {
                ty: #slot, fields: &[#(#fields),*], base: ::core::option::Option::None
            }),
        }
    }

    fn structure(&mut self, structure: &ExprStruct) -> Pair {
        let (mut probes, mut fields) = (Vec::new(), Vec::new());
        for field in &structure.fields {
            self.check_attributes(&field.attrs);
            let Pair { probe, tree } = self.expression(&field.expr, true);
            let (member, name) = (&field.member, member_name(&field.member));
            probes.push(quote!(#member: #probe));
            fields.push(quote!((#name, #tree)));
        }
        let base = structure.rest.as_ref().map(|base| self.expression(base, true));
        let rest = base.as_ref().map(|Pair { probe, .. }| quote!(..#probe));
        let base = optional(base.map(|Pair { tree, .. }| reference(tree)));
        let slot = self.slot();
        let (name, path) = (slot_name(slot), &structure.path);
        Pair {
            probe: quote_spanned!(structure.span()=> #name.of(#path { #(#probes,)* #rest })),
            tree: quote!(::warpfold::translation::syntax::Expression::Struct {
                ty: #slot, fields: &[#(#fields),*], base: #base
            }),
        }
    }

    fn all<'e>(
        &mut self,
        expressions: impl IntoIterator<Item = &'e Expr>,
    ) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let pair = |expression| {
            let Pair { probe, tree } = self.expression(expression, true);
            (probe, tree)
        };
        expressions.into_iter().map(pair).unzip()
    }

    /// Control flow as an expression, with a slot for the value that somebody wants.
    fn control(&mut self, control: Pair, wanted: bool) -> Pair {
        let Pair { probe, tree } = control;
        let syntax = quote!(::warpfold::translation::syntax::Expression::Control);
        if !wanted {
            return Pair { probe, tree: quote!(#syntax(::core::option::Option::None, &#tree)) };
        }
        let slot = self.slot();
        let name = slot_name(slot);
        Pair {
            probe: quote!(#name.of(#probe)),
            tree: quote!(#syntax(::core::option::Option::Some(#slot), &#tree)),
        }
    }

    /// A block with its braces, as a kind of `Control`.
    fn braced(&mut self, block: &Block, wanted: bool, kind: &str) -> Pair {
        let Pair { probe, tree } = self.block(block, wanted, Vec::new());
        let kind = format_ident!("{kind}");
        Pair {
            probe: quote!({ #probe }),
            tree: quote!(::warpfold::translation::syntax::Control::#kind(#tree)),
        }
    }

    fn flow(&mut self, expression: &Expr, wanted: bool) -> Pair {
        let syntax = quote!(::warpfold::translation::syntax::Control);
        match expression {
            Expr::If(branch) => {
                let condition = self.expression(&branch.cond, true);
                let then = self.block(&branch.then_branch, wanted, Vec::new());
                // A branch that nobody finishes, such as `else if`, is wanted like the whole.
                let otherwise = branch.else_branch.as_ref().map(|(_, otherwise)| match &**otherwise {
                    Expr::If(_) => {
                        let Pair { probe, tree } = self.flow(otherwise, wanted);
                        let tree = quote!(::warpfold::translation::syntax::Expression::Control(
                            ::core::option::Option::None, &#tree
                        ));
                        Pair { probe, tree }
                    }
                    Expr::Block(block) => {
                        let Pair { probe, tree } = self.braced(&block.block, wanted, "Block");
                        let tree = quote!(::warpfold::translation::syntax::Expression::Control(
                            ::core::option::Option::None, &#tree
                        ));
                        Pair { probe, tree }
                    }
                    other => self.refused(other),
                });
                let probe_otherwise = otherwise.as_ref().map(|Pair { probe, .. }| quote!(else #probe));
                let tree_otherwise = optional(otherwise.map(|Pair { tree, .. }| tree));
                let (condition_probe, then_probe) = (condition.probe, then.probe);
                let (condition, then) = (condition.tree, then.tree);
                Pair {
                    probe: quote!(if #condition_probe { #then_probe } #probe_otherwise),
                    tree: quote!(#syntax::If(#condition, #then, #tree_otherwise)),
                }
            }
            Expr::Match(choice) => self.choice(choice, wanted),
            Expr::Loop(repeat) => {
                let (label, name) = self.label(repeat.label.as_ref());
                let Pair { probe, tree } = self.block(&repeat.body, false, Vec::new());
                Pair { probe: quote!(#label loop { #probe }), tree: quote!(#syntax::Loop(#name, #tree)) }
            }
            Expr::While(repeat) => {
                let (label, name) = self.label(repeat.label.as_ref());
                if has_labelled_jump(&repeat.cond) {
                    return self
                        .refuse(&repeat.cond, "a condition jumps to no label here; use `loop` and `break`");
                }
                let condition = self.expression(&repeat.cond, true);
                let Pair { probe, tree } = self.block(&repeat.body, false, Vec::new());
                let (condition_probe, condition) = (condition.probe, condition.tree);
                Pair {
                    probe: quote!(#label while #condition_probe { #probe }),
                    tree: quote!(#syntax::While(#name, #condition, #tree)),
                }
            }
            Expr::ForLoop(repeat) => self.count(repeat),
            _ => unreachable!("only control flow gets here"),
        }
    }

    fn choice(&mut self, choice: &ExprMatch, wanted: bool) -> Pair {
        let value = self.expression(&choice.expr, true);
        let (mut probes, mut arms) = (Vec::new(), Vec::new());
        for arm in &choice.arms {
            self.check_attributes(&arm.attrs);
            let outer = self.scope.len();
            let mut bound = Vec::new();
            let pattern = self.refutable(&arm.pat, &mut bound);
            let asked = self.ask(&bound);
            let guard = arm.guard.as_ref().map(|(_, guard)| self.expression(guard, true));
            let body = self.expression(&arm.body, wanted);
            self.scope.truncate(outer);
            let guard_probe = guard.as_ref().map(|Pair { probe, .. }| quote!(if #probe));
            let guard = optional(guard.map(|Pair { tree, .. }| tree));
            let (pattern_probe, body_probe, line) = (pattern.probe, body.probe, line(arm.pat.span()));
            let (pattern, body) = (pattern.tree, body.tree);
            probes.push(quote!(#pattern_probe #guard_probe => { #asked #body_probe }));
            arms.push(quote!(::warpfold::translation::syntax::Arm {
                line: #line, pattern: #pattern, guard: #guard, value: #body
            }));
        }
        let (value_probe, value) = (value.probe, value.tree);
        Pair {
            probe: quote!(match #value_probe { #(#probes)* }),
            tree: quote!(::warpfold::translation::syntax::Control::Match(#value, &[#(#arms),*])),
        }
    }

    fn count(&mut self, repeat: &ExprForLoop) -> Pair {
        let (label, label_name) = self.label(repeat.label.as_ref());
        let (range, reversed) = match &*repeat.expr {
            Expr::MethodCall(call) if call.method == "rev" && call.args.is_empty() => (&*call.receiver, true),
            range => (range, false),
        };
        let mut range = range;
        while let Expr::Paren(syn::ExprParen { expr, .. }) | Expr::Group(syn::ExprGroup { expr, .. }) = range
        {
            range = expr;
        }
        let Expr::Range(range) = range else {
            return self.refuse(
                &repeat.expr,
                "`for` counts over a range, `low..high` or `low..=high`, maybe with `.rev()`; for other steps use `while`",
            );
        };
        let (Some(low), Some(high)) = (&range.start, &range.end) else {
            return self.refuse(range, "a range that `for` counts over has two ends");
        };
        let (low, high) = (self.expression(low, true), self.expression(high, true));
        let slot = self.slot();
        let (slot_name, outer) = (slot_name(slot), self.scope.len());
        let (variable, name, asked) = match &*repeat.pat {
            Pat::Wild(wild) => (None, quote!(#wild), None),
            Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
                let (name, mutability) = (&ident.ident, ident.mutability);
                let variable = self.declare(name, slot, mutability.is_some());
                (Some(variable), quote!(#mutability #name), Some(quote!(#slot_name.is(&#name);)))
            }
            other => return self.refuse(other, "what `for` counts has one name, or is `_`"),
        };
        let Pair { probe, tree } = self.block(&repeat.body, false, Vec::new());
        self.scope.truncate(outer);
        let (limits, inclusive) = (range.limits, matches!(range.limits, RangeLimits::Closed(_)));
        let reverse = reversed.then(|| quote!(.rev()));
        let (low_probe, high_probe) = (low.probe, high.probe);
        let (low, high, variable) =
            (low.tree, high.tree, optional(variable.map(ToTokens::into_token_stream)));
        Pair {
            probe: quote!(#label for #name in (#slot_name.of(#low_probe) #limits #high_probe) #reverse { #asked #probe }),
            tree: quote!(::warpfold::translation::syntax::Control::For {
                label: #label_name,
                variable: #variable,
                ty: #slot,
                range: ::warpfold::translation::syntax::Range {
                    low: #low, high: #high, inclusive: #inclusive, reversed: #reversed
                },
                body: #tree,
            }),
        }
    }

    /// A loop's label, for the probe and for the tree.
    fn label(&self, label: Option<&Label>) -> (TokenStream, TokenStream) {
        let name = label.map(|label| label.name.ident.to_string()).map(ToTokens::into_token_stream);
        (quote!(#label), optional(name))
    }

    fn jump(&mut self, expression: &Expr) -> Pair {
        let syntax = quote!(::warpfold::translation::syntax::Control);
        match expression {
            Expr::Break(jump) => {
                let (label, name) = self.target(jump.label.as_ref());
                let value = jump.expr.as_ref().map(|value| self.expression(value, true));
                let probe = value.as_ref().map(|Pair { probe, .. }| probe.clone());
                let tree = optional(value.map(|Pair { tree, .. }| tree));
                Pair { probe: quote!(break #label #probe), tree: quote!(#syntax::Break(#name, #tree)) }
            }
            Expr::Continue(jump) => {
                let (label, name) = self.target(jump.label.as_ref());
                Pair { probe: quote!(continue #label), tree: quote!(#syntax::Continue(#name)) }
            }
            Expr::Return(jump) => {
                let Some(value) = &jump.expr else {
                    return self.refuse(jump, "a function here returns a value");
                };
                let Pair { probe, tree } = self.expression(value, true);
                Pair { probe: quote!(return #probe), tree: quote!(#syntax::Return(#tree)) }
            }
            _ => unreachable!("only jumps get here"),
        }
    }

    fn target(&self, label: Option<&syn::Lifetime>) -> (TokenStream, TokenStream) {
        let name = label.map(|label| label.ident.to_string());
        (quote!(#label), optional(name.map(ToTokens::into_token_stream)))
    }
}

/// Whether it is a literal without a suffix, cast to a type of its own kind.
fn is_literal_of(value: &Expr, ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = ty else { return false };
    let Some(name) = path.path.get_ident().map(plain) else { return false };
    match value {
        Expr::Paren(inner) => is_literal_of(&inner.expr, ty),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => is_literal_of(&unary.expr, ty),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.suffix().is_empty() && PRIMITIVES[..10].contains(&name.as_str()),
            Lit::Float(number) => number.suffix().is_empty() && PRIMITIVES[10..12].contains(&name.as_str()),
            _ => false,
        },
        _ => false,
    }
}

fn literal_digits(value: &Expr) -> String {
    match value {
        Expr::Paren(inner) => literal_digits(&inner.expr),
        Expr::Unary(unary) => format!("-{}", literal_digits(&unary.expr)),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_digits().to_owned(),
            Lit::Float(number) => number.base10_digits().to_owned(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

fn is_order(method: &str) -> bool {
    matches!(method, "min" | "max" | "clamp")
}

fn attributes(expression: &Expr) -> &[syn::Attribute] {
    match expression {
        Expr::Binary(inner) => &inner.attrs,
        Expr::Block(inner) => &inner.attrs,
        Expr::Call(inner) => &inner.attrs,
        Expr::ForLoop(inner) => &inner.attrs,
        Expr::If(inner) => &inner.attrs,
        Expr::Loop(inner) => &inner.attrs,
        Expr::Match(inner) => &inner.attrs,
        Expr::Paren(inner) => &inner.attrs,
        Expr::While(inner) => &inner.attrs,
        _ => &[],
    }
}
