//! Compiles rendered sources to programs for the CPU. `tests/simt/simt.h` takes the place of CUDA,
//! with the executor behind it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;

use warpfold::plan::{Kernel, ScanPolicy};
use warpfold::source::{Source, data_of_aggregate};
use warpfold::{DeviceAggregate, DeviceMonoid, Policy};

use super::checks::code_of;
use super::cpp::compiler;
use super::templates::{templates, templates_of};

/// The checks that kernels are compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// The executor sees every access to memory.
    Accesses,
    /// AddressSanitizer and UndefinedBehaviorSanitizer.
    Sanitizers,
}

/// Kernels that are compiled to one program.
pub struct Kernels {
    /// Name and text of each template.
    templates: Vec<(String, String)>,
    /// Names of the templates that the cases use.
    used: HashSet<String>,
    cases: Vec<String>,
    checks: Checks,
}

/// An operator and a policy, with the number of the operator's first kernel in its program.
#[derive(Clone, Copy)]
pub struct Case<M, P = Policy> {
    pub(super) first: u32,
    pub operator: M,
    pub policy: P,
}

/// An aggregate: its kernels that read elements, and those that read items.
#[derive(Clone, Copy)]
pub struct AggregateCase<A: DeviceAggregate> {
    pub elements: Case<A>,
    pub items: Case<A::Operator>,
}

impl<A: DeviceAggregate> AggregateCase<A> {
    /// The same kernels with a policy that `change` makes of each.
    pub fn under(self, change: impl Fn(Policy) -> Policy) -> Self {
        let (elements, items) = (change(self.elements.policy), change(self.items.policy));
        Self { elements: self.elements.under(elements), items: self.items.under(items) }
    }
}

impl<M, P: Policies> Case<M, P> {
    /// The same kernels with another policy, which launches them for other inputs.
    pub fn under(self, policy: P) -> Self {
        Self { policy, ..self }
    }

    /// Number of a kernel in the program.
    pub(super) fn number(&self, kernel: Kernel) -> u32 {
        let at = P::KERNELS.iter().position(|&of_case| of_case == kernel);
        self.first + at.expect("a kernel that was added") as u32
    }
}

/// The policy of a primitive, which gives the kernels and their sources.
pub trait Policies: Copy + Send + 'static {
    const KERNELS: &'static [Kernel];
    fn source<A: DeviceAggregate>(&self, kernel: Kernel) -> Source;
}

/// The policy of a primitive whose later kernels reduce partials with the operator of an aggregate.
pub trait PartialPolicies: Policies {
    fn source_of_partials<M: DeviceMonoid>(&self, kernel: Kernel) -> Source;
}

impl PartialPolicies for Policy {
    fn source_of_partials<M: DeviceMonoid>(&self, kernel: Kernel) -> Source {
        Source::of_partials::<M>(self, kernel).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Policies for Policy {
    const KERNELS: &'static [Kernel] = &Kernel::ALL;
    fn source<A: DeviceAggregate>(&self, kernel: Kernel) -> Source {
        Source::of_reduction::<A>(self, kernel).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Policies for ScanPolicy {
    const KERNELS: &'static [Kernel] = &ScanPolicy::KERNELS;
    fn source<A: DeviceAggregate>(&self, kernel: Kernel) -> Source {
        Source::of_scan::<A>(self, kernel).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Kernels {
    pub fn new(checks: Checks) -> Self {
        Self::of_templates(checks, |_, text| text.to_owned())
    }

    /// As [`new`](Self::new), with templates that `change` may alter.
    pub fn of_templates(checks: Checks, change: impl Fn(&str, &str) -> String) -> Self {
        // `tests/simt/simt.h` takes the place of `intrinsics.cuh`.
        let templates = templates().into_iter().filter(|(name, _)| name != "core/intrinsics.cuh");
        let templates = templates.map(|(name, text)| (name.clone(), change(&name, &text))).collect();
        Self { templates, used: HashSet::new(), cases: Vec::new(), checks }
    }

    pub fn add<A: DeviceAggregate, P: Policies>(&mut self, operator: A, policy: P) -> Case<A, P> {
        let first = self.cases.len() as u32;
        for &kernel in P::KERNELS {
            self.add_kernel(&policy.source::<A>(kernel));
        }
        Case { first, operator, policy }
    }

    /// Adds kernels that reduce partials with the operator of an aggregate.
    pub fn add_partials<M: DeviceMonoid, P: PartialPolicies>(
        &mut self,
        operator: M,
        policy: P,
    ) -> Case<M, P> {
        let first = self.cases.len() as u32;
        for &kernel in P::KERNELS {
            self.add_kernel(&policy.source_of_partials::<M>(kernel));
        }
        Case { first, operator, policy }
    }

    /// Adds the kernels of an aggregate, under the default policies.
    pub fn add_aggregate<A: DeviceAggregate>(&mut self, aggregate: A) -> AggregateCase<A> {
        let data = data_of_aggregate::<A>();
        let elements = self.add(aggregate, Policy::for_data(&data));
        AggregateCase {
            elements,
            items: self.add_partials(aggregate.operator(), Policy::for_item(&data.item)),
        }
    }

    /// Everything that the compiler reads, without the lines that cannot change its output.
    pub(super) fn determinants(&self) -> String {
        let options = format!("{:?}", self.checks.of_kernels());
        options + &code_of(&self.used_templates()) + &code_of(&self.cases.concat())
    }

    /// Text of the templates that the cases use.
    fn used_templates(&self) -> String {
        let used = self.templates.iter().filter(|(name, _)| self.used.contains(name));
        used.map(|(name, text)| format!("#line 1 \"warpfold/templates/{name}\"\n{text}")).collect()
    }

    /// Adds a kernel, and returns its number.
    pub(super) fn add_kernel(&mut self, source: &Source) -> u32 {
        let number = self.cases.len();
        let name = source.kernel_name();
        self.used.extend(templates_of(source).into_iter().map(|(name, _)| name));
        self.cases.push(format!(
            "namespace case_{number} {{
namespace program {{ using namespace ::program; }}
{}
static void run(const void* arguments, const void* op) {{
    program::{name}(*static_cast<const program::Arguments*>(arguments), *static_cast<const program::Operator*>(op));
}}
static const bool added = (simt::add({number}, {{run}}), true);
}}
",
            // Combinations are counted, if a request asks for counts.
            source.program().replace("(arguments, op);", "(arguments, simt::counted(op));")
        ));
        number as u32
    }

    /// A program with the kernels of `tests/simt/exercises.h` alone.
    pub fn exercises() -> Self {
        let mut kernels = Self::new(Checks::Accesses);
        kernels.cases.push("#include \"exercises.h\"\n".to_owned());
        kernels
    }

    /// Compiles the program, `jobs` files at once. The error is the compiler's output.
    pub fn build(&self, jobs: usize) -> Result<Program, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let write = |name: String, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).map(|()| path).map_err(|error| error.to_string())
        };
        let (templates, mut sources) = (self.used_templates(), Vec::new());
        for (number, cases) in self.cases.chunks(12).enumerate() {
            let text = format!("#include \"simt.h\"\n{templates}{}", cases.concat());
            sources.push(write(format!("{number}.cpp"), text.as_bytes())?);
        }
        let mut objects = compile(&sources, self.checks.of_kernels(), folder.path(), jobs)?;
        for (number, object) in self.checks.runtime()?.iter().enumerate() {
            objects.push(write(format!("runtime{number}.o"), object)?);
        }
        let program = folder.path().join("kernels");
        let mut link = compiler().expect("asked for only where it is");
        link.args(&objects).args(self.checks.of_runtime()).args(["-no-pie", "-o"]).arg(&program);
        finish(link.stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?)?;
        Ok(Program { program, _folder: folder })
    }
}

impl Checks {
    /// Compiler options for kernels.
    fn of_kernels(self) -> &'static [&'static str] {
        match self {
            // A pattern in uninitialised variables, so that they are not items by chance.
            Self::Accesses => &["-fsanitize=thread", "-ftrivial-auto-var-init=pattern"],
            Self::Sanitizers => {
                &["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
            }
        }
    }

    /// Compiler options for the executor, which itself defines the functions that
    /// `-fsanitize=thread` calls.
    fn of_runtime(self) -> &'static [&'static str] {
        match self {
            Self::Accesses => &[],
            Self::Sanitizers => self.of_kernels(),
        }
    }

    /// The executor's objects. They are the same in all programs, and are compiled for the first
    /// program.
    fn runtime(self) -> Result<&'static [Vec<u8>], String> {
        static OBJECTS: [OnceLock<Result<Vec<Vec<u8>>, String>>; 2] = [const { OnceLock::new() }; 2];
        let build = || {
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let files = ["requests.cpp", "scheduler.cpp", "memory.cpp", "counts.cpp"];
            let sources = files.map(|file| runtime_folder().join(file));
            let objects = compile(&sources, self.of_runtime(), folder.path(), 2)?;
            let read = |object: &PathBuf| std::fs::read(object).map_err(|error| error.to_string());
            objects.iter().map(read).collect()
        };
        OBJECTS[self as usize].get_or_init(build).as_deref().map_err(String::clone)
    }
}

fn runtime_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("simt")
}

/// Compiles files to objects in `folder`, `jobs` files at once.
fn compile(
    sources: &[PathBuf],
    options: &[&str],
    folder: &Path,
    jobs: usize,
) -> Result<Vec<PathBuf>, String> {
    let include = format!("-I{}", runtime_folder().display());
    let (mut objects, mut running) = (Vec::new(), Vec::new());
    for (number, source) in sources.iter().enumerate() {
        if running.len() == jobs {
            finish(running.remove(0))?;
        }
        let object = folder.join(format!("{number}.o"));
        let mut command = compiler().expect("asked for only where it is");
        command.args(["-g1", "-fno-pie", &include]).args(options).arg("-c").arg(source);
        command.arg("-o").arg(&object).stderr(Stdio::piped());
        objects.push(object);
        running.push(command.spawn().map_err(|error| error.to_string())?);
    }
    running.into_iter().try_for_each(finish)?;
    Ok(objects)
}

/// Waits for a compiler. The error is its output.
fn finish(compiler: Child) -> Result<(), String> {
    let output = compiler.wait_with_output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// A compiled program of kernels.
pub struct Program {
    pub(super) program: PathBuf,
    _folder: tempfile::TempDir,
}
