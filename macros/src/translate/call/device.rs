//! Calls of functions and methods that have `#[device]`, by their forms.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ExprCall, ExprMethodCall, ExprPath, Path, PathArguments};

use crate::standard_names::is_standard;
use crate::translate::{Pair, Translator, all_at, hash, ours_at, own, plain};

/// The associated functions of types of other crates, which return `Self`.
const CONSTRUCTORS: [&str; 4] = ["new", "splat", "from_cols", "from_xyzw"];

const CALLS_ITSELF: &str = "a function that calls itself has no bound on a GPU's stack; use a loop";

impl Translator<'_> {
    /// A free function. `last` is the last segment of its path.
    pub(super) fn free_function(&mut self, call: &ExprCall, callee: &ExprPath, last: &str) -> Pair {
        let here = callee.path.segments.len() == 1
            || callee.path.segments.first().is_some_and(|first| first.ident == "self");
        if here && self.function.name.is_some_and(|name| last == plain(name)) {
            return self.refuse(&call.func, CALLS_ITSELF);
        }
        if callee.path.get_ident().is_some_and(|name| self.local(name).is_some()) {
            // A closure is refused where it is written.
            if !self.errors.is_empty() {
                return Pair::default();
            }
            return self.refuse(&call.func, "only a `#[device]` function can be called, by its name");
        }
        let (probes, trees) = self.all(&call.args);
        if here && self.imports.contains(last) {
            return self.refuse(
                &call.func,
                "a function that the body imports is called by its path: its name may mean another device form",
            );
        }
        let (number, slot) = self.callee_named("function", last, callee.path.segments.last().span());
        let probe =
            |form: TokenStream, function: TokenStream| quote!(#form.probe(&#slot, #function, (#(#probes,)*)));
        Pair {
            probe: of_callee(&callee.path, probe),
            tree: quote!(__warpfold::language::syntax::Expression::Call(#number, &[#(#trees),*])),
        }
    }

    /// An associated function, or a method by its path, of a type that no number has.
    pub(super) fn function_of_a_type(&mut self, call: &ExprCall, callee: &ExprPath) -> Pair {
        let Some(last) = callee.path.segments.last() else { return Pair::default() };
        let (probes, trees): (Vec<_>, Vec<_>) =
            call.args.iter().map(|argument| self.argument(argument)).unzip();
        let (span, name) = ours_at(last.ident.span(), form_name("function_", &last.ident));
        let (number, slot) = self.callee_named("meaning", &plain(&last.ident), span);
        let mut form = callee.clone();
        if let Some(last) = form.path.segments.last_mut() {
            last.ident = name.clone();
        }
        let makes = CONSTRUCTORS.contains(&plain(&last.ident).as_str());
        let undeclared = undeclared(&name, &last.ident, TokenStream::new(), makes);
        let names: Vec<Ident> = (0..probes.len()).map(|number| own(&format!("argument_{number}"))).collect();
        let form = quote_spanned!(span=> #form(&#slot, (#(#names,)*)));
        let probe = match makes {
            false => quote_spanned! {span=> ({
                #(let #names = #probes;)*
                { #undeclared #form; }
                #callee(#(#names),*)
            })},
            true => quote_spanned! {span=> ({
                #(let #names = #probes;)*
                let __warpfold_made = #callee(#(#names),*);
                { #undeclared __warpfold::language::callee::made(&__warpfold_made, #form); }
                __warpfold_made
            })},
        };
        Pair { probe, tree: quote!(__warpfold::language::syntax::Expression::Call(#number, &[#(#trees),*])) }
    }

    /// A method that no number has.
    pub(super) fn method_of_a_type(&mut self, call: &ExprMethodCall, name: &str, receiver: Pair) -> Pair {
        if let Some(turbofish) = &call.turbofish {
            return self.refuse(
                turbofish,
                "a method with type arguments is called by its path: `Type::method::<T>(a)`",
            );
        }
        let (probes, trees): (Vec<_>, Vec<_>) =
            call.args.iter().map(|argument| self.argument(argument)).unzip();
        let (number, slot) = self.callee_named("meaning", name, call.method.span());
        let called = self.form_of(call, &slot, probes.len());
        let undeclared = undeclared(&form_name("", &call.method), &call.method, quote!(self,), false);
        let form = quote!({ #undeclared #called });
        let (receiver, tree) = (receiver.probe, receiver.tree);
        let probe = self.of_one_meaning(call, name, &receiver, &probes, Some(form));
        Pair {
            probe,
            tree: quote!(__warpfold::language::syntax::Expression::Call(#number, &[#tree #(, #trees)*])),
        }
    }

    /// The call of a method's form, which gives the slot its type. The receiver and the arguments
    /// have the names of [`of_one_meaning`](Self::of_one_meaning).
    pub(super) fn form_of(&self, call: &ExprMethodCall, slot: &Ident, arguments: usize) -> TokenStream {
        let (span, value) = ours_at(call.method.span(), own("value"));
        let form = ours_at(span, form_name("", &call.method)).1;
        let names = (0..arguments).map(|number| ours_at(span, own(&format!("argument_{number}"))).1);
        quote_spanned!(span=> #value.#form(&#slot, (#(#names,)*));)
    }
}

/// The name of a method's form, which an `impl` with `#[device]` has beside the method. `kind` is
/// empty for the form of a method with a receiver.
pub(crate) fn form_name(kind: &str, name: &Ident) -> Ident {
    Ident::new(&format!("__warpfold_{kind}{}", plain(name)), name.span())
}

/// A form of a method for every type. A form in an `impl` comes first.
fn undeclared(form: &Ident, method: &Ident, receiver: TokenStream, makes: bool) -> TokenStream {
    let name = Ident::new("__WarpfoldUndeclared", Span::call_site());
    let method = hash(&plain(method));
    let (result, value) = match makes {
        true => (
            quote!(-> __warpfold::language::callee::Made<Self>),
            quote!(::core::unreachable!("probes are never run")),
        ),
        false => (TokenStream::new(), TokenStream::new()),
    };
    quote! {
        trait #name: Sized {
            fn #form<A>(
                #receiver
                _: &__warpfold::language::Slot<__warpfold::language::callee::Undeclared<Self, #method>>,
                _: A,
            ) #result { #value }
        }
        impl<T> #name for T {}
    }
}

/// An expression that mentions the form and the function that a path names. `what` makes it of the
/// two.
///
/// What stands beside a `#[device]` function leads to its form: see `device_key`. A function without
/// `#[device]` has nothing beside it. Then the name means `undeclared::warpfold_callee`, which the
/// outer block imports: rustc looks each of the function, the type and the macro up from the inside.
fn of_callee(path: &Path, what: impl Fn(TokenStream, TokenStream) -> TokenStream) -> TokenStream {
    let mut path = path.clone();
    let Some(last) = path.segments.last_mut() else { return TokenStream::new() };
    let mut turbofish = std::mem::take(&mut last.arguments);
    if let PathArguments::AngleBracketed(arguments) = &mut turbofish {
        arguments.colon2_token = Some(Default::default());
    }
    let name = format_ident!("warpfold_callee", span = last.span());
    let form = match is_standard(&plain(&last.ident)) {
        true => quote!(#name #turbofish::form()),
        false => {
            // rustc reports a macro of the user with this name here.
            let asked = all_at(last.span(), quote!(@warpfold));
            quote!(#name!(#asked __warpfold #turbofish))
        }
    };
    let what = what(form, quote!(#name #turbofish));
    quote! {({
        #[allow(unused_imports)]
        use __warpfold::language::undeclared::warpfold_callee as #name;
        {
            #[allow(unused_imports)]
            use #path as #name;
            #what
        }
    })}
}
