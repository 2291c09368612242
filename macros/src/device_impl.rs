//! The functions of an `impl` with `#[device]`: their checks, and their translation.

use proc_macro2::Ident;
use syn::{Error, Generics, ImplItemFn, ItemImpl, Path, Result, Signature, Type};

use crate::device_function::{check_type, parameters};
use crate::translate::{Function, Receiver, Translation, plain, translate};

/// Checks the types of the parameters. A parameter may be a reference to a value.
pub(crate) fn check_parameters(signature: &Signature) -> Result<()> {
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

/// Refuses lifetimes among the parameters of an `impl`.
pub(crate) fn check_lifetimes(generics: &Generics) -> Result<()> {
    match generics.lifetimes().next() {
        Some(lifetime) => Err(Error::new_spanned(
            lifetime,
            "a lifetime has no counterpart in CUDA C++: pass and return values",
        )),
        None => Ok(()),
    }
}

/// Translates a function. `generics` are those of the function and of its `impl`.
pub(crate) fn translation(
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

fn receiver(signature: &Signature) -> Receiver {
    match signature.receiver() {
        None => Receiver::None,
        Some(receiver) if receiver.reference.is_some() => Receiver::Reference(receiver.mutability.is_some()),
        Some(receiver) => Receiver::Value(receiver.mutability.is_some()),
    }
}

/// The name of a function in the generated source: that of the type, and its own.
fn name_of(item: &ItemImpl, method: &Ident) -> String {
    let ty = match &*item.self_ty {
        Type::Path(path) => path.path.segments.last().map(|last| plain(&last.ident)),
        _ => None,
    };
    format!("{}_{}", ty.unwrap_or_else(|| "value".to_owned()), plain(method))
}
