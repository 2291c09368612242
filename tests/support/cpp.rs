//! The CUDA C++ of operators, compiled for the CPU by the system's C++ compiler.

use std::ffi::{OsString, c_void};
use std::process::Command;
use std::sync::{LazyLock, OnceLock};

use proptest::test_runner::{Config, TestCaseError, TestRunner};
use warpfold::{Device, DeviceMonoid, Reduction};

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
    command.args(["-w", "-ffp-contract=off"]);
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

    pub fn combine(&self, number: usize) -> Combine {
        let library = self.loaded.get_or_init(|| {
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
        });
        let name = format!("combine_{number}\0");
        // SAFETY: `add` has declared the function with this signature.
        *unsafe { library.get::<Combine>(name.as_bytes()) }.expect("in the library")
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
    let mut out = left;
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
    let mut runner = TestRunner::new(Config { cases: count, failure_persistence: None, ..Config::default() });
    let pairs = (M::Item::strategy(), M::Item::strategy());
    let checked = runner.run(&pairs, |(left, right)| {
        let (got, expected) = (call(operator, combine, left, right), operator.combine(left, right));
        match warpfold::DeviceType::same_bits(&got, &expected) {
            true => Ok(()),
            false => Err(TestCaseError::fail(format!("got {got:?}, Rust says {expected:?}"))),
        }
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}
