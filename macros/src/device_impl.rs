//! `#[device]` before an `impl`: keeps it, and adds the CUDA C++ forms of its functions.
//!
//! Beside each function of an inherent `impl` stands a hidden one, its form. A probe finds the form
//! as it would find the function, and gets from it the type that stands for the function. An `impl`
//! of an operator's trait needs no such form: the types of the operands find it.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, Expr, GenericArgument, GenericParam, Generics, ImplItem, ImplItemFn, ItemImpl,
    Member, Path, PathArguments, Result, ReturnType, Signature, Type, parse_quote,
};

use crate::attributes;
use crate::device_function::{check_signature, check_type, known, parameters, some};
use crate::device_type::{integer_repr, is_marker};
use crate::translate::{Function, Receiver, Translation, form_name, plain, translate};

pub(crate) fn expand(item: &ItemImpl, warpfold: &Path) -> TokenStream {
    match &item.trait_ {
        None => inherent(item, warpfold),
        Some((_, path, _)) => {
            let forms = operator(item, path, warpfold).unwrap_or_else(Error::into_compile_error);
            quote!(#item #forms)
        }
    }
}

/// The functions of a type's own `impl`.
fn inherent(item: &ItemImpl, warpfold: &Path) -> TokenStream {
    let (mut kept, mut forms) = (item.clone(), TokenStream::new());
    for method in item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    }) {
        let generics = merged(&item.generics, &method.sig.generics);
        let translated = check_method(item, method)
            .and_then(|result| translation(item, method, &generics, result, warpfold));
        let (function, refused) = match translated {
            // A form is a type, and this parameter has no place in it.
            Err(error) if odd_parameter(&method.sig.generics).is_some() => {
                forms.extend(error.into_compile_error());
                continue;
            }
            Ok(Translation { value, .. }) => (value, TokenStream::new()),
            // With this form, rustc reports only the refusal and not each call as well.
            Err(error) => (quote!(#warpfold::language::Translated::REFUSED), error.into_compile_error()),
        };
        let (name, arguments) = (hash(&plain(&method.sig.ident)), arguments(&method.sig.generics));
        kept.items.extend(hidden(method, name, &arguments, warpfold));
        let (impl_generics, _, _) = generics.split_for_impl();
        let (ty, known) = (&item.self_ty, known(&generics, warpfold));
        // Evaluated here, so that rustc reports recursion at the function itself.
        let asked = generics.params.is_empty().then(|| {
            quote_spanned! {method.sig.ident.span()=>
                const _: bool =
                    <#ty as #warpfold::language::callee::Method<#name, #arguments>>::FUNCTION.exact;
            }
        });
        forms.extend(quote! {
            #[automatically_derived]
            #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            impl #impl_generics #warpfold::language::callee::Method<#name, #arguments> for #ty #known {
                const FUNCTION: #warpfold::language::Translated = #function;
            }
            #asked
            #refused
        });
    }
    quote!(#kept #forms)
}

/// Refuses a method that has no counterpart, and returns the type of its result.
fn check_method<'m>(item: &ItemImpl, method: &'m ImplItemFn) -> Result<&'m Type> {
    attributes::check_method(&item.attrs, &item.generics, method)?;
    check_lifetimes(&item.generics)?;
    let signature = &method.sig;
    let result = check_signature(signature)?;
    if let Some(parameter) = odd_parameter(&signature.generics) {
        return Err(Error::new_spanned(
            parameter,
            "a const parameter of a method is a `usize` here; write a free `#[device]` function",
        ));
    }
    if let Some(receiver) = signature.receiver() {
        if receiver.mutability.is_some() && receiver.reference.is_some() {
            return Err(Error::new_spanned(
                receiver,
                "a method here changes nothing: take `self`, and return the changed value",
            ));
        }
        if receiver.colon_token.is_some() {
            return Err(Error::new_spanned(receiver, "the receiver of a method here is `self` or `&self`"));
        }
        let is_order = ["min", "max", "clamp"].contains(&plain(&signature.ident).as_str());
        if is_order && receiver.reference.is_some() {
            return Err(Error::new_spanned(
                receiver,
                "take `self` by value here: a method of this name of the trait `Ord` comes before one that takes `&self`",
            ));
        }
    }
    check_parameters(signature)?;
    check_type(result)?;
    Ok(result)
}

/// A parameter that the form of a method cannot have.
fn odd_parameter(generics: &Generics) -> Option<&GenericParam> {
    generics.params.iter().find(|parameter| match parameter {
        GenericParam::Type(_) => false,
        GenericParam::Const(parameter) => {
            !matches!(&parameter.ty, Type::Path(path) if path.path.is_ident("usize"))
        }
        GenericParam::Lifetime(_) => true,
    })
}

/// Checks the types of the parameters. A parameter may be a reference to a value.
fn check_parameters(signature: &Signature) -> Result<()> {
    for parameter in parameters(signature) {
        check_type(match &*parameter.ty {
            Type::Reference(reference) if reference.mutability.is_none() && reference.lifetime.is_none() => {
                &reference.elem
            }
            ty => ty,
        })?;
    }
    Ok(())
}

fn check_lifetimes(generics: &Generics) -> Result<()> {
    match generics.lifetimes().next() {
        Some(lifetime) => Err(Error::new_spanned(
            lifetime,
            "a lifetime has no counterpart in CUDA C++: pass and return values",
        )),
        None => Ok(()),
    }
}

fn receiver(signature: &Signature) -> Receiver {
    match signature.receiver() {
        None => Receiver::None,
        Some(receiver) if receiver.reference.is_some() => Receiver::Reference(receiver.mutability.is_some()),
        Some(receiver) => Receiver::Value(receiver.mutability.is_some()),
    }
}

fn translation(
    item: &ItemImpl,
    method: &ImplItemFn,
    generics: &Generics,
    result: &Type,
    warpfold: &Path,
) -> Result<Translation> {
    translate(&Function {
        shown: &name_of(item, &method.sig.ident),
        name: None,
        parameters: parameters(&method.sig).map(|typed| (&*typed.pat, &*typed.ty)).collect(),
        result,
        body: &method.block,
        generic: generics.type_params().next().is_some(),
        generics,
        receiver: receiver(&method.sig),
        warpfold,
    })
}

/// The generics of an `impl` and of a function in it.
fn merged(outer: &Generics, inner: &Generics) -> Generics {
    let mut merged = outer.clone();
    // Type parameters stand before const parameters here, so the order does not matter.
    merged.params.extend(inner.params.iter().cloned());
    if let Some(clause) = &inner.where_clause {
        merged.make_where_clause().predicates.extend(clause.predicates.iter().cloned());
    }
    merged
}

/// The generic arguments of a function, as a tuple. A number `N` is the array type `[(); N]`.
fn arguments(generics: &Generics) -> TokenStream {
    let arguments = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_token_stream()),
        GenericParam::Const(parameter) => {
            let name = &parameter.ident;
            Some(quote!([(); #name]))
        }
        GenericParam::Lifetime(_) => None,
    });
    quote!((#(#arguments,)*))
}

/// The forms of a function, for the same `impl`: one that is called as a method, and one by path.
fn hidden(method: &ImplItemFn, name: u64, arguments: &TokenStream, warpfold: &Path) -> Vec<ImplItem> {
    let (visibility, signature) = (&method.vis, &method.sig);
    let (generics, _, clause) = signature.generics.split_for_impl();
    let types: Vec<&Type> = parameters(signature).map(|typed| &*typed.ty).collect();
    let slot =
        quote!(_: &#warpfold::language::Slot<#warpfold::language::callee::MethodOf<Self, #name, #arguments>>);
    let written = |name: Ident, receiver: TokenStream, types: TokenStream| {
        parse_quote! {
            #[doc(hidden)]
            #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            #visibility fn #name #generics (#receiver #slot, _: (#types)) #clause {}
        }
    };
    let mut forms = Vec::new();
    let own = match signature.receiver() {
        Some(receiver) => {
            let form = form_name("", &signature.ident);
            forms.push(written(form, quote!(self,), quote!(#(#types,)*)));
            let reference = receiver.reference.as_ref().map(|_| quote!(&));
            quote!(#reference Self,)
        }
        None => TokenStream::new(),
    };
    forms.push(written(
        form_name("function_", &signature.ident),
        TokenStream::new(),
        quote!(#own #(#types,)*),
    ));
    forms
}

/// The name of a function in the generated source: that of the type, and its own.
fn name_of(item: &ItemImpl, method: &Ident) -> String {
    let ty = match &*item.self_ty {
        Type::Path(path) => path.path.segments.last().map(|last| plain(&last.ident)),
        _ => None,
    };
    format!("{}_{}", ty.unwrap_or_else(|| "value".to_owned()), plain(method))
}

/// A number for a name (FNV-1a).
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

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

/// The form of an operator.
fn operator(item: &ItemImpl, path: &Path, warpfold: &Path) -> Result<TokenStream> {
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

/// The comparisons that a type derives.
pub(crate) fn derived(item: DeriveInput, warpfold: &Path) -> TokenStream {
    let forms = comparisons(&item, warpfold).unwrap_or_else(Error::into_compile_error);
    quote!(#item #forms)
}

fn comparisons(item: &DeriveInput, warpfold: &Path) -> Result<TokenStream> {
    let mut derives = Vec::new();
    for attribute in item.attrs.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        attribute.parse_nested_meta(|meta| {
            derives.extend(meta.path.segments.last().map(|last| last.ident.clone()));
            Ok(())
        })?;
    }
    let traits: Vec<&Ident> =
        derives.iter().filter(|name| *name == "PartialEq" || *name == "PartialOrd").collect();
    if traits.is_empty() {
        return Err(Error::new_spanned(
            &item.ident,
            "`#[device]` before a type is for the comparisons that it derives: write it above \
             `#[derive(PartialEq, DeviceType)]`",
        ));
    }
    let name = &item.ident;
    let (impl_generics, type_generics, clause) = item.generics.split_for_impl();
    let op = quote!(#warpfold::language::callee::op);
    let fields = match &item.data {
        Data::Enum(_) => return comparisons_of_enum(item, &traits, warpfold),
        Data::Struct(data) => &data.fields,
        Data::Union(data) => return Err(Error::new_spanned(data.union_token, "a union has no comparison")),
    };
    let members: Vec<Member> = fields
        .members()
        .zip(fields)
        .filter(|(_, field)| !is_marker(&field.ty))
        .map(|(member, _)| member)
        .collect();
    let mut forms = TokenStream::new();
    for of_trait in traits {
        let bounds = item.generics.type_params().map(|parameter| {
            let ident = &parameter.ident;
            quote!(#ident: ::core::cmp::#of_trait + #warpfold::language::Operator<#op::#of_trait, #ident>,)
        });
        let written = clause.map(|clause| &clause.predicates).into_iter();
        let function = match of_trait == "PartialEq" {
            true => quote! {
                fn eq(&self, other: &Self) -> bool {
                    true #(&& self.#members == other.#members)*
                }
            },
            false => quote! {
                fn partial_cmp(&self, other: &Self) -> ::core::option::Option<::core::cmp::Ordering> {
                    #(
                        if self.#members < other.#members {
                            return Some(::core::cmp::Ordering::Less);
                        }
                        if self.#members > other.#members {
                            return Some(::core::cmp::Ordering::Greater);
                        }
                        // Neither less nor greater: equal, or without an order.
                        if !(self.#members <= other.#members) {
                            return None;
                        }
                    )*
                    Some(::core::cmp::Ordering::Equal)
                }
            },
        };
        let block: ItemImpl = parse_quote! {
            impl #impl_generics ::core::cmp::#of_trait for #name #type_generics where #(#bounds)* #(#written)* {
                #function
            }
        };
        forms.extend(operator(&block, &parse_quote!(#of_trait), warpfold)?);
    }
    let all = fields.members();
    // Does not compile if another macro has added a field.
    forms.extend(quote! {
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        const _: () = {
            fn all_fields #impl_generics (value: &#name #type_generics) #clause {
                let #name { #(#all: _),* } = value;
            }
        };
    });
    Ok(forms)
}

/// The values of an enum without fields are compared as numbers.
fn comparisons_of_enum(item: &DeriveInput, traits: &[&Ident], warpfold: &Path) -> Result<TokenStream> {
    let name = &item.ident;
    // Without a `repr` the derive of `DeviceType` refuses the enum.
    let repr = integer_repr(item)?.unwrap_or_else(|| Ident::new("isize", name.span()));
    let mut forms = TokenStream::new();
    for of_trait in traits {
        let function = match *of_trait == "PartialEq" {
            true => quote! {
                fn eq(&self, other: &Self) -> bool { *self as #repr == *other as #repr }
            },
            false => quote! {
                fn partial_cmp(&self, other: &Self) -> ::core::option::Option<::core::cmp::Ordering> {
                    (*self as #repr).partial_cmp(&(*other as #repr))
                }
            },
        };
        let block = parse_quote!(impl ::core::cmp::#of_trait for #name { #function });
        forms.extend(operator(&block, &parse_quote!(#of_trait), warpfold)?);
    }
    Ok(forms)
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
