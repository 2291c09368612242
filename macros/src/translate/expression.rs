//! Expressions.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprCall, ExprStruct, Lit, Path, Stmt, Type, UnOp};

use super::pattern::member_name;
use super::standard::{Expansion, macro_refused};
use super::{
    Pair, Receiver, Translator, constant_name, has_braces, mark, of, optional, ours_at, own, reference,
    slot_name, this, through,
};

const NO_PLACE: &str =
    "only a variable of the body, a field or an element of one, or a tuple of these can be assigned to";
const REFERENCE: &str = "pass and return values: items are `Copy`";

impl Translator<'_> {
    /// An expression. Control flow has a type only if its value is `wanted`.
    pub(super) fn expression(&mut self, expression: &Expr, wanted: bool) -> Pair {
        let syntax = quote!(__warpfold::language::syntax::Expression);
        match expression {
            Expr::Paren(inner) => {
                let Pair { probe, tree } = self.expression(&inner.expr, wanted);
                Pair { probe: quote_spanned!(expression.span()=> (#probe)), tree }
            }
            Expr::Group(inner) => {
                let Pair { probe, tree } = self.expression(&inner.expr, wanted);
                Pair { probe: quote_spanned!(expression.span()=> (#probe)), tree }
            }
            Expr::Lit(literal) => self.literal(expression, &literal.lit, ""),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (UnOp::Neg(_), Expr::Lit(literal)) if !matches!(literal.lit, Lit::Bool(_)) => {
                    self.literal(expression, &literal.lit, "-")
                }
                (UnOp::Deref(_), operand) if self.reference(operand).is_some() => {
                    let Pair { probe, tree } = self.expression(operand, true);
                    Pair { probe: quote!((*#probe)), tree }
                }
                (UnOp::Deref(_), Expr::Path(path)) if self.is_state(&path.path) && self.has_inner => self.refuse(
                    expression,
                    "an operator with other operators inside is no value of a kernel: read its fields, as `self.field`",
                ),
                (UnOp::Deref(_), Expr::Path(path)) if self.is_state(&path.path) => {
                    self.uses_state.get_or_insert(path.span());
                    let this = this();
                    Pair { probe: quote!((*#this)), tree: quote!(#syntax::State) }
                }
                (UnOp::Neg(_) | UnOp::Not(_), operand) => {
                    let (kind, name) = match unary.op {
                        UnOp::Neg(_) => (quote!(Negate), "Neg"),
                        _ => (quote!(Not), "Not"),
                    };
                    let op = unary.op;
                    let Pair { probe, tree } = self.expression(operand, true);
                    let (probe, callee) =
                        self.operator(name, op.span(), probe, None, |value, _| quote!(#op #value));
                    Pair { probe, tree: quote!(#syntax::#kind(&#tree, #callee)) }
                }
                // A reference is refused where it is made.
                _ if !self.errors.is_empty() => Pair::default(),
                _ => self.outside(expression, "a dereference", REFERENCE),
            },
            Expr::Path(path) => self.path(expression, &path.path, path.qself.is_some()),
            Expr::Field(field)
                if self.has_inner
                    && matches!(&*field.base, Expr::Path(path) if self.is_state(&path.path)) =>
            {
                self.state_field(&field.member, expression.span())
            }
            Expr::Field(field) => {
                let base = match &*field.base {
                    Expr::Path(path) if self.is_state(&path.path) => {
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
                let (number, slot) = self.callee_named("operator", "[]", index.expr.span());
                let pass = |function: &str, value| {
                    pass(function, &slot, index.expr.span(), quote!(Index), quote!(_), value)
                };
                let (base_probe, at_probe) = (pass("left", base.probe), pass("right", at.probe));
                let (base, at) = (base.tree, at.tree);
                Pair {
                    probe: quote!(#base_probe[#at_probe]),
                    tree: quote!(#syntax::Index(&#base, &#at, ::core::option::Option::Some(#number))),
                }
            }
            Expr::Binary(binary) => self.binary(&binary.left, &binary.op, &binary.right),
            Expr::Assign(assign) => {
                let value = self.expression(&assign.right, true);
                let place = self.place(&assign.left);
                let (place_probe, value_probe) = (place.probe, value.probe);
                let (place, value) = (place.tree, value.tree);
                let indexed = std::mem::take(&mut self.indexed);
                Pair {
                    probe: quote!({ #(let _ = #indexed;)* #place_probe = #value_probe }),
                    tree: quote!(#syntax::Assign(&#place, &#value)),
                }
            }
            Expr::Cast(cast) => {
                let Pair { probe, tree } = self.cast_operand(&cast.expr, &cast.ty);
                let slot = self.slot(expression.span());
                let ty = &cast.ty;
                Pair {
                    probe: of(slot, expression.span(), quote!((#probe) as #ty)),
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
                Pair {
                    probe: quote_spanned!(expression.span()=> (#(#probes,)*)),
                    tree: quote!(#syntax::Tuple(&[#(#trees),*])),
                }
            }
            Expr::Array(array) => {
                let (probes, trees) = self.all(&array.elems);
                let slot = self.slot(expression.span());
                Pair {
                    probe: of(slot, expression.span(), quote!([#(#probes),*])),
                    tree: quote!(#syntax::Array(#slot, &[#(#trees),*])),
                }
            }
            Expr::Repeat(repeat) => {
                let Pair { probe, tree } = self.expression(&repeat.expr, true);
                let slot = self.slot(expression.span());
                let length = &repeat.len;
                Pair {
                    probe: of(slot, expression.span(), quote!([#probe; #length])),
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
                self.control(control, wanted, expression.span())
            }
            Expr::If(_) | Expr::Match(_) | Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => {
                let control = self.flow(expression, wanted);
                self.control(control, wanted, expression.span())
            }
            Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) => {
                let control = self.jump(expression);
                self.control(control, false, expression.span())
            }
            Expr::Macro(call) => match self.expansion(&call.mac) {
                Some(Expansion::Value(pair)) => pair,
                Some(Expansion::Assertion(_)) => {
                    let name = call.mac.path.segments.last().map(|segment| segment.ident.to_string());
                    self.refuse(call, macro_refused(&name.unwrap_or_default()))
                }
                None => Pair::default(),
            },
            Expr::Async(_)
            | Expr::Await(_)
            | Expr::Closure(_)
            | Expr::Const(_)
            | Expr::Infer(_)
            | Expr::Let(_)
            | Expr::Range(_)
            | Expr::RawAddr(_)
            | Expr::Reference(_)
            | Expr::Try(_)
            | Expr::TryBlock(_)
            | Expr::Unsafe(_)
            | Expr::Verbatim(_)
            | Expr::Yield(_) => self.refused(expression),
            // Syntax that is newer than this list.
            _ => self.refused(expression),
        }
    }

    /// Refuses an expression outside the subset, and says how to write it.
    pub(super) fn refused(&mut self, expression: &Expr) -> Pair {
        let (what, instead) = match expression {
            Expr::Reference(_) | Expr::RawAddr(_) => ("a reference", REFERENCE),
            Expr::Closure(_) => ("a closure", "write a `#[device]` function, and pass it what it needs"),
            Expr::Range(_) => ("a range", "it may only be what `for` counts over, or a pattern"),
            Expr::Let(_) => ("a `let` among other conditions", "nest one `if` in another"),
            Expr::Try(_) | Expr::TryBlock(_) => ("`?`", "there is no `Option` or `Result` here"),
            Expr::Unsafe(_) => ("`unsafe`", "write the device form by hand, with `DeviceOperator::new`"),
            Expr::Async(_) | Expr::Await(_) => ("`async`", "compute the value"),
            Expr::Const(_) => ("a `const` block", "name the constant: `const N: u32 = ...;`"),
            Expr::Infer(_) => ("`_`", "write the value"),
            _ => ("this expression", "docs/OPERATORS.md lists what has one"),
        };
        self.outside(expression, what, instead)
    }

    /// The operand of a cast. Rust gives a literal the target type of its cast, if both are
    /// integers or both are floats. The literal may be inside parentheses or a block, or behind `-`
    /// or `!`.
    fn cast_operand(&mut self, operand: &Expr, ty: &Type) -> Pair {
        let syntax = quote!(__warpfold::language::syntax::Expression);
        match operand {
            Expr::Paren(inner) => self.cast_operand(&inner.expr, ty),
            Expr::Group(inner) => self.cast_operand(&inner.expr, ty),
            Expr::Block(block) if block.label.is_none() => match &block.block.stmts[..] {
                [Stmt::Expr(value, None)] => self.cast_operand(value, ty),
                _ => self.scalar(operand),
            },
            Expr::Lit(literal) => self.cast_literal(operand, &literal.lit, "", ty),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (UnOp::Neg(_), Expr::Lit(literal)) if !matches!(literal.lit, Lit::Bool(_)) => {
                    self.cast_literal(operand, &literal.lit, "-", ty)
                }
                (UnOp::Neg(_) | UnOp::Not(_), inner) if !is_literal(inner) => self.scalar(operand),
                (UnOp::Neg(op), inner) => {
                    let Pair { probe, tree } = self.cast_operand(inner, ty);
                    Pair {
                        probe: quote!((#op #probe)),
                        tree: quote!(#syntax::Negate(&#tree, ::core::option::Option::None)),
                    }
                }
                (UnOp::Not(op), inner) => {
                    let Pair { probe, tree } = self.cast_operand(inner, ty);
                    Pair {
                        probe: quote!((#op #probe)),
                        tree: quote!(#syntax::Not(&#tree, ::core::option::Option::None)),
                    }
                }
                _ => self.scalar(operand),
            },
            other => self.scalar(other),
        }
    }

    fn cast_literal(&mut self, expression: &Expr, literal: &Lit, sign: &str, ty: &Type) -> Pair {
        let (function, digits) = match literal {
            Lit::Int(number) if number.suffix().is_empty() => ("integer_of", number.base10_digits()),
            Lit::Float(number) if number.suffix().is_empty() => ("float_of", number.base10_digits()),
            _ => return self.literal(expression, literal, sign),
        };
        let (slot, text) = (self.slot(expression.span()), format!("{sign}{digits}"));
        let (span, name) = ours_at(expression.span(), slot_name(slot));
        let (_, function) = ours_at(expression.span(), Ident::new(function, expression.span()));
        Pair {
            probe: quote_spanned!(span=> __warpfold::language::#function::<#ty>(&#name, #expression)),
            tree: quote!(__warpfold::language::syntax::Expression::Number { text: #text, ty: #slot }),
        }
    }

    fn literal(&mut self, expression: &Expr, literal: &Lit, sign: &str) -> Pair {
        let digits = match literal {
            Lit::Int(number) => number.base10_digits().to_owned(),
            Lit::Float(number) => number.base10_digits().to_owned(),
            Lit::Byte(byte) => byte.value().to_string(),
            Lit::Bool(truth) => {
                return Pair {
                    probe: quote!(#expression),
                    tree: quote!(__warpfold::language::syntax::Expression::Bool(#truth)),
                };
            }
            _ => return self.outside(expression, "text", "use numbers"),
        };
        let (slot, text) = (self.slot(expression.span()), format!("{sign}{digits}"));
        Pair {
            probe: of(slot, expression.span(), quote!(#expression)),
            tree: quote!(__warpfold::language::syntax::Expression::Number { text: #text, ty: #slot }),
        }
    }

    fn path(&mut self, expression: &Expr, path: &Path, qualified: bool) -> Pair {
        let name = path.get_ident().filter(|_| !qualified);
        if let Some(name) = name {
            if self.is_state(path) {
                return self.refuse(
                    expression,
                    "the operator itself is behind a reference: read its fields, as `self.field`, or copy it, as `*self`",
                );
            }
            if let Some(variable) = self.local(name) {
                let tree = quote!(__warpfold::language::syntax::Expression::Local(#variable));
                if name == "self" {
                    let this = ours_at(name.span(), this()).1;
                    return Pair { probe: quote!(#this), tree };
                }
                let mark = mark(variable, name);
                // rustc reports errors in the value at the variable.
                let span = Span::call_site().located_at(expression.span());
                return Pair { probe: quote_spanned!(span=> ({ #mark; #expression })), tree };
            }
        }
        self.constant_value(quote!(#expression))
    }

    /// Whether a path is the `self` of an operator.
    pub(super) fn is_state(&self, path: &Path) -> bool {
        self.function.receiver == Receiver::Operator && path.is_ident("self")
    }

    /// A value that rustc computes: a path, or a call of an associated function.
    pub(super) fn constant_value(&mut self, value: TokenStream) -> Pair {
        let span = value.span();
        let constant = self.constant(value);
        let (span, name) = ours_at(span, constant_name(constant));
        Pair {
            probe: quote_spanned!(span=> __warpfold::language::Constant::get(&#name)),
            tree: quote!(__warpfold::language::syntax::Expression::Constant(#constant)),
        }
    }

    /// A value that is cast. If there are no type parameters, the probe checks that it is a number or
    /// a value of an enum.
    fn scalar(&mut self, operand: &Expr) -> Pair {
        let Pair { probe, tree } = self.expression(operand, true);
        if self.function.generic {
            return Pair { probe, tree };
        }
        Pair { probe: through("scalar", operand.span(), probe), tree }
    }

    /// An operand of an operator or a method. If there are no type parameters, the probe checks
    /// that it is a number.
    pub(super) fn primitive(&mut self, operand: &Expr) -> Pair {
        let Pair { probe, tree } = self.expression(operand, true);
        if self.function.generic {
            return Pair { probe, tree };
        }
        Pair { probe: through("number", operand.span(), probe), tree }
    }

    fn binary(&mut self, left: &Expr, op: &BinOp, right: &Expr) -> Pair {
        let syntax = quote!(__warpfold::language::syntax);
        // The name in the tree, the trait, and whether the operator assigns.
        let (name, of_trait, compound) = match op {
            BinOp::Add(_) => ("Add", "Add", false),
            BinOp::Sub(_) => ("Subtract", "Sub", false),
            BinOp::Mul(_) => ("Multiply", "Mul", false),
            BinOp::Div(_) => ("Divide", "Div", false),
            BinOp::Rem(_) => ("Remainder", "Rem", false),
            BinOp::And(_) => ("And", "", false),
            BinOp::Or(_) => ("Or", "", false),
            BinOp::BitXor(_) => ("BitXor", "BitXor", false),
            BinOp::BitAnd(_) => ("BitAnd", "BitAnd", false),
            BinOp::BitOr(_) => ("BitOr", "BitOr", false),
            BinOp::Shl(_) => ("ShiftLeft", "Shl", false),
            BinOp::Shr(_) => ("ShiftRight", "Shr", false),
            BinOp::Eq(_) => ("Equal", "PartialEq", false),
            BinOp::Lt(_) => ("Less", "PartialOrd", false),
            BinOp::Le(_) => ("LessOrEqual", "PartialOrd", false),
            BinOp::Ne(_) => ("NotEqual", "PartialEq", false),
            BinOp::Ge(_) => ("GreaterOrEqual", "PartialOrd", false),
            BinOp::Gt(_) => ("Greater", "PartialOrd", false),
            BinOp::AddAssign(_) => ("Add", "AddAssign", true),
            BinOp::SubAssign(_) => ("Subtract", "SubAssign", true),
            BinOp::MulAssign(_) => ("Multiply", "MulAssign", true),
            BinOp::DivAssign(_) => ("Divide", "DivAssign", true),
            BinOp::RemAssign(_) => ("Remainder", "RemAssign", true),
            BinOp::BitXorAssign(_) => ("BitXor", "BitXorAssign", true),
            BinOp::BitAndAssign(_) => ("BitAnd", "BitAndAssign", true),
            BinOp::BitOrAssign(_) => ("BitOr", "BitOrAssign", true),
            BinOp::ShlAssign(_) => ("ShiftLeft", "ShlAssign", true),
            BinOp::ShrAssign(_) => ("ShiftRight", "ShrAssign", true),
            other => return self.refuse(other, "this operator has no counterpart in CUDA C++"),
        };
        let operator = format_ident!("{name}");
        let operator = quote!(#syntax::Operator::#operator);
        if compound {
            if self.function.generic && has_index(left) && has_braces(right) {
                // For numbers Rust evaluates the value first, and for all other types the place.
                return self.refuse(
                    right,
                    "a block beside an index has no order in generic code; name the value with `let` first",
                );
            }
            let value = self.expression(right, true);
            let place = self.place(left);
            let indexed = std::mem::take(&mut self.indexed);
            let (place_probe, value_probe) = (place.probe, value.probe);
            let (place, value) = (place.tree, value.tree);
            let (probe, callee) = self.operator(
                of_trait,
                op.span(),
                place_probe.clone(),
                Some(value_probe),
                |read, value| quote!({ let _ = #read; #place_probe #op #value }),
            );
            return Pair {
                probe: quote!({ #(let _ = #indexed;)* #probe }),
                tree: quote!(#syntax::Expression::Compound(#operator, &#place, &#value, #callee)),
            };
        }
        let (left, right) = (self.expression(left, true), self.expression(right, true));
        let (left_probe, right_probe) = (left.probe, right.probe);
        let (left, right) = (left.tree, right.tree);
        let (probe, callee) = match of_trait {
            "" => (quote!(#left_probe #op #right_probe), quote!(::core::option::Option::None)),
            of_trait => self.operator(
                of_trait,
                op.span(),
                left_probe,
                Some(right_probe),
                |left, right| quote!(#left #op #right),
            ),
        };
        Pair { probe, tree: quote!(#syntax::Expression::Binary(#operator, &#left, &#right, #callee)) }
    }

    /// The probe of an operator, whose operands are written by `write`, and its callee for the tree.
    /// The callee's slot gets the types of the operands.
    fn operator(
        &mut self,
        of_trait: &str,
        span: Span,
        left: TokenStream,
        right: Option<TokenStream>,
        write: impl FnOnce(TokenStream, TokenStream) -> TokenStream,
    ) -> (TokenStream, TokenStream) {
        let function = if self.function.generic { "meaning" } else { "operator" };
        let (number, slot) = self.callee_named(function, of_trait, span);
        let of_trait = Ident::new(of_trait, Span::mixed_site());
        let callee = quote!(::core::option::Option::Some(#number));
        if !self.function.generic {
            let rhs = match right {
                Some(_) => quote!(_),
                None => quote!(()),
            };
            let pass =
                |function: &str, value| pass(function, &slot, span, quote!(#of_trait), rhs.clone(), value);
            let right = right.map(|right| pass("right", right)).unwrap_or_default();
            return (write(pass("left", left), right), callee);
        }
        let (span, slot) = ours_at(span, slot);
        let op = quote_spanned!(span=> __warpfold::language::callee::op::#of_trait);
        // Only the bounds tell here whether the operands have the operator.
        let [left_name, right_name, operands] =
            ["left", "right", "operands"].map(|name| ours_at(span, own(name)).1);
        let right = right.unwrap_or_else(|| quote!(()));
        let written = write(quote!(#left_name), quote!(#right_name));
        let probe = quote_spanned! {span=> ({
            let #left_name = #left;
            let #right_name = #right;
            {
                use __warpfold::language::callee::{Bounded as _, Unbounded as _};
                let #operands = __warpfold::language::callee::operands::<#op, _, _>(&#left_name, &#right_name);
                __warpfold::language::Slot::means(&#slot, &(&&#operands).meaning());
            }
            #written
        })};
        (probe, callee)
    }

    /// An index. It has no statements, so the time of its evaluation does not matter.
    fn index(&mut self, index: &Expr) -> Pair {
        if has_braces(index) {
            return self.refuse(index, "an index has no blocks in it here; name it with `let` first");
        }
        self.expression(index, true)
    }

    /// The target of an assignment: a variable, a field or an element of one, or a tuple of these.
    fn place(&mut self, place: &Expr) -> Pair {
        match place {
            Expr::Path(path) => {
                let Some((name, variable)) = self.local_of(&path.path) else {
                    return self.refuse(place, NO_PLACE);
                };
                let tree = quote!(__warpfold::language::syntax::Expression::Local(#variable));
                if name == "self" {
                    let this = ours_at(name.span(), this()).1;
                    return Pair { probe: quote!(#this), tree };
                }
                let mark = mark(variable, name);
                self.indexed.push(quote!(#mark));
                Pair { probe: quote!(#place), tree }
            }
            Expr::Paren(inner) => self.place(&inner.expr),
            Expr::Group(inner) => self.place(&inner.expr),
            Expr::Unary(unary)
                if matches!(unary.op, UnOp::Deref(_)) && self.reference(&unary.expr).is_some() =>
            {
                let Pair { probe, tree } = self.place(&unary.expr);
                Pair { probe: quote!((*#probe)), tree }
            }
            Expr::Field(field) => {
                let Pair { probe, tree } = self.place(&field.base);
                let (member, name) = (&field.member, member_name(&field.member));
                Pair {
                    probe: quote!(#probe.#member),
                    tree: quote!(__warpfold::language::syntax::Expression::Field(&#tree, #name)),
                }
            }
            Expr::Index(index) => {
                let (base, at) = (self.place(&index.expr), self.index(&index.index));
                let (base_probe, at_probe) = (base.probe, at.probe);
                let (base, at) = (base.tree, at.tree);
                self.indexed.push(through("array", index.expr.span(), base_probe.clone()));
                Pair {
                    probe: quote!(#base_probe[#at_probe]),
                    tree: quote!(__warpfold::language::syntax::Expression::Index(
                        &#base, &#at, ::core::option::Option::None
                    )),
                }
            }
            Expr::Infer(nowhere) => Pair {
                probe: quote!(#nowhere),
                tree: quote!(__warpfold::language::syntax::Expression::Nowhere),
            },
            Expr::Tuple(tuple) => {
                if let Some(inner) = tuple.elems.iter().find(|element| matches!(element, Expr::Tuple(_))) {
                    return self.refuse(
                        inner,
                        "a tuple inside a tuple cannot be assigned to; assign one after the other",
                    );
                }
                let pairs: Vec<Pair> = tuple.elems.iter().map(|element| self.place(element)).collect();
                let (probes, trees): (Vec<_>, Vec<_>) =
                    pairs.into_iter().map(|pair| (pair.probe, pair.tree)).unzip();
                Pair {
                    probe: quote!((#(#probes,)*)),
                    tree: quote!(__warpfold::language::syntax::Expression::Tuple(&[#(#trees),*])),
                }
            }
            other => self.refuse(other, NO_PLACE),
        }
    }

    /// The literal of a tuple struct: `Pair(a, b)`.
    pub(super) fn tuple_structure(&mut self, call: &ExprCall) -> Pair {
        let (probes, trees) = self.all(&call.args);
        let slot = self.slot(call.span());
        let func = &call.func;
        // A function may begin with a capital letter, too. It is no pattern.
        let made = own("made");
        let checked = quote!({ let #made = #func(#(#probes),*); let #func(..) = #made; #made });
        let fields = trees.iter().enumerate().map(|(position, tree)| {
            let position = position.to_string();
            quote!((#position, #tree))
        });
        Pair {
            probe: of(slot, call.span(), checked),
            tree: quote!(__warpfold::language::syntax::Expression::Struct {
                ty: #slot, fields: &[#(#fields),*], base: ::core::option::Option::None
            }),
        }
    }

    fn structure(&mut self, structure: &ExprStruct) -> Pair {
        let (mut probes, mut fields) = (Vec::new(), Vec::new());
        for field in &structure.fields {
            let (member, name) = (&field.member, member_name(&field.member));
            if let Some(marker) = marker(&field.expr) {
                probes.push(quote!(#member: #marker));
                continue;
            }
            let Pair { probe, tree } = self.expression(&field.expr, true);
            probes.push(quote!(#member: #probe));
            fields.push(quote!((#name, #tree)));
        }
        let base = structure.rest.as_ref().map(|base| self.expression(base, true));
        let rest = base.as_ref().map(|Pair { probe, .. }| quote!(..#probe));
        let base = optional(base.map(|Pair { tree, .. }| reference(tree)));
        let slot = self.slot(structure.span());
        let path = &structure.path;
        Pair {
            probe: of(slot, structure.span(), quote!(#path { #(#probes,)* #rest })),
            tree: quote!(__warpfold::language::syntax::Expression::Struct {
                ty: #slot, fields: &[#(#fields),*], base: #base
            }),
        }
    }

    pub(super) fn all<'e>(
        &mut self,
        expressions: impl IntoIterator<Item = &'e Expr>,
    ) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let pair = |expression| {
            let Pair { probe, tree } = self.expression(expression, true);
            (probe, tree)
        };
        expressions.into_iter().map(pair).unzip()
    }
}

/// Whether a place is an element of an array.
fn has_index(place: &Expr) -> bool {
    match place {
        Expr::Index(_) => true,
        Expr::Field(field) => has_index(&field.base),
        Expr::Paren(inner) => has_index(&inner.expr),
        Expr::Group(inner) => has_index(&inner.expr),
        _ => false,
    }
}

/// Whether an expression is a number, in parentheses or blocks, or behind `-` or `!`.
fn is_literal(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(_) => true,
        Expr::Paren(inner) => is_literal(&inner.expr),
        Expr::Group(inner) => is_literal(&inner.expr),
        Expr::Unary(unary) => is_literal(&unary.expr),
        Expr::Block(block) => {
            matches!(&block.block.stmts[..], [Stmt::Expr(value, None)] if is_literal(value))
        }
        _ => false,
    }
}

/// Passes an operand through `left` or `right`, so that the slot has the types of the operands.
fn pass(
    function: &str,
    slot: &Ident,
    span: Span,
    op: TokenStream,
    rhs: TokenStream,
    value: TokenStream,
) -> TokenStream {
    let function = ours_at(span, Ident::new(function, span)).1;
    let (span, slot) = ours_at(span, slot.clone());
    quote_spanned! {span=>
        __warpfold::language::callee::#function::<__warpfold::language::callee::op::#op, _, #rhs>(&#slot, #value)
    }
}

/// The probe of a field's value that is `PhantomData`, which is no part of the type's layout.
fn marker(value: &Expr) -> Option<TokenStream> {
    let Expr::Path(path) = value else { return None };
    let is_marker = path.path.segments.last().is_some_and(|last| last.ident == "PhantomData");
    is_marker.then(|| through("marker", value.span(), quote!(#value)))
}
