//! Expressions: the choice by their kind, and paths, fields, dereferences, tuples and arrays.
//!
//! Literals, operators, assignments, structs, calls and control flow have files of their own.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Lit, Path, UnOp};

use super::pattern::member_name;
use super::standard::{Expansion, macro_refused};
use super::{Pair, Receiver, Translator, constant_name, mark, of, ours_at, this};

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
                (UnOp::Neg(_) | UnOp::Not(_), operand) => self.unary(&unary.op, operand),
                (_, operand) => self.dereference(expression, operand),
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
            Expr::Index(index) => self.element(index),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Assign(assign) => self.assignment(assign),
            Expr::Cast(cast) => self.cast(cast),
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
            // A slice has an error of its own.
            Expr::Reference(reference) if is_slice(&reference.expr) => {
                self.expression(&reference.expr, wanted)
            }
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

    /// `*operand`
    fn dereference(&mut self, expression: &Expr, operand: &Expr) -> Pair {
        let syntax = quote!(__warpfold::language::syntax::Expression);
        match operand {
            operand if self.reference(operand).is_some() => {
                let Pair { probe, tree } = self.expression(operand, true);
                Pair { probe: quote!((*#probe)), tree }
            }
            Expr::Path(path) if self.is_state(&path.path) && self.has_inner => self.refuse(
                expression,
                "an operator with other operators inside is no value of a kernel: read its fields, as `self.field`",
            ),
            Expr::Path(path) if self.is_state(&path.path) => {
                self.uses_state.get_or_insert(path.span());
                let this = this();
                Pair { probe: quote!((*#this)), tree: quote!(#syntax::State) }
            }
            // A reference is refused where it is made.
            _ if !self.errors.is_empty() => Pair::default(),
            _ => self.outside(expression, "a dereference", REFERENCE),
        }
    }

    /// A variable or a constant.
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

    /// Several expressions: their probes, and their trees.
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

/// `a[..]`
fn is_slice(expression: &Expr) -> bool {
    matches!(expression, Expr::Index(index) if matches!(*index.index, Expr::Range(_)))
}
