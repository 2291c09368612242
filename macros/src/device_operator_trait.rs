//! `#[device]` before an `impl` of an operator's trait, such as `Add`: keeps it, and adds the CUDA C++
//! form of the operator.
//!
//! The function of the trait has no hidden function beside it. A probe finds the form by the types
//! of the operands.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Error, Expr, GenericArgument, ImplItem, ImplItemFn, ItemImpl, Path, PathArguments, Result, ReturnType,
    Type, parse_quote,
};

use crate::attributes;
use crate::device_function::{check_type, known, some};
use crate::device_impl::{check_lifetimes, check_parameters, translation};
use crate::translate::plain;

/// The operator traits, with their functions.
const OPERATORS: [(&str, &str); 25] = [
    ("Add", "add"),
    ("AddAssign", "add_assign"),
    ("BitAnd", "bitand"),
    ("BitAndAssign", "bitand_assign"),
    ("BitOr", "bitor"),
    ("BitOrAssign", "bitor_assign"),
    ("BitXor", "bitxor"),
    ("BitXorAssign", "bitxor_assign"),
    ("Div", "div"),
    ("DivAssign", "div_assign"),
    ("Index", "index"),
    ("Mul", "mul"),
    ("MulAssign", "mul_assign"),
    ("Neg", "neg"),
    ("Not", "not"),
    ("PartialEq", "eq"),
    ("PartialOrd", "partial_cmp"),
    ("Rem", "rem"),
    ("RemAssign", "rem_assign"),
    ("Shl", "shl"),
    ("ShlAssign", "shl_assign"),
    ("Shr", "shr"),
    ("ShrAssign", "shr_assign"),
    ("Sub", "sub"),
    ("SubAssign", "sub_assign"),
];

/// `path` is the trait of the `impl`.
pub(crate) fn expand(item: &ItemImpl, path: &Path, warpfold: &Path) -> TokenStream {
    let form = operator(item, path, warpfold).unwrap_or_else(Error::into_compile_error);
    quote!(#item #form)
}

/// The form of an operator.
pub(crate) fn operator(item: &ItemImpl, path: &Path, warpfold: &Path) -> Result<TokenStream> {
    let Some(last) = path.segments.last() else { return Ok(TokenStream::new()) };
    let (of_trait, trait_arguments) = (plain(&last.ident), &last.arguments);
    let Some((_, name)) = OPERATORS.iter().find(|(known, _)| *known == of_trait) else {
        return Err(Error::new_spanned(
            path,
            "`#[device]` stands before a function, an `impl` of a type, or an `impl` of an operator such as `Add`; \
             `#[monoid]` and `#[aggregate]` stand before their traits",
        ));
    };
    let mut methods = item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    let (Some(method), None) = (methods.next(), methods.next()) else {
        return Err(Error::new_spanned(path, format!("this `impl` has one function here, `{name}`")));
    };
    attributes::check_method(&item.attrs, &item.generics, method)?;
    check_lifetimes(&item.generics)?;
    let rhs = match trait_arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(ty)) => quote!(#ty),
            _ => quote!(Self),
        },
        _ if matches!(of_trait.as_str(), "Neg" | "Not") => quote!(()),
        _ => quote!(Self),
    };
    if let PathArguments::AngleBracketed(arguments) = trait_arguments
        && let Some(GenericArgument::Type(ty)) = arguments.args.first()
    {
        check_type(ty)?;
    }
    // `Self::Output` is known in the `impl` of the trait only.
    let known_trait = Ident::new(&of_trait, path.span());
    let output = match rhs.to_string().as_str() {
        "()" => quote!(<Self as ::core::ops::#known_trait>::Output),
        _ => quote!(<Self as ::core::ops::#known_trait<#rhs>>::Output),
    };
    let mut method: ImplItemFn = syn::parse2(with_output(method.to_token_stream(), &output))?;
    check_parameters(&method.sig)?;
    let ty = &item.self_ty;
    let own: Type = parse_quote!(Self);
    let assigns = of_trait.ends_with("Assign");
    if assigns {
        // The function of the kernel returns the changed value.
        if let Some(syn::Stmt::Expr(_, semicolon @ None)) = method.block.stmts.last_mut() {
            *semicolon = Some(Default::default());
        }
        method.block.stmts.push(syn::Stmt::Expr(parse_quote!(*self), None));
    }
    let result = match &method.sig.output {
        _ if assigns => &own,
        // The function of the kernel returns the element itself.
        ReturnType::Type(_, result) if of_trait == "Index" => {
            without_reference(&mut method.block);
            match &**result {
                Type::Reference(reference) => &*reference.elem,
                result => result,
            }
        }
        ReturnType::Type(_, result) => result,
        ReturnType::Default => {
            return Err(Error::new_spanned(&method.sig, "the function of an operator returns a value"));
        }
    };
    check_type(result)?;
    let result = result.clone();
    let translation = translation(item, &method, &item.generics, &result, warpfold)?;
    // A trait of the user may have the name of an operator's.
    let word = Ident::new(name, Span::mixed_site().located_at(path.span()));
    let home = match of_trait.as_str() {
        "PartialEq" | "PartialOrd" => quote!(cmp),
        _ => quote!(ops),
    };
    let of_rhs = (rhs.to_string() != "()").then(|| quote!(<#rhs>));
    let value = &translation.value;
    let of_core = quote!(::core::#home::#known_trait);
    let literal = literal_check(ty, &rhs, &of_core, &known_trait, &word, warpfold);
    let checked = quote_spanned! {path.span()=> {
        #literal
        let _ = || #warpfold::language::same(
            <Self as #path>::#word,
            <Self as ::core::#home::#known_trait #of_rhs>::#word,
        );
        #value
    }};
    let function = some(&checked);
    let (generics, _, _) = item.generics.split_for_impl();
    // Evaluated here, so that rustc reports the check of literals at the `impl`.
    let rhs_of_impl = if rhs.to_string() == "Self" { ty.to_token_stream() } else { rhs.clone() };
    let asked = item.generics.params.is_empty().then(|| {
        quote_spanned! {path.span()=>
            const _: bool = <#ty as #warpfold::language::Operator<
                #warpfold::language::callee::op::#known_trait, #rhs_of_impl
            >>::FUNCTION.is_some();
        }
    });
    let known = known(&item.generics, warpfold);
    let span = path.span();
    let op = quote_spanned!(span=> #warpfold::language::callee::op::#known_trait);
    Ok(quote! {
        #[automatically_derived]
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        impl #generics #warpfold::language::Operator<#op, #rhs> for #ty #known {
            const FUNCTION: ::core::option::Option<#warpfold::language::Translated> = #function;
        }
        #asked
    })
}

/// A check that a literal without a suffix is the same number in a probe as in Rust. If the operator
/// has an `impl` for another number, too, without `#[device]`, a probe does not know of it.
fn literal_check(
    ty: &Type,
    rhs: &TokenStream,
    of_trait: &TokenStream,
    op: &Ident,
    function: &Ident,
    warpfold: &Path,
) -> Option<TokenStream> {
    let literal_of = |tokens: &TokenStream| match tokens.to_string().as_str() {
        "f32" | "f64" => Some(quote!(0.0)),
        "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" => Some(quote!(0)),
        _ => None,
    };
    let (in_rust, in_probe) = (quote!(__warpfold_in_rust), quote!(__warpfold_in_probe));
    let (is_left, literal) = match (literal_of(&ty.to_token_stream()), literal_of(rhs)) {
        (None, Some(literal)) => (false, literal),
        (Some(literal), None) if rhs.to_string() != "()" => (true, literal),
        _ => return None,
    };
    let operands = |slot: &TokenStream| match is_left {
        true => (quote!(#slot.of(#literal)), quote!(value)),
        false => (quote!(value), quote!(#slot.of(#literal))),
    };
    let (left, right) = operands(&in_rust);
    let (left, right) = match function.to_string().as_str() {
        "eq" | "partial_cmp" => (quote!(&#left), quote!(&#right)),
        "index" => (quote!(&#left), right),
        name if name.ends_with("_assign") => (quote!(&mut #left), right),
        _ => (left, right),
    };
    let (value, own, other) = match is_left {
        true => (rhs.clone(), quote!(_), rhs.clone()),
        false => (quote!(Self), quote!(Self), quote!(_)),
    };
    let (first, second) = operands(&in_probe);
    let callee = quote!(#warpfold::language::callee);
    let message = "an operand without a suffix, such as `2.0`, is another number: this operator has an `impl` for that \
                   number, too; write `#[device]` before it as well";
    Some(quote! {
        let #in_rust = #warpfold::language::Slot::new();
        let _ = |mut value: #value| { let _ = <#own as #of_trait<#other>>::#function(#left, #right); };
        let #in_probe = #warpfold::language::Slot::new();
        let __warpfold_operator = #warpfold::language::Slot::new();
        let _ = |value: #value| {
            let _ = #callee::left::<#callee::op::#op, _, _>(&__warpfold_operator, #first);
            let _ = #callee::right::<#callee::op::#op, _, _>(&__warpfold_operator, #second);
        };
        #callee::has_operator(&__warpfold_operator);
        ::core::assert!(#callee::suffix(&#in_rust) == #callee::suffix(&#in_probe), #message);
    })
}

/// Writes `output` for each `Self::Output`.
fn with_output(tokens: TokenStream, output: &TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.to_string() == text);
    let (mut written, mut at) = (TokenStream::new(), 0);
    while at < tokens.len() {
        if is(at, "Self") && is(at + 1, ":") && is(at + 2, ":") && is(at + 3, "Output") {
            written.extend(output.clone());
            at += 4;
            continue;
        }
        written.extend([match &tokens[at] {
            TokenTree::Group(group) => {
                let mut inner =
                    proc_macro2::Group::new(group.delimiter(), with_output(group.stream(), output));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            token => token.clone(),
        }]);
        at += 1;
    }
    written
}

/// Makes the value of a block the value behind its reference.
fn without_reference(block: &mut syn::Block) {
    fn of(expression: &mut Expr) {
        match expression {
            Expr::Reference(reference) => *expression = (*reference.expr).clone(),
            Expr::Paren(inner) => of(&mut inner.expr),
            Expr::Group(inner) => of(&mut inner.expr),
            Expr::Block(block) => without_reference(&mut block.block),
            Expr::If(branch) => {
                without_reference(&mut branch.then_branch);
                if let Some((_, otherwise)) = &mut branch.else_branch {
                    of(otherwise);
                }
            }
            Expr::Match(choice) => choice.arms.iter_mut().for_each(|arm| of(&mut arm.body)),
            _ => {}
        }
    }
    if let Some(syn::Stmt::Expr(value, None)) = block.stmts.last_mut() {
        of(value);
    }
}
