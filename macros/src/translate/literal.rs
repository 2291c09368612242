//! Literals and casts. A cast may give a literal its type.

use proc_macro2::Ident;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCast, Lit, Stmt, Type, UnOp};

use super::{Pair, Translator, of, ours_at, slot_name, through};

impl Translator<'_> {
    /// A literal. `sign` is `-` or empty.
    pub(super) fn literal(&mut self, expression: &Expr, literal: &Lit, sign: &str) -> Pair {
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

    /// `value as Type`
    pub(super) fn cast(&mut self, cast: &ExprCast) -> Pair {
        let Pair { probe, tree } = self.cast_operand(&cast.expr, &cast.ty);
        let slot = self.slot(cast.span());
        let ty = &cast.ty;
        Pair {
            probe: of(slot, cast.span(), quote!((#probe) as #ty)),
            tree: quote!(__warpfold::language::syntax::Expression::Cast(&#tree, #slot)),
        }
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

    /// A value that is cast. If there are no type parameters, the probe checks that it is a number or
    /// a value of an enum.
    fn scalar(&mut self, operand: &Expr) -> Pair {
        let Pair { probe, tree } = self.expression(operand, true);
        if self.function.generic {
            return Pair { probe, tree };
        }
        Pair { probe: through("scalar", operand.span(), probe), tree }
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
