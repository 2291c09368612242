//! Control flow.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{
    Block, Expr, ExprForLoop, ExprIf, ExprLet, ExprMatch, ExprWhile, Label, Pat, RangeLimits,
    parse_quote_spanned,
};

use super::jumps::leaves_by_label;
use super::{Pair, Translator, line, of, optional};

const FOR: &str = "`for` counts over a range, `low..high` or `low..=high`, maybe with `.rev()`, or takes the elements of an \
     array by value, `for x in a`; for other steps write `while`";

impl Translator<'_> {
    /// Makes control flow an expression. It has a slot for its value if the value is `wanted`.
    pub(super) fn control(&mut self, control: Pair, wanted: bool, span: Span) -> Pair {
        let Pair { probe, tree } = control;
        let syntax = quote!(__warpfold::language::syntax::Expression::Control);
        if !wanted {
            return Pair { probe, tree: quote!(#syntax(::core::option::Option::None, &#tree)) };
        }
        let slot = self.slot(span);
        Pair {
            probe: of(slot, span, probe),
            tree: quote!(#syntax(::core::option::Option::Some(#slot), &#tree)),
        }
    }

    /// A block with its braces, as the kind `kind` of `Control`.
    pub(super) fn braced(&mut self, block: &Block, wanted: bool, kind: &str) -> Pair {
        let Pair { probe, tree } = self.block(block, wanted, Vec::new());
        let kind = format_ident!("{kind}");
        Pair { probe: quote!({ #probe }), tree: quote!(__warpfold::language::syntax::Control::#kind(#tree)) }
    }

    pub(super) fn flow(&mut self, expression: &Expr, wanted: bool) -> Pair {
        let syntax = quote!(__warpfold::language::syntax::Control);
        match expression {
            Expr::If(branch) if matches!(&*branch.cond, Expr::Let(_)) => {
                let choice = if_let(branch);
                self.choice(&choice, wanted)
            }
            Expr::If(branch) => {
                let condition = self.expression(&branch.cond, true);
                let then = self.block(&branch.then_branch, wanted, Vec::new());
                // The `else` branch gives the value of the whole `if`, so it needs no slot of its
                // own.
                let otherwise = branch.else_branch.as_ref().map(|(_, otherwise)| match &**otherwise {
                    Expr::If(_) => {
                        let Pair { probe, tree } = self.flow(otherwise, wanted);
                        let tree = quote!(__warpfold::language::syntax::Expression::Control(
                            ::core::option::Option::None, &#tree
                        ));
                        // `if let` becomes a `match`.
                        Pair { probe: quote!({ #probe }), tree }
                    }
                    Expr::Block(block) => {
                        let Pair { probe, tree } = self.braced(&block.block, wanted, "Block");
                        let tree = quote!(__warpfold::language::syntax::Expression::Control(
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
            Expr::While(repeat) if matches!(&*repeat.cond, Expr::Let(_)) => {
                let repeat = while_let(repeat);
                self.flow(&repeat, wanted)
            }
            Expr::While(repeat) => {
                let (label, name) = self.label(repeat.label.as_ref());
                if leaves_by_label(&repeat.cond) {
                    return self.refuse(
                        &repeat.cond,
                        "the condition of a `while` cannot jump to a label outside it; use `loop` and `break`",
                    );
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
            let outer = self.scope.len();
            let mut bound = Vec::new();
            let pattern = self.refutable(&arm.pat, &mut bound);
            let asked = self.ask(&bound);
            let guard = arm.guard.as_ref().map(|(_, guard)| self.expression(guard, true));
            let body = self.expression(&arm.body, wanted);
            self.scope.truncate(outer);
            let marks = self.bind_marks(&bound);
            let guard_probe = guard.as_ref().map(|Pair { probe, .. }| quote!(if { #marks #probe }));
            let guard = optional(guard.map(|Pair { tree, .. }| tree));
            let (pattern_probe, body_probe, line) = (pattern.probe, body.probe, line(arm.pat.span()));
            let (pattern, body) = (pattern.tree, body.tree);
            probes.push(quote!(#pattern_probe #guard_probe => { #asked #body_probe }));
            arms.push(quote!(__warpfold::language::syntax::Arm {
                line: #line, pattern: #pattern, guard: #guard, value: #body
            }));
        }
        let (value_probe, value) = (value.probe, value.tree);
        Pair {
            probe: quote!(match #value_probe { #(#probes)* }),
            tree: quote!(__warpfold::language::syntax::Control::Match(#value, &[#(#arms),*])),
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
            return match &*repeat.expr {
                Expr::MethodCall(call) => self.refuse(call, FOR),
                Expr::Reference(reference) => self.refuse(reference, FOR),
                _ => self.for_elements(repeat),
            };
        };
        let (Some(low), Some(high)) = (&range.start, &range.end) else {
            return self.refuse(range, "a range that `for` counts over has two ends");
        };
        let (low, high) = (self.expression(low, true), self.expression(high, true));
        let slot = self.slot(range.span());
        let outer = self.scope.len();
        let (variable, name, asked) = match &*repeat.pat {
            Pat::Wild(wild) => (None, quote!(#wild), None),
            Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
                let (name, mutability) = (&ident.ident, ident.mutability);
                let variable = self.declare(name, slot, mutability.is_some());
                let asked = self.ask(&[(name.clone(), slot)]);
                (Some(variable), quote!(#mutability #name), Some(asked))
            }
            other => return self.refuse(other, "what `for` counts has one name, or is `_`"),
        };
        let Pair { probe, tree } = self.block(&repeat.body, false, Vec::new());
        self.scope.truncate(outer);
        let (limits, inclusive) = (range.limits, matches!(range.limits, RangeLimits::Closed(_)));
        let reverse = reversed.then(|| quote!(.rev()));
        let (low_probe, high_probe) = (of(slot, range.span(), low.probe), high.probe);
        let (low, high, variable) =
            (low.tree, high.tree, optional(variable.map(ToTokens::into_token_stream)));
        Pair {
            probe: quote!(#label for #name in (#low_probe #limits #high_probe) #reverse { #asked #probe }),
            tree: quote!(__warpfold::language::syntax::Control::For {
                label: #label_name,
                variable: #variable,
                ty: #slot,
                range: __warpfold::language::syntax::Range {
                    low: #low, high: #high, inclusive: #inclusive, reversed: #reversed
                },
                body: #tree,
            }),
        }
    }

    /// A loop over the elements of an array: over its indices, with a variable for the array.
    fn for_elements(&mut self, repeat: &ExprForLoop) -> Pair {
        let ExprForLoop { label, pat, expr, body, .. } = repeat;
        let (span, number) = (Span::mixed_site().located_at(expr.span()), self.slots.len());
        let name = |what: &str| format_ident!("{what}_of_for_{number}", span = span);
        let (array, index, statements) = (name("array"), name("index"), &body.stmts);
        let block: Block = parse_quote_spanned! {span=> {
            let #array = #expr;
            #label for #index in 0..#array.len() {
                let #pat = #array[#index];
                #(#statements)*
            }
        }};
        self.braced(&block, false, "Block")
    }

    /// The label of a loop, for the probe and for the tree.
    fn label(&self, label: Option<&Label>) -> (TokenStream, TokenStream) {
        let name = label.map(|label| label.name.ident.to_string()).map(ToTokens::into_token_stream);
        (quote!(#label), optional(name))
    }

    pub(super) fn jump(&mut self, expression: &Expr) -> Pair {
        let syntax = quote!(__warpfold::language::syntax::Control);
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

/// `if let` as a `match`.
fn if_let(branch: &ExprIf) -> ExprMatch {
    let ExprIf { cond, then_branch, else_branch, .. } = branch;
    let Expr::Let(ExprLet { pat, expr, .. }) = &**cond else { unreachable!("the condition is a `let`") };
    let otherwise = match else_branch {
        Some((_, otherwise)) => otherwise.to_token_stream(),
        None => quote!({}),
    };
    parse_quote_spanned! {branch.span()=> match (#expr) { #pat => #then_branch, _ => #otherwise }}
}

/// `while let` as a `loop` around a `match`.
fn while_let(repeat: &ExprWhile) -> Expr {
    let ExprWhile { label, cond, body, .. } = repeat;
    let Expr::Let(ExprLet { pat, expr, .. }) = &**cond else { unreachable!("the condition is a `let`") };
    parse_quote_spanned! {repeat.span()=> #label loop { match (#expr) { #pat => #body, _ => break } }}
}
