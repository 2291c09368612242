//! The CUDA C++ of operators, compiled for the CPU by the system's C++ compiler.

use std::ffi::{OsString, c_void};
use std::process::Command;
use std::sync::{LazyLock, OnceLock};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use warpfold::source::data_of_aggregate;
use warpfold::{Device, DeviceAggregate, DeviceMonoid, DeviceType, Item, Reduction, Value};

use super::edges::Edge;
use super::templates::templates;

/// The system's C++ compiler, if there is one.
pub fn compiler() -> Option<Command> {
    static FOUND: LazyLock<Option<(OsString, Vec<OsString>)>> = LazyLock::new(|| {
        let command = find_compiler()?;
        Some((command.get_program().to_owned(), command.get_args().map(ToOwned::to_owned).collect()))
    });
    let (program, arguments) = FOUND.as_ref()?;
    let mut command = Command::new(program);
    command.args(arguments);
    Some(command)
}

fn find_compiler() -> Option<Command> {
    let target = match std::env::consts::OS {
        "macos" => format!("{}-apple-darwin", std::env::consts::ARCH),
        _ => format!("{}-unknown-linux-gnu", std::env::consts::ARCH),
    };
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").host(&target).target(&target).opt_level(1).debug(false).warnings(false);
    let mut command = build.cargo_metadata(false).cargo_warnings(false).try_get_compiler().ok()?.to_command();
    // GCC 12 takes `0.0 - double(x)` for `-double(x)` if x is an unsigned integer, and so gives -0 for
    // x = 0, unless the direction of rounding may vary.
    // Ubuntu's GCC checks each `longjmp` unless told otherwise, and the executor jumps between stacks.
    command.args(["-w", "-ffp-contract=off", "-frounding-math", "-U_FORTIFY_SOURCE"]);
    let found = Command::new(command.get_program()).arg("--version").output();
    found.is_ok_and(|output| output.status.success()).then_some(command)
}

/// The version that the compiler prints.
pub fn compiler_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let output = compiler()
            .and_then(|compiler| Command::new(compiler.get_program()).arg("--version").output().ok());
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    });
    &VERSION
}

/// The compiled steps of an aggregate.
#[derive(Clone, Copy)]
pub struct Steps {
    /// The parameters are the operator, the index, the parts of the element, and the item.
    prepare: unsafe extern "C" fn(*const c_void, u64, *const *const c_void, *mut c_void),
    /// The parameters are the operator, the item, the count, and the result.
    present: unsafe extern "C" fn(*const c_void, *const c_void, u64, *mut c_void),
}

/// A compiled `combine`. The parameters are the operator, the left item, the right item and the
/// result.
pub type Combine = unsafe extern "C" fn(*const c_void, *const c_void, *const c_void, *mut c_void);

/// Operators in one C++ library, which is compiled when a test first needs a function of it.
#[derive(Default)]
pub struct Library {
    source: String,
    loaded: OnceLock<libloading::Library>,
}

impl Library {
    pub fn add<M: DeviceMonoid>(&mut self, number: usize, operator: M) {
        let source =
            Reduction::with(Device::cpu(), operator).source().unwrap_or_else(|error| panic!("{error}"));
        self.source.push_str(&format!(
            "namespace case_{number} {{
             namespace program {{ using namespace ::program; }}
             {}
             extern \"C\" void combine_{number}(const program::Operator& op, const program::Item& left,
                                                const program::Item& right, program::Item& out) {{
                 out = op.combine(left, right);
             }}
             }}\n",
            source.definitions()
        ));
    }

    /// Adds the steps of an aggregate of one or two arrays.
    pub fn add_aggregate<A: DeviceAggregate>(&mut self, number: usize, aggregate: A) {
        let source =
            Reduction::with(Device::cpu(), aggregate).source().unwrap_or_else(|error| panic!("{error}"));
        self.source.push_str(&format!(
            "namespace case_{number} {{
             namespace program {{ using namespace ::program; }}
             {}
             typedef program::Operator::Element Element;
             template <class... Part, unsigned... K>
             Element element(const void* const* parts, ::warpfold::TypeList<Part...>, std::integer_sequence<unsigned, K...>) {{
                 return Element{{*static_cast<const Part*>(parts[K])...}};
             }}
             template <class... Part>
             Element element(const void* const* parts, ::warpfold::TypeList<Part...> list) {{
                 return element(parts, list, std::make_integer_sequence<unsigned, sizeof...(Part)>());
             }}
             extern \"C\" void prepare_{number}(const program::Operator& op, unsigned long long index,
                                                const void* const* parts, program::Item& out) {{
                 out = op.prepare(index, element(parts, program::Operator::Parts()));
             }}
             extern \"C\" void present_{number}(const program::Operator& op, const program::Item& item,
                                                unsigned long long count, program::Operator::Output& out) {{
                 out = op.present(item, count);
             }}
             }}\n",
            source.definitions()
        ));
    }

    pub fn combine(&self, number: usize) -> Combine {
        // SAFETY: `add` has declared the function with this signature.
        unsafe { *self.function(&format!("combine_{number}")) }
    }

    pub fn steps(&self, number: usize) -> Steps {
        // SAFETY: `add_aggregate` has declared the functions with these signatures.
        unsafe {
            Steps {
                prepare: *self.function(&format!("prepare_{number}")),
                present: *self.function(&format!("present_{number}")),
            }
        }
    }

    /// # Safety
    ///
    /// The function has the type `F`.
    unsafe fn function<F>(&self, name: &str) -> libloading::Symbol<'_, F> {
        // SAFETY: as the caller promises.
        unsafe { self.loaded().get(format!("{name}\0").as_bytes()) }.expect("in the library")
    }

    /// Compiles the library if no call has done so.
    pub fn loaded(&self) -> &libloading::Library {
        self.loaded.get_or_init(|| {
            let folder = tempfile::tempdir().expect("a folder for temporary files");
            let (source, library) = (folder.path().join("operators.cpp"), folder.path().join("liboperators.so"));
            std::fs::write(&source, before() + &self.source).expect("writable");
            // Undefined behaviour of C++ ends the process.
            let options = "-shared -fPIC -Wno-psabi -fmax-errors=20 -fno-sanitize-recover=all -fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error";
            let mut command = compiler().expect("asked for only where it is");
            let status = command.args(options.split(' ')).arg("-o").arg(&library).arg(&source).status();
            if !status.expect("starts").success() {
                panic!("{:?} does not compile", folder.keep().join("operators.cpp"));
            }
            // SAFETY: the library has no initialisers of its own.
            unsafe { libloading::Library::new(&library) }.expect("a library")
        })
    }
}

/// The text before the types and operators: the templates that do not use threads, on top of
/// `host.h` for the CPU.
fn before() -> String {
    let templates = templates().into_iter().skip_while(|(name, _)| name != "core/types.cuh");
    let without_threads = templates.take_while(|(name, _)| name != "core/words.cuh").map(|(_, text)| text);
    std::iter::once(include_str!("host.h").to_owned()).chain(without_threads).collect()
}

/// Combines two items by a compiled `combine`.
pub fn call<M: DeviceMonoid>(operator: M, combine: Combine, left: M::Item, right: M::Item) -> M::Item {
    let (mut out, operator) = (left, DeviceAggregate::operator(&operator));
    // SAFETY: the function reads two items and an operator, and writes one item.
    unsafe {
        combine(
            (&raw const operator).cast(),
            (&raw const left).cast(),
            (&raw const right).cast(),
            (&raw mut out).cast(),
        );
    }
    out
}

/// Asserts that the compiled `combine` returns the operator's bits, for `count` pairs of items.
pub fn check<M: DeviceMonoid>(operator: M, combine: Combine, count: u32)
where
    M::Item: Edge,
{
    let pairs = (<M::Item as Edge>::strategy(), <M::Item as Edge>::strategy());
    let checked = runner(count).run(&pairs, |(left, right)| {
        same_bits(call(operator, combine, left, right), operator.combine(left, right))
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}

/// Asserts that the compiled steps return the aggregate's bits, for `count` elements and items.
pub fn check_steps<A: DeviceAggregate<Input: Edge, Output: Edge>>(aggregate: A, steps: Steps, count: u32)
where
    Item<A>: Edge,
{
    let (operator, index) = (aggregate.operator(), <u64 as Edge>::strategy());
    let operator = (&raw const operator).cast();
    let elements = (index.clone(), <A::Input as Edge>::strategy());
    let prepared = runner(count).run(&elements, |(index, element)| {
        let expected = aggregate.prepare(index, element);
        let mut got = expected;
        let whole = vec![(&raw const element).cast()];
        let parts = if data_of_aggregate::<A>().elements.len() == 1 { whole } else { element.parts() };
        // SAFETY: the function reads an operator and the parts of an element, and writes an item.
        unsafe { (steps.prepare)(operator, index, parts.as_ptr(), (&raw mut got).cast()) };
        same_bits(got, expected)
    });
    prepared.unwrap_or_else(|error| panic!("prepare: {error}"));
    let presented = runner(count).run(&(<Item<A> as Edge>::strategy(), index), |(item, count)| {
        let expected = aggregate.present(item, count);
        // SAFETY: zeros are a valid value of every device type.
        let mut got: <A::Output as Value>::Stored = unsafe { std::mem::zeroed() };
        // SAFETY: the function reads an operator and an item, and writes a result.
        unsafe { (steps.present)(operator, (&raw const item).cast(), count, (&raw mut got).cast()) };
        same_bits(A::Output::from_stored(got), expected)
    });
    presented.unwrap_or_else(|error| panic!("present: {error}"));
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

fn same_bits<T: Edge>(got: T, expected: T) -> Result<(), TestCaseError> {
    match DeviceType::same_bits(&got, &expected) {
        true => Ok(()),
        false => Err(TestCaseError::fail(format!("got {got:?}, Rust says {expected:?}"))),
    }
}
