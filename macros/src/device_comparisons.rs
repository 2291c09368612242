//! `#[device]` above the derives of a type: keeps the type, and adds the CUDA C++ forms of the
//! comparisons that it derives.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Error, ItemImpl, Member, Path, Result, parse_quote};

use crate::device_operator_trait::operator;
use crate::device_type::{integer_repr, is_marker};

pub(crate) fn expand(item: DeriveInput, warpfold: &Path) -> TokenStream {
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
