//! Translates a Rust body into a tree and a probe: see `warpfold::language`.
//!
//! One walk writes both, so that slots, variables and constants have the same numbers in both. Code
//! outside the subset is refused at its token. The walk then continues, so that rustc shows all
//! refusals at once.

mod call;
mod control;
mod expression;
mod jumps;
mod methods;
mod pattern;
mod standard;
mod statement;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Block, Error, Expr, Generics, Pat, Path, Type};

/// A piece of a body, as probe and as tree.
#[derive(Default)]
struct Pair {
    probe: TokenStream,
    tree: TokenStream,
}

/// The function to translate.
pub(crate) struct Function<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) parameters: Vec<(&'a Pat, &'a Type)>,
    pub(crate) result: &'a Type,
    pub(crate) body: &'a Block,
    /// Whether there are type parameters, so that types are known by their bounds only.
    pub(crate) generic: bool,
    /// The generics of the function, or of the `impl` around it.
    pub(crate) generics: &'a Generics,
    pub(crate) has_self: bool,
    /// The path of the crate `warpfold`.
    pub(crate) warpfold: &'a Path,
}

impl Function<'_> {
    fn has_type_parameter(&self, name: &str) -> bool {
        self.generics.type_params().any(|parameter| parameter.ident == name)
    }
}

/// The result of a translation.
pub(crate) struct Translation {
    /// Statements that define `__warpfold_result` and `__warpfold_translation`, for the function that the macro writes.
    pub(crate) tokens: TokenStream,
    /// A `bool` expression: whether the body and all its callees are exact.
    pub(crate) exact: TokenStream,
    /// The first place where the body reads `self`.
    pub(crate) uses_state: Option<Span>,
}

struct Variable {
    name: String,
    slot: usize,
    mutable: bool,
}

struct Translator<'a> {
    function: &'a Function<'a>,
    variables: Vec<Variable>,
    /// The variables in scope, innermost last.
    scope: Vec<(String, usize)>,
    slots: usize,
    constants: Vec<TokenStream>,
    callees: Vec<Path>,
    /// `const` and `use` items, which stand before the probe.
    items: Vec<TokenStream>,
    /// How many blocks enclose the current expression.
    depth: u32,
    exact: bool,
    uses_state: Option<Span>,
    /// Probe expressions for the place that is being assigned to: its variable's mark, and a check
    /// that each indexed base is an array.
    indexed: Vec<TokenStream>,
    errors: Vec<Error>,
}

pub(crate) fn translate(function: &Function) -> Result<Translation, Error> {
    let translator = Translator {
        function,
        variables: Vec::new(),
        scope: Vec::new(),
        slots: 0,
        constants: Vec::new(),
        callees: Vec::new(),
        items: Vec::new(),
        depth: 0,
        exact: true,
        uses_state: None,
        indexed: Vec::new(),
        errors: Vec::new(),
    };
    translator.function()
}

impl Translator<'_> {
    fn function(mut self) -> Result<Translation, Error> {
        let (mut probe_parameters, mut asked, mut destructured) =
            (Vec::new(), TokenStream::new(), Vec::new());
        for (number, (pattern, ty)) in self.function.parameters.iter().enumerate() {
            let slot = self.slot();
            let (variable, name) = match pattern {
                Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
                    let mutability = ident.mutability;
                    let name = &ident.ident;
                    (self.declare(name, slot, mutability.is_some()), quote!(#mutability #name))
                }
                _ => {
                    let name = format_ident!("operand_{number}", span = Span::mixed_site());
                    let variable = self.declare(&name, slot, false);
                    destructured.push((*pattern, variable, name.clone()));
                    (variable, quote!(#name))
                }
            };
            let local = &self.variables[variable];
            debug_assert_eq!(variable, number);
            let plain = last_ident(&name);
            asked.extend(is(local.slot, ty.span(), &plain));
            if let Pat::Ident(ident) = pattern {
                asked.extend(bind_mark(variable, &ident.ident));
            }
            probe_parameters.push(quote!(#name: #ty));
        }
        let parameters = self.function.parameters.len();
        let mut statements = Vec::new();
        for (pattern, variable, name) in destructured {
            let mut bound = Vec::new();
            let pair = self.pattern(pattern, &mut bound);
            let (probe, tree, line) = (pair.probe, pair.tree, line(pattern.span()));
            let bound = self.ask(&bound);
            asked.extend(quote!(let #probe = #name; #bound));
            statements.push(quote!(__warpfold::language::syntax::Statement {
                line: #line,
                kind: __warpfold::language::syntax::StatementKind::Let(
                    #tree,
                    ::core::option::Option::Some(__warpfold::language::syntax::Expression::Local(#variable)),
                ),
            }));
        }
        let body = self.block(self.function.body, true, statements);
        if let Some(mut error) = self.errors.pop() {
            for other in self.errors.into_iter().rev() {
                let mut first = other;
                first.combine(error);
                error = first;
            }
            return Err(error);
        }

        let slots: Vec<Ident> = (0..self.slots).map(slot_name).collect();
        let constants: Vec<Ident> = (0..self.constants.len()).map(constant_name).collect();
        let callees: Vec<Ident> = (0..self.callees.len()).map(callee_name).collect();
        let (items, paths) = (&self.items, &self.callees);
        let asked_callees = paths.iter().zip(&callees).map(|(path, name)| {
            // rustc reports a callee without `#[device]` here, so the span is that of the callee's
            // name.
            let (span, name) = ours_at(path.segments.last().span(), name.clone());
            quote_spanned!(span=> __warpfold::language::Slot::callee(&#name))
        });
        let values = self.constants.iter().zip(&constants).map(|(value, name)| {
            quote_spanned!(value.span()=> let #name = __warpfold::language::constant(|| #value);)
        });
        // The generic arguments of a callee are left out: its parameters have defaults in a type
        // path.
        let depth = depth();
        let exact = paths.iter().map(|path| {
            let span = path.segments.last().span();
            let callee =
                call::of_callee(path, |name, _| quote_spanned!(span=> <#name>::exact(#depth + 1)));
            quote_spanned! {span=> if #depth < #DEEPEST { #callee } else {
                ::core::panic!("functions that call one another in a circle have no bound on a GPU's stack; use a loop")
            }}
        });
        let (result, probe, tree) = (self.function.result, body.probe, body.tree);
        let state = self.function.has_self.then(|| {
            let this = this();
            quote!(#this: &Self,)
        });
        let locals = self.variables.iter().map(|Variable { name, slot, mutable }| {
            quote!(__warpfold::language::syntax::Variable { name: #name, ty: #slot, mutable: #mutable })
        });
        let tree_name = own("BODY");
        let warpfold = self.function.warpfold;
        let file = file(self.function.body.span());
        let tokens = quote! {
            use #warpfold as __warpfold;
            #(#items)*
            #(let #slots = __warpfold::language::Slot::new();)*
            #(#values)*
            #(let #callees = __warpfold::language::Slot::new();)*
            let _ = |#state #(#probe_parameters),*| -> #result { #asked #probe };
            static #tree_name: __warpfold::language::syntax::Body = __warpfold::language::syntax::Body {
                locals: &[#(#locals),*],
                parameters: #parameters,
                block: #tree,
            };
            let __warpfold_translation = __warpfold::language::Translation {
                file: #file,
                body: &#tree_name,
                types: ::std::vec![#(__warpfold::language::Slot::ty(&#slots)),*],
                constants: ::std::vec![#(__warpfold::language::Constant::parts(&#constants)),*],
                callees: ::std::vec![#(#asked_callees),*],
            };
            let __warpfold_result = <#result as __warpfold::language::Local>::ty();
        };
        let own = self.exact;
        let exact = quote!({ #[allow(unused_imports)] use #warpfold as __warpfold; #own #(&& (#exact))* });
        Ok(Translation { tokens, exact, uses_state: self.uses_state })
    }

    fn slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    fn declare(&mut self, name: &Ident, slot: usize, mutable: bool) -> usize {
        let variable = self.variables.len();
        let name = plain(name);
        self.variables.push(Variable { name: name.clone(), slot, mutable });
        self.scope.push((name, variable));
        variable
    }

    /// The variable that a path names, or `None`.
    fn local_of<'p>(&self, path: &'p Path) -> Option<(&'p Ident, usize)> {
        let name = path.get_ident()?;
        Some((name, self.local(name)?))
    }

    fn local(&self, name: &Ident) -> Option<usize> {
        let name = plain(name);
        self.scope.iter().rev().find(|(known, _)| *known == name).map(|(_, variable)| *variable)
    }

    /// Statements of the probe that give each variable's type to its slot, and bind its mark.
    fn ask(&self, bound: &[(Ident, usize)]) -> TokenStream {
        let marks = self.bind_marks(bound);
        bound.iter().map(|(name, slot)| is(*slot, name.span(), name)).chain([marks]).collect()
    }

    fn bind_marks(&self, bound: &[(Ident, usize)]) -> TokenStream {
        let variable = |slot: usize| self.variables.iter().position(|variable| variable.slot == slot);
        bound.iter().filter_map(|(name, slot)| Some(bind_mark(variable(*slot)?, name))).collect()
    }

    fn constant(&mut self, value: TokenStream) -> usize {
        self.constants.push(value);
        self.constants.len() - 1
    }

    fn refuse<T: Default>(&mut self, at: impl quote::ToTokens, message: impl std::fmt::Display) -> T {
        self.errors.push(Error::new_spanned(at, message));
        T::default()
    }

    fn outside(&mut self, at: &Expr, what: &str, instead: &str) -> Pair {
        self.refuse(at, format!("{what} has no counterpart in CUDA C++; {instead}"))
    }
}

/// A reference to `'static` data in the tree.
fn reference(tree: TokenStream) -> TokenStream {
    quote!(&#tree)
}

fn optional(tree: Option<TokenStream>) -> TokenStream {
    match tree {
        Some(tree) => quote!(::core::option::Option::Some(#tree)),
        None => quote!(::core::option::Option::None),
    }
}

/// The mark of a variable: a second binding that has the hygiene of the variable's name.
///
/// The translator looks names up by their text; rustc also compares their hygiene. Each use of a
/// variable mentions its mark. If the name belongs to another variable, rustc does not find the
/// mark.
fn mark(variable: usize, name: &Ident) -> Ident {
    format_ident!("{}_of_the_same_macro_{variable}", plain(name), span = name.span())
}

/// A statement of the probe that binds a variable's mark.
fn bind_mark(variable: usize, name: &Ident) -> TokenStream {
    let mark = mark(variable, name);
    quote!(let #mark = ();)
}

/// Passes a value through a slot, so that the slot has the type of the value.
fn of(slot: usize, span: Span, value: TokenStream) -> TokenStream {
    let (span, slot) = ours_at(span, slot_name(slot));
    quote_spanned!(span=> __warpfold::language::Slot::of(&#slot, #value))
}

/// Passes a value through a function of `warpfold::language` that puts a bound on its type.
fn through(function: &str, span: Span, value: TokenStream) -> TokenStream {
    let (span, function) = ours_at(span, Ident::new(function, span));
    quote_spanned!(span=> __warpfold::language::#function(#value))
}

/// A statement of the probe that gives a variable's type to a slot.
fn is(slot: usize, span: Span, variable: impl quote::ToTokens) -> TokenStream {
    let (span, slot) = ours_at(span, slot_name(slot));
    quote_spanned!(span=> __warpfold::language::Slot::is(&#slot, &#variable);)
}

/// An identifier with the macro's hygiene. rustc reports its errors at `span`, in the user's code.
fn ours_at(span: Span, mut name: Ident) -> (Span, Ident) {
    let span = Span::mixed_site().located_at(span);
    name.set_span(span);
    (span, name)
}

/// Tokens that keep their hygiene. rustc reports their errors at `span`, in the user's code.
fn all_at(span: Span, tokens: TokenStream) -> TokenStream {
    let at = |mut token: proc_macro2::TokenTree| {
        let own = token.span();
        if let proc_macro2::TokenTree::Group(group) = &token {
            token = proc_macro2::Group::new(group.delimiter(), all_at(span, group.stream())).into();
        }
        token.set_span(own.located_at(span));
        token
    };
    tokens.into_iter().map(at).collect()
}

/// An identifier of the macro. Hygiene alone does not keep it apart from the user's constants,
/// statics and tuple structs.
fn own(name: &str) -> Ident {
    Ident::new(&format!("__warpfold_{name}"), Span::mixed_site())
}

fn slot_name(slot: usize) -> Ident {
    own(&format!("slot_{slot}"))
}

fn constant_name(constant: usize) -> Ident {
    own(&format!("constant_{constant}"))
}

fn callee_name(callee: usize) -> Ident {
    own(&format!("callee_{callee}"))
}

/// The deepest chain of calls between functions. A deeper one is refused as recursion.
const DEEPEST: u32 = 16;

/// The variable that holds the depth of the call chain when `exact` is evaluated.
pub(crate) fn depth() -> Ident {
    own("depth")
}

/// The name of `self` in the probe.
fn this() -> Ident {
    own("this")
}

/// Whether the tokens contain a block.
fn has_braces(tokens: impl quote::ToTokens) -> bool {
    fn any(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Group(group) => {
                group.delimiter() == proc_macro2::Delimiter::Brace || any(group.stream())
            }
            _ => false,
        })
    }
    any(tokens.to_token_stream())
}

/// All names in the bounds of type parameters.
fn names_in_bounds(generics: &Generics) -> Vec<String> {
    fn add(tokens: TokenStream, names: &mut Vec<String>) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(group) => add(group.stream(), names),
                proc_macro2::TokenTree::Ident(ident) => names.push(plain(&ident)),
                proc_macro2::TokenTree::Punct(_) | proc_macro2::TokenTree::Literal(_) => {}
            }
        }
    }
    let (parameters, clause) = (&generics.params, &generics.where_clause);
    let mut names = Vec::new();
    add(quote!(#parameters #clause), &mut names);
    names
}

/// A name without `r#`.
fn plain(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_owned()
}

fn last_ident(tokens: &TokenStream) -> TokenStream {
    tokens.clone().into_iter().last().into_iter().collect()
}

/// The file of a span. A body that comes from a macro has the file of the macro's definition.
fn file(span: Span) -> String {
    span.unwrap().file()
}

fn line(span: Span) -> u32 {
    span.unwrap().line() as u32
}
