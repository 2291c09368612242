//! Calls of `combine` of other operators: `self.field.combine(a, b)` and `M::default().combine(a, b)`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{Visit, visit_expr_method_call};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprMethodCall, Member, Path, parse_quote_spanned};

use super::{Function, Pair, Receiver, Translator, of_at, ours_at, own, this};

/// Whether a body calls `combine` of a field of `self`.
pub(super) fn has_inner(function: &Function) -> bool {
    struct Found(bool);
    impl Visit<'_> for Found {
        fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
            self.0 |= is_combine(call) && field_of_self(&call.receiver).is_some();
            visit_expr_method_call(self, call);
        }
    }
    let mut found = Found(false);
    if function.is_combine() {
        found.visit_block(function.body);
    }
    found.0
}

pub(super) fn inner_name(number: usize) -> Ident {
    own(&format!("inner_{number}"))
}

pub(super) fn field_name(number: usize) -> Ident {
    own(&format!("field_{number}"))
}

fn is_combine(call: &ExprMethodCall) -> bool {
    call.method == "combine" && call.args.len() == 2 && call.turbofish.is_none()
}

/// The fields after `self`, as `offset_of!` takes them.
fn field_of_self(receiver: &Expr) -> Option<TokenStream> {
    match receiver {
        Expr::Paren(inner) => field_of_self(&inner.expr),
        Expr::Group(inner) => field_of_self(&inner.expr),
        Expr::Field(field) => {
            let member = &field.member;
            match &*field.base {
                Expr::Path(path) if path.path.is_ident("self") => Some(quote!(#member)),
                base => field_of_self(base).map(|outer| quote!(#outer.#member)),
            }
        }
        _ => None,
    }
}

/// Whether an expression is `Type::default()`.
fn is_default(receiver: &Expr) -> bool {
    let Expr::Call(call) = receiver else { return false };
    let Expr::Path(path) = &*call.func else { return false };
    call.args.is_empty() && path.path.segments.last().is_some_and(|last| last.ident == "default")
}

/// A body whose calls of inner operators are written as `Monoid::combine(..)`, for the CPU. An
/// operator's type may have another method of this name, which a kernel does not know.
pub(crate) fn with_explicit_calls(body: &mut Block, warpfold: &Path) {
    struct Explicit<'p>(&'p Path);
    impl VisitMut for Explicit<'_> {
        fn visit_expr_mut(&mut self, expression: &mut Expr) {
            visit_mut::visit_expr_mut(self, expression);
            if let Expr::MethodCall(call) = expression
                && is_combine(call)
                && (field_of_self(&call.receiver).is_some() || is_default(&call.receiver))
            {
                let (warpfold, receiver, arguments) = (self.0, &call.receiver, &call.args);
                let span = call.span();
                *expression =
                    parse_quote_spanned!(span=> #warpfold::Monoid::combine(&(#receiver), #arguments));
            }
        }
    }
    Explicit(warpfold).visit_block_mut(body);
}

impl Translator<'_> {
    /// A call of `combine` of another operator. None if it is another method.
    pub(super) fn inner_call(&mut self, call: &ExprMethodCall) -> Option<Pair> {
        if !is_combine(call) {
            return None;
        }
        let of_self = match self.function.receiver {
            Receiver::Operator => field_of_self(&call.receiver),
            _ => None,
        };
        if of_self.is_none() && !is_default(&call.receiver) {
            return None;
        }
        if !self.function.is_combine() {
            return Some(self.refuse(call, "only `combine` of `#[monoid]` combines by another operator"));
        }
        if self.in_macro {
            return Some(self.refuse(
                call,
                "`combine` of another operator is not called in a macro; name the value with `let` first",
            ));
        }
        let receiver = match &of_self {
            Some(fields) => {
                let this = this();
                quote!(#this.#fields)
            }
            None => call.receiver.to_token_stream(),
        };
        let (probes, trees) = self.all(&call.args);
        let number = self.inner.len();
        self.inner.push((call.receiver.span(), of_self));
        let (span, slot) = ours_at(call.span(), inner_name(number));
        Some(Pair {
            probe: quote_spanned! {span=>
                __warpfold::Monoid::combine(__warpfold::language::inner_of(&#slot, &#receiver), #(#probes),*)
            },
            tree: quote!(__warpfold::language::syntax::Expression::Inner(#number, &[#(#trees),*])),
        })
    }

    /// A field of `self`, in a body that has inner operators.
    pub(super) fn state_field(&mut self, member: &Member, span: Span) -> Pair {
        let found = self.state_fields.iter().position(|(_, known)| known == member);
        let number = found.unwrap_or_else(|| {
            self.state_fields.push((span, member.clone()));
            self.state_fields.len() - 1
        });
        let this = this();
        Pair {
            probe: of_at(field_name(number), span, quote!(#this.#member)),
            tree: quote!(__warpfold::language::syntax::Expression::StateField(#number)),
        }
    }
}
