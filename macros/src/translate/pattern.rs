//! Patterns.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, Lit, Member, Pat, Path, RangeLimits, UnOp};

use super::standard::macro_refused;
use super::{Pair, Translator, optional, plain, through};

const UNKNOWN: &str = "this pattern has no counterpart in CUDA C++";

impl Translator<'_> {
    /// An irrefutable pattern. Appends the variables that it binds to `bound`, with their slots.
    pub(super) fn pattern(&mut self, pattern: &Pat, bound: &mut Vec<(Ident, usize)>) -> Pair {
        self.pattern_of(pattern, bound, false)
    }

    /// A pattern that may fail to match. A name that begins with a capital letter is a constant.
    pub(super) fn refutable(&mut self, pattern: &Pat, bound: &mut Vec<(Ident, usize)>) -> Pair {
        self.pattern_of(pattern, bound, true)
    }

    fn pattern_of(&mut self, pattern: &Pat, bound: &mut Vec<(Ident, usize)>, refutable: bool) -> Pair {
        let syntax = quote!(__warpfold::language::syntax::Pattern);
        match pattern {
            Pat::Wild(wild) => Pair { probe: quote!(#wild), tree: quote!(#syntax::Any) },
            Pat::Paren(inner) => {
                let Pair { probe, tree } = self.pattern_of(&inner.pat, bound, refutable);
                Pair { probe: quote!((#probe)), tree }
            }
            Pat::Ident(ident) => {
                if ident.by_ref.is_some() {
                    return self
                        .refuse(ident, "a reference has no counterpart in CUDA C++; bind the value itself");
                }
                let name = &ident.ident;
                let is_constant = plain(name).starts_with(|first: char| first.is_uppercase());
                if refutable && plain(name) == "None" && ident.subpat.is_none() {
                    return self.option(None);
                }
                if refutable && is_constant && ident.subpat.is_none() {
                    return self.constant_pattern(quote!(#name));
                }
                let inner = ident.subpat.as_ref().map(|(_, inner)| self.pattern_of(inner, bound, refutable));
                let slot = self.slot(name.span());
                let variable = self.declare(name, slot, ident.mutability.is_some());
                bound.push((name.clone(), slot));
                let mutability = ident.mutability;
                // Before `@`, rustc takes a name for a variable and never for a constant.
                let probe = match (&inner, refutable) {
                    (Some(Pair { probe, .. }), _) => quote!(#mutability #name @ #probe),
                    (None, true) => quote!(#mutability #name @ _),
                    (None, false) => quote!(#mutability #name),
                };
                let inner = optional(inner.map(|Pair { tree, .. }| quote!(&#tree)));
                Pair { probe, tree: quote!(#syntax::Local(#variable, #inner)) }
            }
            Pat::Tuple(tuple) => {
                let (probes, tree) = self.elements(&tuple.elems, bound, refutable);
                Pair { probe: quote!((#(#probes,)*)), tree }
            }
            Pat::TupleStruct(structure) if structure.elems.len() == 1 && names(&structure.path, "Some") => {
                self.option(Some((&structure.elems[0], bound)))
            }
            Pat::TupleStruct(structure) => {
                let path = &structure.path;
                let (probes, tree) = self.elements(&structure.elems, bound, refutable);
                Pair { probe: quote!(#path(#(#probes),*)), tree }
            }
            Pat::Struct(structure) => {
                let (path, rest) = (&structure.path, &structure.rest);
                let (mut probes, mut fields) = (Vec::new(), Vec::new());
                for field in &structure.fields {
                    let member = &field.member;
                    // It matches and binds nothing, so it may be of a field that has no bytes.
                    if let Pat::Wild(wild) = &*field.pat {
                        probes.push(quote!(#member: #wild));
                        continue;
                    }
                    let name = member_name(member);
                    let Pair { probe, tree } = self.pattern_of(&field.pat, bound, refutable);
                    probes.push(quote!(#member: #probe));
                    fields.push(quote!((#name, #tree)));
                }
                Pair {
                    probe: quote!(#path { #(#probes,)* #rest }),
                    tree: quote!(#syntax::Fields(&[#(#fields),*])),
                }
            }
            Pat::Slice(slice) => {
                let (probes, tree) = self.elements(&slice.elems, bound, refutable);
                Pair { probe: quote!([#(#probes),*]), tree }
            }
            Pat::Or(or) => {
                let before = bound.len();
                let pairs: Vec<Pair> =
                    or.cases.iter().map(|case| self.pattern_of(case, bound, refutable)).collect();
                if bound.len() > before {
                    return self
                        .refuse(or, "alternatives may not bind variables here; write an arm for each");
                }
                let (probes, trees) = halves(pairs);
                Pair { probe: quote!(#(#probes)|*), tree: quote!(#syntax::Or(&[#(#trees),*])) }
            }
            Pat::Lit(_) | Pat::Const(_) => match self.value_pattern(&quote!(#pattern), pattern) {
                Some(tree) => Pair { probe: quote!(#pattern), tree: quote!(#syntax::Value(#tree)) },
                None => Pair::default(),
            },
            Pat::Path(path) if names(&path.path, "None") => self.option(None),
            Pat::Path(path) => self.constant_pattern(quote!(#path)),
            Pat::Range(range) => {
                let low = range.start.as_ref().map(|low| self.bound(low));
                let high = range.end.as_ref().map(|high| self.bound(high));
                let inclusive = matches!(range.limits, RangeLimits::Closed(_));
                let (low, high) = (optional(low), optional(high));
                Pair { probe: quote!(#range), tree: quote!(#syntax::Range(#low, #high, #inclusive)) }
            }
            Pat::Type(typed) => {
                let ty = &typed.ty;
                let Pair { probe, tree } = self.pattern_of(&typed.pat, bound, refutable);
                Pair { probe: quote!(#probe: #ty), tree }
            }
            Pat::Reference(reference) => {
                self.refuse(reference, "a reference has no counterpart in CUDA C++; match the value itself")
            }
            Pat::Rest(rest) => self.refuse(rest, "the rest of an array has no name here; name the elements"),
            Pat::Macro(call) => self.refuse(call, macro_refused("")),
            Pat::Verbatim(_) => self.refuse(pattern, UNKNOWN),
            // Syntax that is newer than this list.
            _ => self.refuse(pattern, UNKNOWN),
        }
    }

    /// The elements of a tuple or an array. One of them may be `..`.
    fn elements<'p>(
        &mut self,
        elements: impl IntoIterator<Item = &'p Pat>,
        bound: &mut Vec<(Ident, usize)>,
        refutable: bool,
    ) -> (Vec<TokenStream>, TokenStream) {
        let (mut probes, mut front, mut back) = (Vec::new(), Vec::new(), None::<Vec<TokenStream>>);
        for element in elements {
            if let Pat::Rest(rest) = element {
                probes.push(quote!(#rest));
                back = Some(Vec::new());
                continue;
            }
            let Pair { probe, tree } = self.pattern_of(element, bound, refutable);
            probes.push(probe);
            back.as_mut().unwrap_or(&mut front).push(tree);
        }
        let back = back.unwrap_or_default();
        (probes, quote!(__warpfold::language::syntax::Pattern::Elements(&[#(#front),*], &[#(#back),*])))
    }

    /// `Some(inner)` or `None`. An option is a `warpfold::Maybe` on a GPU.
    fn option(&mut self, inner: Option<(&Pat, &mut Vec<(Ident, usize)>)>) -> Pair {
        let syntax = quote!(__warpfold::language::syntax);
        let is =
            |truth: bool| quote!(("is_some", #syntax::Pattern::Value(#syntax::PatternValue::Bool(#truth))));
        let Some((inner, bound)) = inner else {
            let is = is(false);
            return Pair {
                probe: quote!(::core::option::Option::None),
                tree: quote!(#syntax::Pattern::Fields(&[#is])),
            };
        };
        let Pair { probe, tree } = self.pattern_of(inner, bound, true);
        let is = is(true);
        Pair {
            probe: quote!(::core::option::Option::Some(#probe)),
            tree: quote!(#syntax::Pattern::Fields(&[#is, ("value", #tree)])),
        }
    }

    /// A constant in a pattern. It must be a number or a value of an enum.
    fn constant_pattern(&mut self, path: TokenStream) -> Pair {
        let constant = self.constant(through("scalar", path.span(), path.clone()));
        Pair {
            probe: path,
            tree: quote!(__warpfold::language::syntax::Pattern::Value(
                __warpfold::language::syntax::PatternValue::Constant(#constant)
            )),
        }
    }

    fn value_pattern(&mut self, tokens: &TokenStream, pattern: &Pat) -> Option<TokenStream> {
        match pattern {
            Pat::Lit(literal) => self.literal_value(&Expr::Lit(literal.clone())),
            _ => {
                self.refuse::<()>(
                    tokens,
                    "this pattern has no counterpart in CUDA C++; use a named constant",
                );
                None
            }
        }
    }

    /// The lower or upper bound of a range in a pattern.
    fn bound(&mut self, value: &Expr) -> TokenStream {
        if let Expr::Path(path) = value {
            let constant = self.constant(through("scalar", path.span(), quote!(#path)));
            return quote!(__warpfold::language::syntax::PatternValue::Constant(#constant));
        }
        self.literal_value(value).unwrap_or_default()
    }

    fn literal_value(&mut self, value: &Expr) -> Option<TokenStream> {
        let syntax = quote!(__warpfold::language::syntax::PatternValue);
        let (sign, literal) = match value {
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => ("-", &*unary.expr),
            value => ("", value),
        };
        match literal {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => {
                    let text = format!("{sign}{}", number.base10_digits());
                    Some(quote!(#syntax::Number(#text)))
                }
                Lit::Float(number) => {
                    let text = format!("{sign}{}", number.base10_digits());
                    Some(quote!(#syntax::Number(#text)))
                }
                Lit::Byte(byte) => {
                    let text = byte.value().to_string();
                    Some(quote!(#syntax::Number(#text)))
                }
                Lit::Bool(truth) => Some(quote!(#syntax::Bool(#truth))),
                other => {
                    self.refuse::<()>(other, "text has no counterpart in CUDA C++; use numbers");
                    None
                }
            },
            other => {
                self.refuse::<()>(other, "a pattern compares with a literal or a constant here");
                None
            }
        }
    }
}

fn names(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}

fn halves(pairs: Vec<Pair>) -> (Vec<TokenStream>, Vec<TokenStream>) {
    pairs.into_iter().map(|Pair { probe, tree }| (probe, tree)).unzip()
}

/// The name of a field. A field of a tuple has its position as its name.
pub(super) fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => plain(name),
        Member::Unnamed(index) => index.index.to_string(),
    }
}
