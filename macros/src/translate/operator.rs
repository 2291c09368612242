//! Rust's operators: `-a`, `a + b`, `a < b` and `a[k]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprIndex, UnOp};

use super::{Pair, Translator, has_braces, ours_at, own};

impl Translator<'_> {
    /// `-a` or `!a`
    pub(super) fn unary(&mut self, op: &UnOp, operand: &Expr) -> Pair {
        let syntax = quote!(__warpfold::language::syntax::Expression);
        let (kind, name) = match op {
            UnOp::Neg(_) => (quote!(Negate), "Neg"),
            _ => (quote!(Not), "Not"),
        };
        let Pair { probe, tree } = self.expression(operand, true);
        let (probe, callee) = self.operator(name, op.span(), probe, None, |value, _| quote!(#op #value));
        Pair { probe, tree: quote!(#syntax::#kind(&#tree, #callee)) }
    }

    /// `a + b`, or the assignment `a += b`.
    pub(super) fn binary(&mut self, binary: &ExprBinary) -> Pair {
        let syntax = quote!(__warpfold::language::syntax);
        // The name in the tree, the trait, and whether the operator assigns.
        let (name, of_trait, compound) = match &binary.op {
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
            return self.compound_assignment(binary, &operator, of_trait);
        }
        let (left, right) = (self.expression(&binary.left, true), self.expression(&binary.right, true));
        let op = &binary.op;
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

    /// `a[k]`
    pub(super) fn element(&mut self, index: &ExprIndex) -> Pair {
        let syntax = quote!(__warpfold::language::syntax::Expression);
        if matches!(&*index.index, Expr::Range(_)) {
            return self.outside(&index.index, "a slice", "use a loop over the elements");
        }
        let base = self.expression(&index.expr, true);
        let at = self.index(&index.index);
        let (number, slot) = self.callee_named("operator", "[]", index.expr.span());
        let pass =
            |function: &str, value| pass(function, &slot, index.expr.span(), quote!(Index), quote!(_), value);
        let (base_probe, at_probe) = (pass("left", base.probe), pass("right", at.probe));
        let (base, at) = (base.tree, at.tree);
        Pair {
            probe: quote!(#base_probe[#at_probe]),
            tree: quote!(#syntax::Index(&#base, &#at, ::core::option::Option::Some(#number))),
        }
    }

    /// An index. It has no statements, so the time of its evaluation does not matter.
    pub(super) fn index(&mut self, index: &Expr) -> Pair {
        if has_braces(index) {
            return self.refuse(index, "an index has no blocks in it here; name it with `let` first");
        }
        self.expression(index, true)
    }

    /// The probe of an operator, whose operands are written by `write`, and its callee for the tree.
    /// The callee's slot gets the types of the operands.
    pub(super) fn operator(
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
        let span = Span::call_site().located_at(span);
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
    let span = Span::call_site().located_at(span);
    quote_spanned! {span=>
        __warpfold::language::callee::#function::<__warpfold::language::callee::op::#op, _, #rhs>(&#slot, #value)
    }
}
