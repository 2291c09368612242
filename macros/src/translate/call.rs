//! Calls of methods, of associated functions and of `#[device]` functions.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath, Path, PathArguments, parse_quote_spanned};

use super::methods::{self, Method, Returns};
use super::{Pair, Translator, all_at, of, optional, ours_at, own, plain, through};

/// In generic code only the bound `Ord` tells that a type is not a float.
const ORDER_OF_ANYTHING: &str = "of floats `min`, `max` and `clamp` leave open which zero they return; in generic code write \
     `Ord::min(a, b)` for integers, or `warpfold::math::minimum(a, b)` for floats";

const CALLS_ITSELF: &str = "a function that calls itself has no bound on a GPU's stack; use a loop";

pub(super) const PRIMITIVES: [&str; 15] = [
    "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f16", "bf16", "f32", "f64",
    "bool",
];

impl Translator<'_> {
    pub(super) fn method_call(&mut self, call: &ExprMethodCall) -> Pair {
        let name = plain(&call.method);
        if matches!(&*call.receiver, Expr::Path(path) if self.is_state(&path.path)) {
            return self.refuse(
                call,
                "a method of the operator has no counterpart in CUDA C++; write a free `#[device]` function, and pass it \
                 what it needs, `*self` if that is everything",
            );
        }
        if let Some(pair) = self.inner_call(call) {
            return pair;
        }
        if call.args.is_empty() && call.turbofish.is_none() {
            match name.as_str() {
                // `num_traits::AsPrimitive`.
                "as_" => {
                    let Pair { probe, tree } = self.primitive(&call.receiver);
                    let (slot, method) = (self.slot(call.span()), &call.method);
                    let span = call.method.span();
                    let (_, value) = ours_at(span, own("value"));
                    let cast = all_at(span, quote!(__warpfold::language::cast_of(&#value, #value.#method())));
                    return Pair {
                        probe: of(
                            slot,
                            call.span(),
                            quote!({
                                use __warpfold::language::known::AsPrimitive as _;
                                let #value = #probe;
                                #cast
                            }),
                        ),
                        tree: cast_of_number(&tree, slot),
                    };
                }
                // The methods of `half`.
                "to_f32" | "to_f64" => {
                    let Pair { probe, tree } = self.receiver(&call.receiver);
                    let probe = through("half", call.receiver.span(), probe);
                    let (slot, method) = (self.slot(call.span()), &call.method);
                    return Pair {
                        probe: of(slot, call.span(), quote!(#probe.#method())),
                        tree: cast_of_number(&tree, slot),
                    };
                }
                // The reverse of `From`. A type parameter may have an `into` from another trait, so
                // the receiver must be a number also in generic code.
                "into" => {
                    let Pair { probe, tree } = self.expression(&call.receiver, true);
                    let probe = through("number", call.receiver.span(), probe);
                    let (slot, method) = (self.slot(call.span()), &call.method);
                    return Pair {
                        probe: of(slot, call.span(), quote!(#probe.#method())),
                        tree: cast_of_number(&tree, slot),
                    };
                }
                "len" => {
                    let Pair { probe, tree } = self.expression(&call.receiver, true);
                    let probe = through("array", call.receiver.span(), probe);
                    return Pair {
                        probe: self.of_one_meaning(call, &name, &probe, &[], None),
                        tree: quote!(__warpfold::language::syntax::Expression::Length(&#tree)),
                    };
                }
                "is_some" | "is_none" => {
                    let Pair { probe, tree } = self.receiver(&call.receiver);
                    let probe = through("option", call.receiver.span(), probe);
                    let syntax = quote!(__warpfold::language::syntax::Expression);
                    let (method, is_some) = (&call.method, quote!(#syntax::Field(&#tree, "is_some")));
                    let none = quote!(::core::option::Option::None);
                    let tree = match name == "is_some" {
                        true => is_some,
                        false => quote!(#syntax::Not(&#is_some, #none)),
                    };
                    return Pair { probe: quote!(#probe.#method()), tree };
                }
                // `T::from(0.5).unwrap()` of `num_traits`.
                "unwrap" if is_constant(&call.receiver) => return self.constant_value(quote!(#call)),
                _ => {}
            }
        }
        if let ("unwrap_or", 1, None) = (name.as_str(), call.args.len(), &call.turbofish) {
            return self.unwrap_or(&call.receiver, &call.args[0]);
        }
        let refused = self.errors.len();
        let Pair { probe, tree } = self.receiver(&call.receiver);
        let Some(method) = methods::method(&name) else {
            return match methods::instead(&name) {
                // In a chain of methods, only the first refusal is reported.
                _ if self.errors.len() > refused => Pair::default(),
                Some(instead) => self.refuse(
                    &call.method,
                    format!("the method `{name}` has no counterpart in CUDA C++; {instead}"),
                ),
                None => self.method_of_a_type(call, &name, Pair { probe, tree }),
            };
        };
        if self.function.generic && is_order(&name) {
            return self.refuse(&call.method, ORDER_OF_ANYTHING);
        }
        if name.starts_with("ieee_") {
            return self.refuse(&call.method, "write `warpfold::math::minimum(a, b)`, or one of its like");
        }
        if methods::is_of_number(&name) {
            let message = format!(
                "other traits have a `{name}`, too; write `Number::{name}(a, b)`, of `warpfold::operators`"
            );
            return self.refuse(&call.method, message);
        }
        let (probes, trees): (Vec<_>, Vec<_>) =
            call.args.iter().map(|argument| self.argument(argument)).unzip();
        if let Some(turbofish) = &call.turbofish {
            return self.refuse(turbofish, "a method of a number has no type arguments");
        }
        // In generic code the bounds tell that a method is one of numbers. Elsewhere a type of the
        // user may have a method of this name.
        let callee = (!self.function.generic).then(|| {
            let function = if is_order(&name) { "order" } else { "meaning" };
            self.callee_named(function, &name, call.method.span())
        });
        let form = callee.as_ref().map(|(_, slot)| {
            let called = self.form_of(call, slot, probes.len());
            quote!({ use __warpfold::language::callee::NumberMethods as _; #called })
        });
        let probe = self.of_one_meaning(call, &name, &probe, &probes, form);
        let trees: Vec<TokenStream> = std::iter::once(tree).chain(trees).collect();
        self.method(probe, &method, &trees, None, callee.map(|(number, _)| number))
    }

    /// A method that no number has.
    fn method_of_a_type(&mut self, call: &ExprMethodCall, name: &str, receiver: Pair) -> Pair {
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
        let undeclared = undeclared(&form_name("", &call.method), quote!(self,));
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
    fn form_of(&self, call: &ExprMethodCall, slot: &Ident, arguments: usize) -> TokenStream {
        let (span, value) = ours_at(call.method.span(), own("value"));
        let form = ours_at(span, form_name("", &call.method)).1;
        let slot = ours_at(span, slot.clone()).1;
        let names = (0..arguments).map(|number| ours_at(span, own(&format!("argument_{number}"))).1);
        quote_spanned!(span=> #value.#form(&#slot, (#(#names,)*));)
    }

    /// Writes the probe of a method call, so that it compiles only if the call means the known
    /// method.
    ///
    /// For a value of a known type:
    ///
    /// - Inherent methods come before trait methods, and methods by value before methods by
    ///   reference.
    /// - The call is written once more beside a rival: a trait for all types with this method by
    ///   value. If another trait supplies the method, this call is ambiguous.
    /// - A known trait that takes its receiver by reference is brought into scope. If a second
    ///   trait supplies the method by reference, the call is ambiguous.
    ///
    /// For a value of a type parameter, the bounds alone decide:
    ///
    /// - A known trait must be among the bounds or their supertraits.
    /// - If a second bound supplies the method in the same way, the call is ambiguous.
    /// - A method by value would come before a known method by reference.
    ///   [`only_by_reference`](Self::only_by_reference) refuses it.
    fn of_one_meaning(
        &self,
        call: &ExprMethodCall,
        name: &str,
        receiver: &TokenStream,
        arguments: &[TokenStream],
        form: Option<TokenStream>,
    ) -> TokenStream {
        let word = &call.method;
        let (span, value) = ours_at(call.span(), own("value"));
        let names: Vec<Ident> =
            (0..arguments.len()).map(|number| own(&format!("argument_{number}"))).collect();
        let called = quote!(#value.#word(#(#names),*));
        let known = match (self.known_trait(name), name) {
            (Some(known), _) => {
                let known = format_ident!("{known}", span = Span::mixed_site());
                let argument = match known == "Pow" {
                    true => quote!(, #(#names),*),
                    false => TokenStream::new(),
                };
                let asked = ours_at(word.span(), known.clone()).1;
                let word_span = Span::call_site().located_at(word.span());
                let is = self.function.generic.then(|| match known == "Pow" {
                    true => {
                        quote_spanned!(word_span=> __warpfold::language::is::#asked(&#value #argument);)
                    }
                    false => quote_spanned! {word_span=> {
                        use __warpfold::language::is::{OfNumber as _, #asked::OfTrait as _};
                        (&&__warpfold::language::is::Of(&#value)).is_known();
                    }},
                });
                let alone = methods::is_by_reference(&known.to_string(), name)
                    .then(|| self.only_by_reference(word, span));
                let by_reference = matches!(name, "is_zero" | "is_one")
                    .then(|| quote!(use __warpfold::language::known::#known as _;));
                quote!(#alone #is #by_reference)
            }
            (None, "len") => TokenStream::new(),
            (None, _) if self.function.generic && form.is_none() => {
                quote_spanned!(span=> let _ = __warpfold::language::number(#value);)
            }
            (None, _) => TokenStream::new(),
        };
        // `Ord` is always in scope and has `min`, `max` and `clamp` by value, so a rival would
        // always be ambiguous.
        let rival = |receiver: TokenStream, called: &TokenStream| {
            let types: Vec<Ident> = (0..arguments.len())
                .map(|number| format_ident!("__WarpfoldArgument{number}", span = Span::call_site()))
                .collect();
            let other = Ident::new("__WarpfoldOther", Span::call_site());
            quote_spanned! {span=> {
                trait #other: Sized {
                    fn #word<#(#types),*>(#receiver, #(_: #types),*) {}
                }
                impl<T> #other for T {}
                let _ = #called;
            }}
        };
        let by_value = (!is_order(name)).then(|| rival(quote!(self), &called));
        // `len` of an array is a method of slices, which comes after all methods of the array. Of a
        // variable that is a reference, methods by reference come first.
        let of_reference = self.reference(&call.receiver).is_some() && !is_comparison(name);
        let by_reference = match of_reference {
            true => Some(rival(quote!(&self), &quote!((&#value).#word(#(#names),*)))),
            false => (name == "len").then(|| rival(quote!(&self), &called)),
        };
        quote_spanned! {span=> ({
            let #value = #receiver;
            #(let #names = #arguments;)*
            #by_value
            #by_reference
            #known
            #form
            #called
        })}
    }

    /// A probe that does not compile if a bound of a type parameter supplies the method by value.
    /// Bounds come before all other traits, so the rival trait is a bound as well.
    fn only_by_reference(&self, method: &Ident, span: Span) -> TokenStream {
        let mut generics = self.function.generics.clone();
        let types: Vec<Ident> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
        for ty in &types {
            generics.make_where_clause().predicates.push(syn::parse_quote!(#ty: __WarpfoldOther));
        }
        let (parameters, _, clause) = generics.split_for_impl();
        let values: Vec<Ident> = (0..types.len()).map(|number| own(&format!("value_{number}"))).collect();
        quote_spanned! {span=> {
            trait __WarpfoldOther: Sized {
                fn #method(self) {}
            }
            fn __warpfold_only #parameters(#(#values: #types),*) #clause {
                #(#values.#method();)*
            }
        }}
    }

    /// The known trait that supplies a method in generic code: the first one that a bound names, or
    /// else the first in the table.
    fn known_trait(&self, method: &str) -> Option<&'static str> {
        let traits = methods::traits_of(method);
        let bounds = super::names_in_bounds(self.function.generics);
        let is_named = |known: &&&str| bounds.iter().any(|name| name == **known);
        traits.iter().find(is_named).or(traits.first()).copied()
    }

    /// The receiver of a method, as a value.
    fn receiver(&mut self, receiver: &Expr) -> Pair {
        let Pair { probe, tree } = self.expression(receiver, true);
        match self.reference(receiver) {
            Some(_) => Pair { probe: quote!((*#probe)), tree },
            None => Pair { probe, tree },
        }
    }

    /// The first operand of a function of numbers.
    fn first(&mut self, operand: &Expr, function: &str) -> Pair {
        let Pair { probe, tree } = self.primitive(operand);
        if self.function.generic || !is_order(function) {
            return Pair { probe, tree };
        }
        Pair { probe: through("ordered", operand.span(), probe), tree }
    }

    /// An argument of a method. It may be a reference, as in `a.total_cmp(&b)`.
    fn argument(&mut self, argument: &Expr) -> (TokenStream, TokenStream) {
        match argument {
            Expr::Reference(inner) if inner.mutability.is_none() => {
                let Pair { probe, tree } = self.expression(&inner.expr, true);
                (quote!(&#probe), tree)
            }
            argument => {
                let Pair { probe, tree } = self.expression(argument, true);
                (probe, tree)
            }
        }
    }

    fn method(
        &mut self,
        probe: TokenStream,
        method: &Method,
        operands: &[TokenStream],
        slot: Option<usize>,
        callee: Option<usize>,
    ) -> Pair {
        self.exact &= method.exact;
        let returns = match (slot, method.returns) {
            (Some(slot), _) => quote!(Slot(#slot)),
            (None, returns) => {
                let name = format_ident!(
                    "{}",
                    match returns {
                        Returns::Same => "Same",
                        Returns::Unsigned => "Unsigned",
                        Returns::Bool => "Bool",
                        Returns::U32 => "U32",
                        Returns::Ordering => "Ordering",
                        Returns::PartialOrdering => "PartialOrdering",
                    }
                );
                quote!(#name)
            }
        };
        let (name, kinds) = (method.name, method.kinds);
        let callee = optional(callee.map(ToTokens::into_token_stream));
        let tree = quote!(__warpfold::language::syntax::Expression::Method {
            name: #name,
            kinds: #kinds,
            returns: __warpfold::language::syntax::Returns::#returns,
            operands: &[#(#operands),*],
            callee: #callee,
        });
        Pair { probe, tree }
    }

    pub(super) fn call(&mut self, call: &ExprCall) -> Pair {
        let func = match &*call.func {
            Expr::Group(inner) => &*inner.expr,
            func => func,
        };
        let Expr::Path(callee) = func else {
            return self.refuse(&call.func, "only a function can be called, by its name");
        };
        let last = callee.path.segments.last().map(|segment| plain(&segment.ident)).unwrap_or_default();
        let before = callee.path.segments.iter().rev().nth(1).map(|segment| plain(&segment.ident));
        let before = before.unwrap_or_default();
        let of_type = callee.qself.is_some() || before.starts_with(|first: char| first.is_uppercase());
        let of_type = of_type || PRIMITIVES.contains(&before.as_str());
        let is_constant = of_type || matches!(last.as_str(), "size_of" | "align_of");
        if call.args.is_empty() && is_constant {
            return self.constant_value(quote!(#call));
        }
        // `std::cmp::max(a, b)`, which is `Ord::max`.
        if before == "cmp" && matches!(last.as_str(), "max" | "min") {
            return self.associated(call, &callee.path, &last);
        }
        // A method by its path: `f32::sqrt(x)`, `Float::sqrt(x)`, `<T as Float>::sqrt(x)`.
        if of_type && !last.starts_with(|first: char| first.is_uppercase()) {
            let known = match methods::is_of_number(&last) {
                true => before == "Number",
                false => true,
            };
            let known = known
                && (PRIMITIVES.contains(&before.as_str())
                    || methods::traits_of(&last).contains(&before.as_str())
                    || self.function.has_type_parameter(&before));
            if !known {
                return self.function_of_a_type(call, callee);
            }
            return self.associated(call, &callee.path, &last);
        }
        if last == "swap"
            && let Some(pair) = self.swap(call, func)
        {
            return pair;
        }
        if let ("Some", [value]) = (last.as_str(), &call.args.iter().collect::<Vec<_>>()[..]) {
            return self.some(call, func, value);
        }
        if last.starts_with(|first: char| first.is_uppercase()) {
            return self.tuple_structure(call);
        }
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
        if here && self.imports.contains(&last) {
            return self.refuse(
                &call.func,
                "a function that the body imports is called by its path: its name may mean another device form",
            );
        }
        let (number, slot) = self.callee_named("function", &last, callee.path.segments.last().span());
        let probe = |name, arguments| quote!(#name #arguments::probe(&#slot, (#(#probes,)*)));
        Pair {
            probe: of_callee(&callee.path, probe),
            tree: quote!(__warpfold::language::syntax::Expression::Call(#number, &[#(#trees),*])),
        }
    }

    /// An associated function, or a method by its path, of a type that no number has.
    fn function_of_a_type(&mut self, call: &ExprCall, callee: &ExprPath) -> Pair {
        let Some(last) = callee.path.segments.last() else { return Pair::default() };
        let (probes, trees): (Vec<_>, Vec<_>) =
            call.args.iter().map(|argument| self.argument(argument)).unzip();
        let (span, name) = ours_at(last.ident.span(), form_name("function_", &last.ident));
        let (number, slot) = self.callee_named("meaning", &plain(&last.ident), span);
        let mut form = callee.clone();
        if let Some(last) = form.path.segments.last_mut() {
            last.ident = name.clone();
        }
        let (span, slot) = ours_at(span, slot);
        let undeclared = undeclared(&name, TokenStream::new());
        let names: Vec<Ident> = (0..probes.len()).map(|number| own(&format!("argument_{number}"))).collect();
        let probe = quote_spanned! {span=> ({
            #(let #names = #probes;)*
            { #undeclared #form(&#slot, (#(#names,)*)); }
            #callee(#(#names),*)
        })};
        Pair { probe, tree: quote!(__warpfold::language::syntax::Expression::Call(#number, &[#(#trees),*])) }
    }

    /// Passes a function through `same`, so that the probe compiles only if it is the known
    /// function.
    pub(super) fn same(&self, function: &Expr, known: TokenStream) -> TokenStream {
        let (span, same) = ours_at(function.span(), Ident::new("same", function.span()));
        let known = all_at(function.span(), known);
        quote_spanned!(span=> __warpfold::language::#same(#function, #known))
    }

    /// An associated function: `f32::from_bits(x)`, `u64::from(x)`, `f32::sqrt(x)`.
    fn associated(&mut self, call: &ExprCall, path: &Path, name: &str) -> Pair {
        let slot = self.slot(call.span());
        let func = &*call.func;
        let before =
            path.segments.iter().rev().nth(1).map(|segment| plain(&segment.ident)).unwrap_or_default();
        let before_is_a_parameter = self.function.has_type_parameter(&before);
        match name {
            "from" if call.args.len() == 1 => {
                let Pair { probe, tree } = self.primitive(&call.args[0]);
                let func = self.same(func, quote!(::core::convert::From::from));
                Pair {
                    probe: of(slot, call.span(), quote!(#func(#probe))),
                    tree: cast_of_number(&tree, slot),
                }
            }
            "from_f32" if matches!(before.as_str(), "f16" | "bf16") && call.args.len() == 1 => {
                let Pair { probe, tree } = self.primitive(&call.args[0]);
                let made = through("half", call.span(), quote!(#func(#probe)));
                Pair {
                    probe: of(slot, call.span(), made),
                    tree: cast_of_number(&tree, slot),
                }
            }
            "from_f64" => self.refuse(
                path,
                "the result of `from_f64` depends on the CPU, which may round twice; write `from_f32(x as f32)`",
            ),
            "from_bits" if before_is_a_parameter => {
                self.refuse(path, "`from_bits` of a type parameter has no known meaning; name the type")
            }
            "from_bits" => {
                let (probes, trees) = self.all(&call.args);
                let method = Method { name: "from_bits", kinds: "u", returns: Returns::Same, exact: true };
                self.method(
                    of(slot, call.span(), quote!(#func(#(#probes),*))),
                    &method,
                    &trees,
                    Some(slot),
                    None,
                )
            }
            name => {
                let Some(method) = methods::method(name) else {
                    let instead = methods::instead(name).unwrap_or("docs/OPERATORS.md lists those that are");
                    return self.refuse(path, format!("`{name}` has no counterpart in CUDA C++; {instead}"));
                };
                let is_ord = before == "Ord" || before == "cmp";
                if self.function.generic && is_order(name) && !is_ord {
                    return self.refuse(path, ORDER_OF_ANYTHING);
                }
                let mut arguments = call.args.iter();
                let Some(first) = arguments.next() else { return Pair::default() };
                let first = match first {
                    // `Ord::cmp(&a, &b)`
                    Expr::Reference(inner) if inner.mutability.is_none() => {
                        let Pair { probe, tree } = self.first(&inner.expr, name);
                        (quote!(&#probe), tree)
                    }
                    first => {
                        let Pair { probe, tree } = self.first(first, name);
                        (probe, tree)
                    }
                };
                let rest: Vec<_> = arguments.map(|argument| self.argument(argument)).collect();
                let (probes, trees): (Vec<_>, Vec<_>) = std::iter::once(first).chain(rest).unzip();
                // The function of a known trait that the path must mean.
                let word = Ident::new(name, Span::mixed_site());
                let of_trait = |known: &str| {
                    let known = format_ident!("{known}", span = Span::mixed_site());
                    quote!(__warpfold::language::known::#known::#word)
                };
                let known = if before == "cmp" {
                    Some(quote!(::core::cmp::#word))
                } else if methods::traits_of(name).contains(&before.as_str()) {
                    Some(of_trait(&before))
                } else if before_is_a_parameter {
                    let Some(known) = self.known_trait(name) else {
                        return self.refuse(
                            path,
                            format!("`{name}` of a type parameter has no known meaning; call it on a value of a known type"),
                        );
                    };
                    Some(of_trait(known))
                } else {
                    // A path of a number names an inherent function. `is_zero`, `is_one` and
                    // `ieee_*` are functions of traits.
                    (matches!(name, "is_zero" | "is_one") || name.starts_with("ieee_"))
                        .then(|| self.known_trait(name).map(of_trait))
                        .flatten()
                };
                let func = match known {
                    Some(known) => self.same(func, known),
                    None => quote!(#func),
                };
                // The tree derives the result's type from the method. The slot only receives it in
                // the probe.
                self.method(of(slot, call.span(), quote!(#func(#(#probes),*))), &method, &trees, None, None)
            }
        }
    }
}

/// A conversion that only numbers have in this form.
fn cast_of_number(tree: &TokenStream, slot: usize) -> TokenStream {
    let syntax = quote!(__warpfold::language::syntax::Expression);
    quote!(#syntax::Cast(&#syntax::OfNumber(&#tree), #slot))
}

/// The name of a method's form, which an `impl` with `#[device]` has beside the method. `kind` is
/// empty for the form of a method with a receiver.
pub(crate) fn form_name(kind: &str, name: &Ident) -> Ident {
    Ident::new(&format!("__warpfold_{kind}{}", plain(name)), name.span())
}

/// A form of this name for every type. A form in an `impl` comes first.
fn undeclared(form: &Ident, receiver: TokenStream) -> TokenStream {
    let name = Ident::new("__WarpfoldUndeclared", Span::call_site());
    quote! {
        trait #name: Sized {
            fn #form<A>(#receiver _: &__warpfold::language::Slot<__warpfold::language::callee::Undeclared<Self>>, _: A) {}
        }
        impl<T> #name for T {}
    }
}

impl Translator<'_> {
    /// `option.unwrap_or(other)`
    fn unwrap_or(&mut self, option: &Expr, other: &Expr) -> Pair {
        let [value, default] = ["value_of_option", "default_of_option"]
            .map(|name| format_ident!("{name}_{}", self.slots.len(), span = Span::mixed_site()));
        let choice: Expr = parse_quote_spanned! {option.span()=> {
            let #value = #option;
            let #default = #other;
            match #value { Some(#value) => #value, None => #default }
        }};
        self.expression(&choice, true)
    }

    /// `Some(value)`. An option is a `warpfold::Maybe` on a GPU, and `None` is a constant.
    fn some(&mut self, call: &ExprCall, function: &Expr, value: &Expr) -> Pair {
        let Pair { probe, tree } = self.expression(value, true);
        let (slot, function) =
            (self.slot(call.span()), self.same(function, quote!(::core::option::Option::Some)));
        let syntax = quote!(__warpfold::language::syntax::Expression);
        Pair {
            probe: of(slot, call.span(), quote!(#function(#probe))),
            tree: quote! {
                #syntax::Struct {
                    ty: #slot,
                    fields: &[("value", #tree), ("is_some", #syntax::Bool(true))],
                    base: ::core::option::Option::None,
                }
            },
        }
    }
}

/// Mentions an item of the type beside a `#[device]` function, for example its `probe`.
///
/// A function without `#[device]` has no type beside it. Then the name means
/// `undeclared::warpfold_callee`: an explicit import comes before a glob import, separately for
/// types and for values.
pub(super) fn of_callee(path: &Path, what: impl Fn(Ident, PathArguments) -> TokenStream) -> TokenStream {
    let mut path = path.clone();
    let arguments = path.segments.last_mut().map(|last| std::mem::take(&mut last.arguments));
    let name = format_ident!("warpfold_callee", span = path.segments.last().span());
    let what = what(name.clone(), arguments.unwrap_or_default());
    quote! {({
        #[allow(unused_imports)]
        use __warpfold::language::undeclared::*;
        use #path as #name;
        #what
    })}
}

/// Whether an expression calls an associated function with literals only.
fn is_constant(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    let of_type =
        matches!(&*call.func, Expr::Path(path) if path.qself.is_some() || path.path.segments.len() > 1);
    of_type
        && call.args.iter().all(|argument| match argument {
            Expr::Unary(unary) => matches!(&*unary.expr, Expr::Lit(_)),
            argument => matches!(argument, Expr::Lit(_)),
        })
}

/// Whether a trait that is always in scope supplies the method by reference.
fn is_comparison(method: &str) -> bool {
    matches!(method, "cmp" | "partial_cmp" | "eq" | "ne" | "lt" | "le" | "gt" | "ge")
}

fn is_order(method: &str) -> bool {
    matches!(method, "min" | "max" | "clamp")
}
