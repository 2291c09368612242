//! Translates a Rust body into a tree and a probe: see `warpfold::language`.
//!
//! One walk writes both, so that slots, variables and constants have the same numbers in both. Code
//! outside the subset is refused at its token. The walk then continues, so that rustc shows all
//! refusals at once.

mod assignment;
mod call;
mod control;
mod expression;
mod inner;
mod jumps;
mod literal;
mod methods;
mod names;
mod operator;
mod pattern;
mod standard;
mod statement;
mod structure;

pub(crate) use self::call::form_name;
pub(crate) use self::inner::with_explicit_calls;
use self::names::{
    all_at, bind_mark, callee_name, constant_name, has_braces, is, last_ident, line, mark, names_in_bounds,
    of, of_at, optional, ours_at, own, reference, slot_name, this, through,
};
pub(crate) use self::names::{file, hash, plain};
use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Block, Error, Expr, Generics, Member, Pat, Path, Type};

/// A piece of a body, as probe and as tree.
#[derive(Default)]
struct Pair {
    probe: TokenStream,
    tree: TokenStream,
}

/// What `self` is in a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    None,
    /// An operator or an aggregate by reference. Its fields are arguments of the kernel.
    Operator,
    /// A value, and whether it is declared `mut`.
    Value(bool),
    /// A reference, and whether it is declared `mut`.
    Reference(bool),
}

/// The function to translate.
pub(crate) struct Function<'a> {
    /// The name in the generated source.
    pub(crate) shown: &'a str,
    /// The name by which a free function could call itself.
    pub(crate) name: Option<&'a Ident>,
    /// The parameters after `self`. A parameter may be a reference if `self` may.
    pub(crate) parameters: Vec<(&'a Pat, &'a Type)>,
    pub(crate) result: &'a Type,
    pub(crate) body: &'a Block,
    /// Whether there are type parameters, so that types are known by their bounds only.
    pub(crate) generic: bool,
    /// The generics of the function, or of the `impl` around it.
    pub(crate) generics: &'a Generics,
    pub(crate) receiver: Receiver,
    /// The path of the crate `warpfold`.
    pub(crate) warpfold: &'a Path,
}

impl Function<'_> {
    /// Whether it is `combine` of a monoid, the function that may have inner operators.
    fn is_combine(&self) -> bool {
        self.receiver == Receiver::Operator && self.shown == "combine"
    }

    fn has_type_parameter(&self, name: &str) -> bool {
        self.generics.type_params().any(|parameter| parameter.ident == name)
    }
}

/// The result of a translation.
pub(crate) struct Translation {
    /// A `warpfold::language::Translated`, for a constant that the macro writes.
    pub(crate) value: TokenStream,
    /// The first place where the body reads `self`.
    pub(crate) uses_state: Option<Span>,
}

struct Variable {
    name: String,
    slot: usize,
    mutable: bool,
    /// Whether it is a parameter that is a reference. Its value is that behind the reference.
    by_reference: bool,
}

struct Translator<'a> {
    function: &'a Function<'a>,
    variables: Vec<Variable>,
    /// The variables in scope, innermost last.
    scope: Vec<(String, usize)>,
    /// Where rustc reports the type of each slot.
    slots: Vec<Span>,
    constants: Vec<TokenStream>,
    /// Where rustc reports errors of each callee, and the function that gives it.
    callees: Vec<(Span, &'static str)>,
    /// Where each name is called first.
    first_callees: HashMap<String, Span>,
    /// The operators whose `combine` is called: where rustc reports their types, and the field of
    /// `self`, if it is one.
    inner: Vec<(Span, Option<TokenStream>)>,
    /// The fields of `self` that are read, if there are inner operators.
    state_fields: Vec<(Span, Member)>,
    /// Whether the body calls `combine` of a field of `self`.
    has_inner: bool,
    /// Whether the current code stands in the call of a macro.
    in_macro: bool,
    /// `const` and `use` items, which stand before the probe.
    items: Vec<TokenStream>,
    /// The names that `use` items of the body import.
    imports: HashSet<String>,
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
        slots: Vec::new(),
        constants: Vec::new(),
        callees: Vec::new(),
        first_callees: HashMap::new(),
        inner: Vec::new(),
        state_fields: Vec::new(),
        has_inner: inner::has_inner(function),
        in_macro: false,
        items: Vec::new(),
        imports: HashSet::new(),
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
        let this = this();
        match self.function.receiver {
            Receiver::None => {}
            Receiver::Operator => probe_parameters.push(quote!(#this: &Self)),
            receiver => {
                let by_reference = matches!(receiver, Receiver::Reference(_));
                let slot = self.slot(Span::call_site());
                let mutable = matches!(receiver, Receiver::Value(true) | Receiver::Reference(true));
                let name = Ident::new("self", Span::mixed_site());
                let variable = self.declare(&name, slot, mutable);
                self.variables[variable].by_reference = by_reference;
                let mutability = mutable.then(|| quote!(mut));
                let (parameter, value) = match by_reference {
                    true => (quote!(#this: &#mutability Self), quote!((*#this))),
                    false => (quote!(#mutability #this: Self), quote!(#this)),
                };
                asked.extend(is(slot, Span::call_site(), value));
                probe_parameters.push(parameter);
            }
        }
        let before = self.variables.len();
        for (number, (pattern, ty)) in self.function.parameters.iter().enumerate() {
            let slot = self.slot(ty.span());
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
            debug_assert_eq!(variable, before + number);
            let mut plain = last_ident(&name);
            if matches!(ty, Type::Reference(_)) {
                self.variables[variable].by_reference = true;
                plain = quote!((*#plain));
            }
            asked.extend(is(self.variables[variable].slot, ty.span(), &plain));
            if let Pat::Ident(ident) = pattern {
                asked.extend(bind_mark(variable, &ident.ident));
            }
            probe_parameters.push(quote!(#name: #ty));
        }
        let parameters = self.variables.len();
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

        let slots: Vec<Ident> = (0..self.slots.len()).map(slot_name).collect();
        let constants: Vec<Ident> = (0..self.constants.len()).map(constant_name).collect();
        let callees: Vec<Ident> =
            self.callees.iter().enumerate().map(|(callee, &(span, _))| callee_name(callee, span)).collect();
        let items = &self.items;
        let asked_types = self.slots.iter().zip(&slots).map(|(&span, name)| {
            let (span, name) = ours_at(span, name.clone());
            quote_spanned!(span=> __warpfold::language::ty(&#name))
        });
        let inner: Vec<Ident> = (0..self.inner.len()).map(inner::inner_name).collect();
        let fields: Vec<Ident> = (0..self.state_fields.len()).map(inner::field_name).collect();
        let asked_inner = self.inner.iter().zip(&inner).map(|((span, field), name)| {
            let (span, name) = ours_at(*span, name.clone());
            let offset = optional(field.as_ref().map(|field| quote!(::core::mem::offset_of!(Self, #field))));
            quote_spanned!(span=> __warpfold::language::inner(&#name, #offset))
        });
        let asked_fields = self.state_fields.iter().zip(&fields).map(|((span, field), name)| {
            let (span, name) = ours_at(*span, name.clone());
            let offset = quote!(::core::mem::offset_of!(Self, #field));
            quote_spanned!(span=> __warpfold::language::state_field(&#name, #offset))
        });
        let asked_callees = self.callees.iter().zip(&callees).map(|(&(span, function), name)| {
            // rustc reports a callee without `#[device]` here, as code of the user: it then does not
            // mention the macro.
            let function = Ident::new(function, span);
            quote_spanned!(span=> __warpfold::language::callee::#function(&#name))
        });
        let values = self.constants.iter().zip(&constants).map(|(value, name)| {
            quote_spanned!(value.span()=> let #name = __warpfold::language::constant(|| #value);)
        });
        let (result, probe, tree) = (self.function.result, body.probe, body.tree);
        let warpfold = self.function.warpfold;
        let locals = self.variables.iter().map(|Variable { name, slot, mutable, .. }| {
            quote!(__warpfold::language::syntax::Variable { name: #name, ty: #slot, mutable: #mutable })
        });
        let (file, exact) = (file(self.function.body.span()), self.exact);
        let name = self.function.shown;
        let value = quote! {
            __warpfold::language::Translated {
                name: #name,
                file: #file,
                body: &__warpfold::language::syntax::Body {
                    locals: &[#(#locals),*],
                    parameters: #parameters,
                    block: #tree,
                },
                result: <#result as __warpfold::language::Local>::ty,
                types: &[#(#asked_types),*],
                constants: &[#(&__warpfold::language::Constant::copied(&#constants) as &dyn __warpfold::language::Value),*],
                callees: &[#(#asked_callees),*],
                exact: #exact,
            }
        };
        let value = match self.function.is_combine() {
            false => value,
            true => quote! {
                __warpfold::language::TranslatedCombine {
                    function: #value,
                    inside: __warpfold::language::Inside {
                        operators: &[#(#asked_inner),*],
                        fields: &[#(#asked_fields),*],
                    },
                }
            },
        };
        let value = quote! {{
            use #warpfold as __warpfold;
            #(#items)*
            #(let #slots = __warpfold::language::Slot::new();)*
            #(#values)*
            #(let #callees = __warpfold::language::Slot::new();)*
            #(let #inner = __warpfold::language::Slot::new();)*
            #(let #fields = __warpfold::language::Slot::new();)*
            let _ = |#(#probe_parameters),*| -> #result { #asked #probe };
            #value
        }};
        Ok(Translation { value, uses_state: self.uses_state })
    }

    /// A slot. rustc reports a type without a counterpart at `span`.
    fn slot(&mut self, span: Span) -> usize {
        self.slots.push(span);
        self.slots.len() - 1
    }

    fn declare(&mut self, name: &Ident, slot: usize, mutable: bool) -> usize {
        let variable = self.variables.len();
        let name = plain(name);
        self.variables.push(Variable { name: name.clone(), slot, mutable, by_reference: false });
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

    /// A variable that is a reference, if the expression names one.
    fn reference(&self, expression: &Expr) -> Option<usize> {
        let Expr::Path(path) = expression else { return None };
        let (_, variable) = self.local_of(&path.path)?;
        self.variables[variable].by_reference.then_some(variable)
    }

    /// A callee of this name. rustc reports all callees of one name at the first of them, and so an
    /// attribute that is missing only once.
    fn callee_named(&mut self, function: &'static str, name: &str, at: Span) -> (usize, Ident) {
        let at = *self.first_callees.entry(name.to_owned()).or_insert(at);
        self.callees.push((at, function));
        let number = self.callees.len() - 1;
        (number, callee_name(number, at))
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
