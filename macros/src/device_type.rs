use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Error, Field, Fields, Path, Result, Type, parse_quote};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let warpfold = crate_path(input)?;
    Ok(derived(input, &warpfold).unwrap_or_else(|error| {
        // With this stub, rustc reports only the refusal and not each use of the type as well.
        let refused = quote!(::core::unreachable!());
        let stub = implementation(input, &warpfold, &refused, &refused, &refused);
        // A type with a lifetime is refused by rustc, too.
        let stub = input.generics.lifetimes().next().is_none().then_some(stub);
        let error = error.into_compile_error();
        quote!(#stub #error)
    }))
}

/// The implementations, with the bodies of `layout`, `literal` and `same_bits`.
fn implementation(
    input: &DeriveInput,
    warpfold: &Path,
    layout: &TokenStream,
    literal: &TokenStream,
    same_bits: &TokenStream,
) -> TokenStream {
    let name = &input.ident;
    let (generics, arguments, clause) = input.generics.split_for_impl();
    // `Copy` is required of the type where it is used, once.
    let mut assumed = input.generics.clone();
    assumed
        .make_where_clause()
        .predicates
        .push(parse_quote!(for<'__warpfold> #name #arguments: ::core::marker::Copy));
    let assumed = assumed.where_clause;
    quote! {
        // SAFETY: the type's layout is fixed by its `repr`, and every field is a device type.
        unsafe impl #generics #warpfold::cudarc::driver::DeviceRepr for #name #arguments #clause {}

        #[diagnostic::do_not_recommend]
        impl #generics #warpfold::Value for #name #arguments #assumed {
            type Stored = Self;
            fn from_stored(__stored: Self) -> Self {
                __stored
            }
        }

        // SAFETY: the layout lists every field, with the offset that the Rust compiler gives it. Of
        // an enum it is that of the integer; translated code computes values of the enum from
        // values of the enum only, and 0 is one of them.
        #[diagnostic::do_not_recommend]
        unsafe impl #generics #warpfold::DeviceType for #name #arguments #assumed {
            fn layout() -> #warpfold::Layout {
                #layout
            }
            fn literal(&self) -> #warpfold::Literal {
                #literal
            }
            #[inline]
            fn same_bits(__left: &Self, __right: &Self) -> bool {
                #same_bits
            }
        }
    }
}

fn derived(input: &DeriveInput, warpfold: &Path) -> Result<TokenStream> {
    if let Data::Enum(data) = &input.data {
        return enumeration(input, data, warpfold);
    }
    let fields = fields(input)?;
    check_repr(input)?;
    let unbounded = unbounded_parameters(&input.generics);
    for field in fields {
        check_field(field, &unbounded)?;
    }

    let all_members: Vec<syn::Member> = fields.members().collect();
    // A `PhantomData` has no bytes, so it is no part of the layout.
    let (markers, stored): (Vec<_>, Vec<_>) =
        fields.iter().zip(&all_members).partition(|(field, _)| is_marker(&field.ty));
    let types: Vec<&Type> = stored.iter().map(|(field, _)| &field.ty).collect();
    let members: Vec<&syn::Member> = stored.iter().map(|(_, member)| *member).collect();
    let names: Vec<String> = members.iter().map(|member| member_name(member)).collect();
    let are_markers = markers.iter().map(|(field, member)| {
        quote_spanned! {at(&field.ty)=>
            let _ = |__value: &Self| { let _: &::core::marker::PhantomData<_> = &__value.#member; };
        }
    });

    // `offset_of!` and the bounds carry the field's span, so that rustc reports errors at the
    // field.
    let descriptions = types.iter().zip(&members).zip(&names).map(|((ty, member), name)| {
        quote_spanned! {at(ty)=>
            #warpfold::Field {
                name: #name,
                offset: ::core::mem::offset_of!(Self, #member),
                layout: <#ty as #warpfold::DeviceType>::layout(),
            }
        }
    });
    let literals = types.iter().zip(&members).map(|(ty, member)| {
        quote_spanned! {at(ty)=> <#ty as #warpfold::DeviceType>::literal(&self.#member) }
    });
    // A tuple struct may have the name `left`, and a parameter must not have the same.
    let comparisons = types.iter().zip(&members).map(|(ty, member)| {
        quote_spanned! {at(ty)=> <#ty as #warpfold::DeviceType>::same_bits(&__left.#member, &__right.#member) }
    });
    let sizes: Vec<TokenStream> = types
        .iter()
        .zip(&names)
        .map(|(ty, name)| {
            let message = format!("the field `{name}` is zero-sized; CUDA C++ has no such field");
            quote_spanned! {ty.span()=> ::core::assert!(::core::mem::size_of::<#ty>() > 0, #message); }
        })
        .collect();
    // Without generic parameters the sizes can be checked at the struct, before any instantiation.
    let early = input.generics.params.is_empty().then(|| quote! { const _: () = { #(#sizes)* }; });

    let layout = quote! {
        const { #(#sizes)* }
        #(#are_markers)*
        #warpfold::Layout::of::<Self>(#warpfold::Kind::Struct {
            fields: ::std::vec![#(#descriptions),*],
        })
    };
    let literal = quote! {
        // Does not compile if another macro has added a field.
        let Self { #(#all_members: _),* } = self;
        #warpfold::Literal::Sequence(::std::vec![#(#literals),*])
    };
    let implementation = implementation(input, warpfold, &layout, &literal, &quote!(#(#comparisons)&&*));
    Ok(quote!(#implementation #early))
}

/// The integer types that the `repr` of an enum may name.
const INTEGERS: [&str; 10] = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"];

/// The integer type that the `repr` of an enum names.
pub(crate) fn integer_repr(input: &DeriveInput) -> Result<Option<Ident>> {
    let mut repr = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if INTEGERS.iter().any(|integer| meta.path.is_ident(integer)) {
                repr = meta.path.get_ident().cloned();
            }
            Ok(())
        })?;
    }
    Ok(repr)
}

/// An enum without fields, which is an integer on a GPU.
fn enumeration(input: &DeriveInput, data: &DataEnum, warpfold: &Path) -> Result<TokenStream> {
    let name = &input.ident;
    if let Some(variant) = data.variants.iter().find(|variant| !matches!(variant.fields, Fields::Unit)) {
        return Err(Error::new_spanned(
            variant,
            "an enum with fields is not a device type: which field is valid is not known; use a struct",
        ));
    }
    let repr = integer_repr(input)?;
    let Some(repr) = repr else {
        return Err(Error::new_spanned(
            name,
            "an enum that is a device type has the type of its values: write `#[repr(u8)]`, or another integer",
        ));
    };
    let variants = data.variants.iter().map(|variant| &variant.ident);
    let message =
        "an enum that is a device type has a variant of value 0: the memory of a GPU starts with zeros";
    let layout = quote!(#warpfold::Layout::of::<Self>(<#repr as #warpfold::DeviceType>::layout().kind));
    let literal = quote!(<#repr as #warpfold::DeviceType>::literal(&(*self as #repr)));
    let same_bits = quote!(*__left as #repr == *__right as #repr);
    let implementation = implementation(input, warpfold, &layout, &literal, &same_bits);
    Ok(quote! {
        const _: () = ::core::assert!(false #(|| #name::#variants as #repr == 0)*, #message);

        impl #warpfold::language::primitive::Scalar for #name {}

        #implementation
    })
}

/// Where rustc reports the errors of a field. The names of the expansion are our own, also if the
/// type comes from the caller of a macro that declares the struct.
fn at(ty: &Type) -> Span {
    Span::call_site().located_at(ty.span())
}

fn crate_path(input: &DeriveInput) -> Result<Path> {
    let mut path = parse_quote!(::warpfold);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("device_type")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("expected `crate = path::to::warpfold`"));
            }
            path = meta.value()?.call(Path::parse_mod_style)?;
            Ok(())
        })?;
    }
    Ok(path)
}

fn fields(input: &DeriveInput) -> Result<&Fields> {
    match &input.data {
        Data::Struct(data) if data.fields.iter().all(|field| is_marker(&field.ty)) => {
            Err(Error::new_spanned(
                &input.ident,
                "a device type has at least one field: a zero-sized type has no counterpart in CUDA C++",
            ))
        }
        Data::Struct(data) => Ok(&data.fields),
        Data::Enum(data) => Err(Error::new_spanned(data.enum_token, "an enum has no fields here")),
        Data::Union(data) => Err(Error::new_spanned(
            data.union_token,
            "a union is not a device type: which of its fields is valid is not known",
        )),
    }
}

fn check_repr(input: &DeriveInput) -> Result<()> {
    let mut fixed = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("C") || meta.path.is_ident("transparent") {
                fixed = true;
            } else if meta.path.is_ident("packed") {
                return Err(
                    meta.error("a packed struct is not a device type: its fields are not aligned for a GPU")
                );
            }
            // rustc itself checks the parentheses of `packed(N)` and `align(N)`.
            if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    if fixed {
        return Ok(());
    }
    Err(Error::new_spanned(
        &input.ident,
        "a device type needs `#[repr(C)]` or `#[repr(transparent)]`: without it Rust may order the fields as it likes",
    ))
}

/// The type parameters that have no bound.
fn unbounded_parameters(generics: &syn::Generics) -> Vec<&syn::Ident> {
    let in_where = |name: &syn::Ident| {
        generics.where_clause.iter().flat_map(|clause| &clause.predicates).any(|predicate| match predicate {
            syn::WherePredicate::Type(bounded) => {
                matches!(&bounded.bounded_ty, Type::Path(path) if path.path.is_ident(name))
            }
            _ => false,
        })
    };
    let parameters = generics.type_params().filter(|parameter| parameter.bounds.is_empty());
    parameters.map(|parameter| &parameter.ident).filter(|name| !in_where(name)).collect()
}

fn check_field(field: &Field, unbounded: &[&syn::Ident]) -> Result<()> {
    let refused = match &field.ty {
        // A pattern may name the elements of a tuple struct by their distance from the last one.
        ty if is_marker(ty) && field.ident.is_none() => {
            "a tuple struct with a `PhantomData` is not a device type: give its fields names"
        }
        Type::Path(path) if unbounded.iter().any(|&name| path.path.is_ident(name)) => {
            "a type parameter may be anything: give it the bound `DeviceType`"
        }
        Type::Reference(_) => "a reference is a host address and cannot go to a GPU; store the value itself",
        Type::Ptr(_) => "a pointer is a host address and cannot go to a GPU; store the value itself",
        Type::BareFn(_) => "a function pointer is a host address and cannot go to a GPU",
        Type::Tuple(tuple) if (2..=8).contains(&tuple.elems.len()) => return Ok(()),
        Type::Tuple(_) => {
            "a tuple of a device type has 2 to 8 parts; use a `#[repr(C)]` struct that derives `DeviceType`"
        }
        Type::Slice(_) | Type::TraitObject(_) | Type::ImplTrait(_) => {
            "a device type has a size known at compile time; use an array"
        }
        Type::Never(_) => "a field of `!` has no value",
        // rustc itself reports errors in these types.
        Type::Array(_)
        | Type::Group(_)
        | Type::Infer(_)
        | Type::Macro(_)
        | Type::Paren(_)
        | Type::Path(_)
        | Type::Verbatim(_) => return Ok(()),
        // Syntax that is newer than this list.
        _ => "this type has no counterpart in CUDA C++",
    };
    Err(Error::new_spanned(&field.ty, refused))
}

/// Whether the type is `PhantomData` by its name. The expansion checks that it is.
pub(crate) fn is_marker(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "PhantomData"),
        _ => false,
    }
}

fn member_name(member: &syn::Member) -> String {
    let name = member.to_token_stream().to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_owned()
}
