//! Names, spans and slots in the tokens that the translator writes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Generics;

/// A reference to `'static` data in the tree.
pub(in crate::translate) fn reference(tree: TokenStream) -> TokenStream {
    quote!(&#tree)
}

pub(in crate::translate) fn optional(tree: Option<TokenStream>) -> TokenStream {
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
pub(in crate::translate) fn mark(variable: usize, name: &Ident) -> Ident {
    format_ident!("{}_of_the_same_macro_{variable}", plain(name), span = name.span())
}

/// A statement of the probe that binds a variable's mark.
pub(in crate::translate) fn bind_mark(variable: usize, name: &Ident) -> TokenStream {
    let mark = mark(variable, name);
    quote!(let #mark = ();)
}

/// Passes a value through a slot, so that the slot has the type of the value.
pub(in crate::translate) fn of(slot: usize, span: Span, value: TokenStream) -> TokenStream {
    of_at(slot_name(slot), span, value)
}

pub(in crate::translate) fn of_at(slot: Ident, span: Span, value: TokenStream) -> TokenStream {
    let (span, slot) = ours_at(span, slot);
    quote_spanned!(span=> __warpfold::language::Slot::of(&#slot, #value))
}

/// Passes a value through a function of `warpfold::language` that puts a bound on its type.
pub(in crate::translate) fn through(function: &str, span: Span, value: TokenStream) -> TokenStream {
    let (span, function) = ours_at(span, Ident::new(function, span));
    quote_spanned!(span=> __warpfold::language::#function(#value))
}

/// A statement of the probe that gives a variable's type to a slot.
pub(in crate::translate) fn is(slot: usize, span: Span, variable: impl quote::ToTokens) -> TokenStream {
    let (span, slot) = ours_at(span, slot_name(slot));
    quote_spanned!(span=> __warpfold::language::Slot::is(&#slot, &#variable);)
}

/// An identifier of the macro. rustc reports its errors at `span`, in the user's code.
pub(in crate::translate) fn ours_at(span: Span, mut name: Ident) -> (Span, Ident) {
    let span = Span::call_site().located_at(span);
    name.set_span(span);
    (span, name)
}

/// Tokens that keep their hygiene. rustc reports their errors at `span`, in the user's code.
pub(in crate::translate) fn all_at(span: Span, tokens: TokenStream) -> TokenStream {
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

/// An identifier of the macro. Its name keeps it apart from those of the user: with the hygiene of
/// the macro, rustc would add lines about the macro to each error.
pub(in crate::translate) fn own(name: &str) -> Ident {
    Ident::new(&format!("__warpfold_{name}"), Span::call_site())
}

pub(in crate::translate) fn slot_name(slot: usize) -> Ident {
    own(&format!("slot_{slot}"))
}

pub(in crate::translate) fn constant_name(constant: usize) -> Ident {
    own(&format!("constant_{constant}"))
}

/// The slot of a callee. It has the hygiene of the user's code, at all places.
pub(in crate::translate) fn callee_name(callee: usize, at: Span) -> Ident {
    Ident::new(&format!("__warpfold_callee_{callee}"), at)
}

/// The name of `self` in the probe.
pub(in crate::translate) fn this() -> Ident {
    own("this")
}

/// Whether the tokens contain a block.
pub(in crate::translate) fn has_braces(tokens: impl quote::ToTokens) -> bool {
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
pub(in crate::translate) fn names_in_bounds(generics: &Generics) -> Vec<String> {
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
pub(crate) fn plain(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_owned()
}

pub(in crate::translate) fn last_ident(tokens: &TokenStream) -> TokenStream {
    tokens.clone().into_iter().last().into_iter().collect()
}

/// The file of a span. A body that comes from a macro has the file of the macro's definition.
pub(crate) fn file(span: Span) -> String {
    span.unwrap().file()
}

pub(in crate::translate) fn line(span: Span) -> u32 {
    span.unwrap().line() as u32
}

/// A number for a name (FNV-1a).
pub(crate) fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
