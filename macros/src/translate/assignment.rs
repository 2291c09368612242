//! Assignments, and the places that they change.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, ExprAssign, ExprBinary, UnOp};

use super::pattern::member_name;
use super::{Pair, Translator, has_braces, mark, ours_at, this, through};

const NO_PLACE: &str =
    "only a variable of the body, a field or an element of one, or a tuple of these can be assigned to";

impl Translator<'_> {
    /// `place = value`
    pub(super) fn assignment(&mut self, assign: &ExprAssign) -> Pair {
        let value = self.expression(&assign.right, true);
        let place = self.place(&assign.left);
        let (place_probe, value_probe) = (place.probe, value.probe);
        let (place, value) = (place.tree, value.tree);
        let indexed = std::mem::take(&mut self.indexed);
        Pair {
            probe: quote!({ #(let _ = #indexed;)* #place_probe = #value_probe }),
            tree: quote!(__warpfold::language::syntax::Expression::Assign(&#place, &#value)),
        }
    }

    /// `place += value`. `operator` is its node, and `of_trait` its trait.
    pub(super) fn compound_assignment(
        &mut self,
        binary: &ExprBinary,
        operator: &TokenStream,
        of_trait: &str,
    ) -> Pair {
        let ExprBinary { left, op, right, .. } = binary;
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
        Pair {
            probe: quote!({ #(let _ = #indexed;)* #probe }),
            tree: quote!(__warpfold::language::syntax::Expression::Compound(
                #operator, &#place, &#value, #callee
            )),
        }
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
