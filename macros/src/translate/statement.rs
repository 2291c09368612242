//! Blocks and statements.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Item, Local, Pat, PatIdent, Stmt, UseTree, parse_quote_spanned};

use super::standard::{Expansion, macro_refused};
use super::{Pair, Translator, bind_mark, line, optional, own, plain, slot_name};

const MOVE_OUT: &str = "only `const` and `use` items may be inside a body; move this one out";

impl Translator<'_> {
    /// A block, with the statements `first` before its own. Its probe has no braces.
    pub(super) fn block(&mut self, block: &Block, wanted: bool, first: Vec<TokenStream>) -> Pair {
        let outer = self.scope.len();
        self.depth += 1;
        let (mut probe, mut statements, mut value) = (TokenStream::new(), first, None);
        for (number, statement) in block.stmts.iter().enumerate() {
            let is_last = number + 1 == block.stmts.len();
            let line = line(statement.span());
            let tree = match statement {
                Stmt::Local(local) => {
                    let pair = self.declaration(local);
                    probe.extend(pair.probe);
                    pair.tree
                }
                Stmt::Expr(expression, None) if is_last => {
                    let pair = self.expression(expression, wanted);
                    probe.extend(pair.probe);
                    let tree = pair.tree;
                    value = Some(quote!((#line, &#tree)));
                    continue;
                }
                Stmt::Expr(expression, semicolon) => {
                    let Pair { probe: probed, tree } = self.expression(expression, false);
                    probe.extend(quote!(#probed #semicolon));
                    quote!(__warpfold::language::syntax::StatementKind::Expression(#tree))
                }
                Stmt::Item(item) => {
                    self.item(item);
                    continue;
                }
                Stmt::Macro(call) => match self.expansion(&call.mac) {
                    Some(Expansion::Value(pair)) if is_last && call.semi_token.is_none() => {
                        probe.extend(pair.probe);
                        let tree = pair.tree;
                        value = Some(quote!((#line, &#tree)));
                        continue;
                    }
                    Some(Expansion::Value(Pair { probe: probed, tree })) => {
                        probe.extend(quote!(#probed;));
                        quote!(__warpfold::language::syntax::StatementKind::Expression(#tree))
                    }
                    Some(Expansion::Assertion(checked)) => {
                        probe.extend(checked);
                        continue;
                    }
                    None => continue,
                },
            };
            statements.push(quote!(__warpfold::language::syntax::Statement { line: #line, kind: #tree }));
        }
        self.scope.truncate(outer);
        self.depth -= 1;
        let value = optional(value);
        let tree =
            quote!(__warpfold::language::syntax::Block { statements: &[#(#statements),*], value: #value });
        Pair { probe, tree }
    }

    fn declaration(&mut self, local: &Local) -> Pair {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => {
                let ty = &typed.ty;
                (&*typed.pat, Some(quote!(: #ty)))
            }
            pattern => (pattern, None),
        };
        let Some(init) = &local.init else {
            let Pat::Ident(ident) = pattern else {
                return self.refuse(pattern, "a declaration without a value is of one variable");
            };
            let (name, number) = (&ident.ident, self.slot(ident.span()));
            let (variable, slot) = (self.declare(name, number, true), slot_name(number));
            let mark = bind_mark(variable, name);
            return Pair {
                probe: quote!(let mut #name #ty = __warpfold::language::Slot::value(&#slot); #mark),
                tree: quote!(__warpfold::language::syntax::StatementKind::Let(
                    __warpfold::language::syntax::Pattern::Local(#variable, ::core::option::Option::None), ::core::option::Option::None
                )),
            };
        };
        if let Some((_, otherwise)) = &init.diverge {
            return self.let_else(pattern, ty.as_ref(), &init.expr, otherwise);
        }
        let value = self.expression(&init.expr, true);
        let mut bound = Vec::new();
        // rustc reports the type of a value and of its only variable once.
        let is_variable = matches!(pattern, Pat::Ident(_));
        let pattern = self.pattern(pattern, &mut bound);
        if let ([(_, slot)], true) = (&bound[..], is_variable) {
            self.slots[*slot] = init.expr.span();
        }
        let asked = self.ask(&bound);
        let (value_probe, value_tree) = (value.probe, value.tree);
        let (pattern_probe, pattern_tree) = (pattern.probe, pattern.tree);
        Pair {
            probe: quote!(let #pattern_probe #ty = #value_probe; #asked),
            tree: quote!(__warpfold::language::syntax::StatementKind::Let(
                #pattern_tree, ::core::option::Option::Some(#value_tree)
            )),
        }
    }

    /// `let pattern = value else { otherwise };`, as a `match` that gives a tuple of the variables.
    fn let_else(&mut self, pattern: &Pat, ty: Option<&TokenStream>, value: &Expr, otherwise: &Expr) -> Pair {
        let mut bound = Bindings::default();
        bound.visit_pat(pattern);
        let Bindings { names, declared } = bound;
        let (span, typed) = (pattern.span(), own("typed"));
        let value = match ty {
            Some(ty) => quote!({ let #typed #ty = #value; #typed }),
            None => quote!(#value),
        };
        if names.is_empty() {
            let choice = parse_quote_spanned!(span=> match (#value) { #pattern => {} _ => #otherwise });
            let Pair { probe, tree } = self.expression(&choice, false);
            let kind = quote!(__warpfold::language::syntax::StatementKind);
            return Pair { probe: quote!(#probe;), tree: quote!(#kind::Expression(#tree)) };
        }
        let declared: Stmt = parse_quote_spanned! {span=>
            let (#(#declared,)*) = match (#value) { #pattern => (#(#names,)*), _ => #otherwise };
        };
        match declared {
            Stmt::Local(declared) => self.declaration(&declared),
            _ => Pair::default(),
        }
    }

    /// Keeps a `const` or `use` item of a body for the probe, and refuses all other items.
    fn item(&mut self, item: &Item) {
        match item {
            Item::Const(_) | Item::Use(_) if self.depth > 1 => {
                self.refuse(item, "`const` and `use` stand in the outermost block of a body here; move this one there")
            }
            Item::Const(_) => self.items.push(quote!(#item)),
            Item::Use(import) => {
                names_of(&import.tree, &mut self.imports);
                self.items.push(quote!(#item));
            }
            Item::Fn(function) => self.refuse(
                &function.sig,
                "a function inside a body has no counterpart in CUDA C++; move it out and write `#[device]` on it",
            ),
            Item::Macro(call) => self.refuse(&call.mac, macro_refused("")),
            Item::Enum(_)
            | Item::ExternCrate(_)
            | Item::ForeignMod(_)
            | Item::Impl(_)
            | Item::Mod(_)
            | Item::Static(_)
            | Item::Struct(_)
            | Item::Trait(_)
            | Item::TraitAlias(_)
            | Item::Type(_)
            | Item::Union(_)
            | Item::Verbatim(_) => self.refuse(item, MOVE_OUT),
            // Syntax that is newer than this list.
            _ => self.refuse(item, MOVE_OUT),
        }
    }
}

/// The names that a `use` imports.
fn names_of(tree: &UseTree, names: &mut HashSet<String>) {
    match tree {
        UseTree::Path(path) => names_of(&path.tree, names),
        UseTree::Name(name) => _ = names.insert(plain(&name.ident)),
        UseTree::Rename(name) => _ = names.insert(plain(&name.rename)),
        UseTree::Group(group) => group.items.iter().for_each(|tree| names_of(tree, names)),
        UseTree::Glob(_) => {}
    }
}

/// The variables that a pattern binds: their names, and the names with `mut`.
#[derive(Default)]
struct Bindings {
    names: Vec<Ident>,
    declared: Vec<TokenStream>,
}

impl<'a> Visit<'a> for Bindings {
    fn visit_pat_ident(&mut self, ident: &'a PatIdent) {
        let (mutability, name) = (&ident.mutability, &ident.ident);
        if !plain(name).starts_with(|first: char| first.is_uppercase()) {
            self.names.push(name.clone());
            self.declared.push(quote!(#mutability #name));
        }
        visit::visit_pat_ident(self, ident);
    }
}
