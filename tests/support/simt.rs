//! Runs rendered sources on the CPU, each GPU thread as a fiber: see `tests/simt/requests.cpp`.

use std::io::{Read, Write};
use std::mem::offset_of;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, OnceLock};

use warpfold::plan::{Data, Limits, ScanLaunch, ScanPolicy};
use warpfold::source::{Arguments, ArrayInput, ScanArguments, data_of_aggregate};
use warpfold::{DeviceAggregate, DeviceMonoid, DeviceType, Layout, Value, tree};

use super::checks::{Check, digest};
use super::cpp::compiler_version;
use super::drawn::{Drawn, arrays_of};
use super::input_bytes::{InputBytes, NO_ARRAY, bytes, values};
use super::items::{Sample, Sampler, items};
use super::programs::{AggregateCase, Case, Checks, Kernels, Policies, Program};
use super::selection;
use super::tiers::{Suite, Tier};

/// A running program of kernels.
pub struct Executor {
    child: Child,
    requests: ChildStdin,
    answers: ChildStdout,
    /// Determines the order in which threads advance.
    pub seed: u64,
}

impl Drop for Executor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    pub fn start(&self, seed: u64) -> Executor {
        let mut command = Command::new(&self.program);
        command.env("ASAN_OPTIONS", "detect_stack_use_after_return=0:detect_leaks=0");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
        let (requests, answers) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Executor { child, requests, answers, seed }
    }
}

/// The seed of this run's executors.
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| match std::env::var("WARPFOLD_SIMT_SEED") {
        Ok(seed) => seed.parse().expect("a number"),
        Err(_) => selection::Request::of_environment().seed,
    })
}

/// Kernels that are compiled when the first test wants one.
pub struct Group {
    kernels: Kernels,
    program: OnceLock<Program>,
}

impl Group {
    pub fn new(kernels: Kernels) -> Self {
        Self { kernels, program: OnceLock::new() }
    }

    /// Everything that the compiler reads.
    pub fn determinants(&self) -> String {
        self.kernels.determinants()
    }

    pub fn start(&self, seed: u64) -> Executor {
        let build = || self.kernels.build(2).unwrap_or_else(|said| panic!("{said}"));
        self.program.get_or_init(build).start(seed)
    }
}

/// Files that determine the outcome of a check on the executor, besides its program and its
/// operator: the executor, the launches, the items and the oracle.
const DETERMINANTS: [&str; 11] = [
    "tests/simt/*.cpp",
    "tests/simt/*.h",
    "tests/support/cpp.rs",
    "tests/support/input_bytes.rs",
    "tests/support/items.rs",
    "tests/support/policies.rs",
    "tests/support/programs.rs",
    "tests/support/rungs.rs",
    "tests/support/simt.rs",
    "tests/support/templates.rs",
    "src/operators/tree.rs",
];

impl Check {
    /// Adds the determinants of a check on the executor, except its program and its operator.
    /// `files` define the check.
    pub fn on_executor(self, files: &[&str]) -> Self {
        self.determined_by(digest(&DETERMINANTS))
            .determined_by(digest(files))
            .determined_by(compiler_version())
    }
}

/// Checks of one kind on the executor.
pub struct Tests<'a> {
    suite: &'a mut Suite,
    base: Check,
    checks: Checks,
}

/// A program, and the common part of its checks.
pub struct Subject<C> {
    group: Arc<Group>,
    pub case: C,
    check: Check,
}

impl<'a> Tests<'a> {
    /// `files` define the tests: their digest is a determinant of every check.
    pub fn new(suite: &'a mut Suite, kind: &'static str, checks: Checks, files: &[&str]) -> Self {
        Self { suite, base: Check::of(kind).on_executor(files), checks }
    }

    /// A program with the kernels that `add` adds. `behavior` is the operator's results in Rust, as
    /// bytes.
    pub fn subject<C>(
        &self,
        name: &str,
        behavior: Vec<u8>,
        add: impl FnOnce(&mut Kernels) -> C,
    ) -> Subject<C> {
        let mut kernels = Kernels::new(self.checks);
        let case = add(&mut kernels);
        let check = self.base.clone().factor("operator", name).determined_by(kernels.determinants());
        Subject { group: Arc::new(Group::new(kernels)), case, check: check.determined_by(behavior) }
    }

    /// Adds a check of a subject. `with` adds its further factors.
    pub fn check<C: Copy + Send + 'static>(
        &mut self,
        subject: &Subject<C>,
        name: String,
        with: impl FnOnce(Check) -> Check,
        test: impl FnOnce(&mut Executor, C) + Send + 'static,
    ) {
        let (group, case) = (subject.group.clone(), subject.case);
        let run = move || test(&mut group.start(seed()), case);
        self.suite.check(Tier::Simt, with(subject.check.clone()), name, run);
    }

    /// Adds a check of an operator under a policy, with a program of its own.
    pub fn test<M: DeviceMonoid, P: Policies>(
        &mut self,
        name: String,
        operator: M,
        policy: P,
        test: impl FnOnce(&mut Executor, Case<M, P>) + Send + 'static,
    ) {
        self.test_of(name, |kernels| kernels.add(operator, policy), test);
    }

    /// Adds a check with a program of its own, whose kernels `add` adds.
    pub fn test_of<C: Copy + Send + 'static>(
        &mut self,
        name: String,
        add: impl FnOnce(&mut Kernels) -> C,
        test: impl FnOnce(&mut Executor, C) + Send + 'static,
    ) {
        // The operators of these checks are translated, so their C++ determines their results.
        let subject = self.subject(&name, Vec::new(), add);
        self.check(&subject, name, |check| check, test);
    }
}

/// Results of an operator in Rust, for the items that it is tested with. If an operator is written
/// twice, its C++ does not determine these results.
pub fn behavior<M: DeviceMonoid>(operator: &M, sampler: Sampler<M::Item>) -> Vec<u8>
where
    M::Item: Sample,
{
    let fold = |items: Vec<M::Item>| {
        let literal = format!("{:?}", tree::inclusive_scan(operator, &items));
        literal.into_bytes()
    };
    [fold(items(1, 300, M::Item::sample)), fold(items(1, 1000, sampler))].concat()
}

/// Few multiprocessors, so that a block takes several tiles.
const LIMITS: Limits = Limits { multiprocessors: 2, ..Limits::H200 };

/// The options of a scan.
#[derive(Clone, Copy, Debug)]
pub struct ScanOptions {
    pub exclusive: bool,
    /// Whether the output is the input.
    pub in_place: bool,
    /// Items past an aligned address, for the input and for the output.
    pub misalignment: (usize, usize),
}

/// Offsets in a kernel's first parameter, in bytes, of the addresses that the executor fills in.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct AddressOffsets {
    pub(super) input: u32,
    pub(super) output: u32,
    pub(super) words: u32,
    pub(super) bounds: u32,
    /// Of the second word of `words`.
    pub(super) second_word: u32,
}

/// The first parameter of a kernel up to the identity, and its `AddressOffsets`. `$words` is the
/// field with the address of the words that blocks share. `$arrays` is the number of arrays, or
/// none if elements are items.
macro_rules! before_identity {
    ($arguments:ident<$input:ty> { $words:ident, $($field:ident $(: $value:expr)?),* $(,)? }) => {{
        type Of = $arguments<$input, [u8; 0]>;
        // SAFETY: all fields are numbers, for which zeros are valid.
        let none: Of = unsafe { std::mem::zeroed() };
        let fields = Of { $($field $(: $value)?,)* ..none };
        let places = AddressOffsets {
            input: offset_of!(Of, input) as u32,
            output: offset_of!(Of, output) as u32,
            words: offset_of!(Of, $words) as u32,
            ..AddressOffsets::default()
        };
        (bytes(&[fields])[..offset_of!(Of, identity)].to_vec(), places)
    }};
    ($arrays:expr, $arguments:ident $fields:tt) => {
        match $arrays {
            None => before_identity!($arguments<ArrayInput> $fields),
            Some(0) => before_identity!($arguments<ArrayInput<u64, [u64; 0]>> $fields),
            Some(1) => before_identity!($arguments<ArrayInput<u64>> $fields),
            Some(2) => before_identity!($arguments<ArrayInput<u64, [u64; 2]>> $fields),
            Some(3) => before_identity!($arguments<ArrayInput<u64, [u64; 3]>> $fields),
            Some(8) => before_identity!($arguments<ArrayInput<u64, [u64; 8]>> $fields),
            Some(count) => panic!("add {count} arrays here"),
        }
    };
}

/// An operator's data as a kernel gets them, in bytes, so that little Rust is compiled for each
/// operator.
pub(super) struct Operands {
    item: Layout,
    identity: Vec<u8>,
    state: Vec<u8>,
}

impl Operands {
    pub(super) fn of<M: DeviceMonoid>(operator: &M) -> Self {
        let (identity, state) = (bytes(&[operator.identity()]), state(operator));
        Self { item: M::Item::layout(), identity, state }
    }

    /// The fields before the identity, and then the identity where Rust and C++ place it.
    pub(super) fn arguments(&self, mut arguments: Vec<u8>) -> Vec<u8> {
        arguments.resize(arguments.len().next_multiple_of(self.item.align), 0);
        arguments.extend(&self.identity);
        arguments.resize(arguments.len().next_multiple_of(self.item.align.max(8)), 0);
        arguments
    }
}

/// The kernels of a reduction: of the first launch, and of the later ones.
struct ReduceKernels {
    first: Case<()>,
    later: Case<()>,
    /// The layout of an element of each array, if elements are not the items.
    elements: Option<Data>,
    /// The operator of the last launch, in bytes, and the size of its output.
    last: (Vec<u8>, usize),
}

/// The kernels of a scan.
struct ScanKernels {
    case: Case<(), ScanPolicy>,
    /// The number of arrays, if elements are not the items.
    arrays: Option<usize>,
    /// Bytes of the output, and its distance from an aligned address.
    output: (usize, usize),
}

/// Number of blocks that run at once. It is small, so that each block takes several chunks, some of
/// them by ticket.
fn resident(chunks: u32) -> u32 {
    (chunks / 4).max(1)
}

/// A request for a launch, as `tests/simt/requests.cpp` reads it.
#[repr(C)]
#[derive(Default)]
pub(super) struct Request {
    pub(super) kernel: u32,
    pub(super) blocks: u32,
    pub(super) threads: u32,
    pub(super) misalignment: u32,
    pub(super) output_misalignment: u32,
    pub(super) in_place: u32,
    pub(super) places: AddressOffsets,
    pub(super) seed: u64,
    pub(super) shared: u64,
    pub(super) arguments: u64,
    pub(super) op: u64,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) words: u64,
    pub(super) count: u64,
    pub(super) early: u64,
    pub(super) arrays: u64,
    pub(super) bounds: u64,
    pub(super) bound_bytes: u64,
    pub(super) may_have_gaps: u64,
}

/// The operator as a kernel gets it. Without state it is an empty struct, which has one byte in
/// C++.
pub(super) fn state<M>(operator: &M) -> Vec<u8> {
    if size_of::<M>() > 0 { bytes(std::slice::from_ref(operator)) } else { vec![0] }
}

impl Executor {
    /// Reduces items by the launches of the policy. The input lies `misalignment` alignments past
    /// an aligned address. The error says what went wrong.
    pub fn bracket<M: DeviceMonoid>(
        &mut self,
        case: Case<M>,
        items: &[M::Item],
        misalignment: usize,
    ) -> Result<M::Item, String> {
        let operands = Operands::of(&case.operator);
        let kernels = ReduceKernels {
            first: Case { first: case.first, operator: (), policy: case.policy },
            later: Case { first: case.first, operator: (), policy: case.policy },
            elements: None,
            last: (operands.state.clone(), size_of::<M::Item>()),
        };
        let input = InputBytes::of_one(bytes(items));
        let misalignment = misalignment * align_of::<M::Item>();
        let result = self.bracket_of_bytes(&kernels, &operands, input, items.len(), misalignment)?;
        // SAFETY: the kernel wrote a whole item, field by field.
        Ok(unsafe { std::ptr::read_unaligned(result.as_ptr().cast()) })
    }

    /// As [`bracket`](Self::bracket), of elements that an aggregate prepares. The last kernel writes
    /// the result.
    pub fn aggregate<A: DeviceAggregate<Input: Drawn>>(
        &mut self,
        case: AggregateCase<A>,
        elements: &[A::Input],
        misalignment: usize,
    ) -> Result<A::Output, String> {
        let operator = case.elements.operator.operator();
        let operands = Operands::of(&operator);
        let last = operator.presenting(Some(elements.len() as u64));
        let kernels = ReduceKernels {
            first: Case { first: case.elements.first, operator: (), policy: case.elements.policy },
            later: Case { first: case.items.first, operator: (), policy: case.items.policy },
            elements: Some(data_of_aggregate::<A>()),
            last: (state(&last), size_of::<<A::Output as Value>::Stored>()),
        };
        let input = InputBytes::of_arrays(arrays_of::<A>(elements), misalignment);
        let result = self.bracket_of_bytes(&kernels, &operands, input, elements.len(), 0)?;
        // SAFETY: the kernel wrote a whole result, field by field.
        Ok(A::Output::from_stored(unsafe { std::ptr::read_unaligned(result.as_ptr().cast()) }))
    }

    fn bracket_of_bytes(
        &mut self,
        kernels: &ReduceKernels,
        operands: &Operands,
        mut input: InputBytes,
        length: usize,
        mut misalignment: usize,
    ) -> Result<Vec<u8>, String> {
        let (item, mut length) = (&operands.item, length as u64);
        let launches = kernels.first.policy.launches_before(&kernels.later.policy, item, length);
        // All words start as zeros. A launch that gathers its partials needs more of them.
        let gathers = launches.gathers();
        let mut words =
            vec![0; if gathers { launches.memory_bytes(item) as usize } else { size_of::<u64>() }];
        for (number, launch) in launches.enumerate() {
            let case = if number == 0 { &kernels.first } else { &kernels.later };
            let elements = kernels.elements.as_ref().filter(|_| number == 0);
            let shape = case.policy.shape(launch.kernel);
            let left = if launch.is_final() { 1 } else { launch.chunks as usize };
            let (op, output) = match launch.is_final() {
                true => kernels.last.clone(),
                false => (operands.state.clone(), left * item.size),
            };
            let request_words = words.len();
            let partition = launch.partition(&shape, length);
            let (fields, places) = before_identity!(
                elements.map(|data| data.elements.len()),
                Arguments {
                    tickets,
                    length,
                    runs: partition.runs,
                    row_level: partition.row_level,
                    whole: partition.whole,
                    gathers: launch.gathers.into(),
                }
            );
            let data = elements.cloned().unwrap_or_else(|| Data::of_items(item));
            let arguments = operands.arguments(fields);
            let request = Request {
                kernel: case.number(launch.kernel),
                blocks: case.policy.blocks(&launch, resident(launch.chunks)),
                threads: partition.warps * 32,
                misalignment: misalignment as u32,
                places,
                seed: self.seed,
                shared: shape.shared_bytes(&data) as u64,
                arguments: arguments.len() as u64,
                op: op.len() as u64,
                input: input.bytes.len() as u64,
                output: output as u64,
                words: words.len() as u64,
                early: 1,
                arrays: if input.arrays.is_empty() { NO_ARRAY } else { input.arrays.len() as u64 },
                ..Request::default()
            };
            let request =
                [bytes(&[request]), bytes(&input.arrays), arguments, op, input.bytes, words].concat();
            let mut answer = self.ask(&request, output + request_words)?;
            words = answer.split_off(output);
            input = InputBytes::of_one(answer);
            if words.iter().any(|&byte| byte != 0) {
                return Err("tickets or partials are left".to_owned());
            }
            length = left as u64;
            misalignment = 0;
        }
        Ok(input.bytes)
    }

    /// Scans items by one launch. `shared` is the memory that blocks share, as an earlier launch
    /// left it. The error says what went wrong.
    pub fn scan<M: DeviceMonoid>(
        &mut self,
        case: Case<M, ScanPolicy>,
        items: &[M::Item],
        asked: ScanOptions,
        shared: &mut Vec<u8>,
    ) -> Result<Vec<M::Item>, String> {
        let size = size_of::<M::Item>();
        let kernels = ScanKernels {
            case: Case { first: case.first, operator: (), policy: case.policy },
            arrays: None,
            output: (size_of_val(items), asked.misalignment.1 * size),
        };
        let input = (InputBytes::of_one(bytes(items)), items.len() as u64, asked.misalignment.0 * size);
        let output = self.scan_of_bytes(&kernels, &Operands::of(&case.operator), input, asked, shared)?;
        // SAFETY: the kernel wrote whole items, field by field.
        Ok(unsafe { values(&output, items.len()) })
    }

    /// As [`scan`](Self::scan), of elements that an aggregate prepares.
    pub fn scan_of_aggregate<A: DeviceAggregate<Input: Drawn>>(
        &mut self,
        case: Case<A, ScanPolicy>,
        elements: &[A::Input],
        asked: ScanOptions,
        shared: &mut Vec<u8>,
    ) -> Result<Vec<A::Output>, String> {
        let (count, layout) = (elements.len(), <A::Output as Value>::Stored::layout());
        let kernels = ScanKernels {
            case: Case { first: case.first, operator: (), policy: case.policy },
            arrays: Some(data_of_aggregate::<A>().elements.len()),
            output: (count * layout.size, asked.misalignment.1 * layout.align),
        };
        let input = InputBytes::of_arrays(arrays_of::<A>(elements), asked.misalignment.0);
        let operands = Operands::of(&case.operator.operator());
        let output = self.scan_of_bytes(&kernels, &operands, (input, count as u64, 0), asked, shared)?;
        // SAFETY: the kernel wrote whole results, field by field.
        let stored = unsafe { values(&output, count) };
        Ok(stored.into_iter().map(A::Output::from_stored).collect())
    }

    fn scan_of_bytes(
        &mut self,
        kernels: &ScanKernels,
        operands: &Operands,
        (input, length, misalignment): (InputBytes, u64, usize),
        asked: ScanOptions,
        shared: &mut Vec<u8>,
    ) -> Result<Vec<u8>, String> {
        let (item, case, (output, output_misalignment)) = (&operands.item, &kernels.case, kernels.output);
        let ScanLaunch { kernel, tiles, blocks, groups, warps } = case.policy.launch(item, length, LIMITS);
        let shape = case.policy.shape(kernel);
        let needed = shape.memory_bytes(item, tiles) as usize;
        // Exactly the size that the scan requests. The content stays, as in a workspace.
        if shared.len() < needed {
            shared.resize(needed, 0);
        }
        let shared = &mut shared[..needed];
        let (fields, places) = before_identity!(
            kernels.arrays,
            ScanArguments { shared, length, tiles, exclusive: asked.exclusive.into() }
        );
        let arguments = operands.arguments(fields);
        let request = Request {
            kernel: case.number(kernel),
            blocks: blocks as u32,
            threads: groups * warps * 32,
            misalignment: misalignment as u32,
            output_misalignment: output_misalignment as u32,
            in_place: asked.in_place.into(),
            places,
            seed: self.seed,
            shared: shape.shared_bytes(item, groups * warps) as u64,
            arguments: arguments.len() as u64,
            op: operands.state.len() as u64,
            input: input.bytes.len() as u64,
            output: output as u64,
            words: shared.len() as u64,
            arrays: if input.arrays.is_empty() { NO_ARRAY } else { input.arrays.len() as u64 },
            ..Request::default()
        };
        let request = [
            bytes(&[request]),
            bytes(&input.arrays),
            arguments,
            operands.state.clone(),
            input.bytes,
            shared.to_vec(),
        ]
        .concat();
        let mut answer = self.ask(&request, output + shared.len())?;
        shared.copy_from_slice(&answer[output..]);
        answer.truncate(output);
        Ok(answer)
    }

    /// Runs an exercise on three blocks of 64 threads, and returns the words that it wrote.
    pub fn exercise(
        &mut self,
        kernel: u32,
        mistake: u64,
        length: u64,
        words: usize,
    ) -> Result<Vec<u32>, String> {
        let input: Vec<u32> = (0..256).collect();
        let arguments = bytes(&[0, length, 0, mistake]);
        let request = Request {
            kernel,
            blocks: 3,
            threads: 64,
            misalignment: 0,
            places: AddressOffsets { input: 0, output: 16, ..AddressOffsets::default() },
            seed: self.seed,
            shared: 0,
            arguments: arguments.len() as u64,
            op: 1,
            input: size_of_val(&input[..]) as u64,
            output: 4 * words as u64,
            ..Request::default()
        };
        let request = [bytes(&[request]), arguments, vec![0], bytes(&input)].concat();
        let answer = self.ask(&request, 4 * words)?;
        Ok(answer
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    }

    pub(super) fn ask(&mut self, request: &[u8], output: usize) -> Result<Vec<u8>, String> {
        let died = |_| "the executor died: a sanitizer has said why".to_owned();
        self.requests.write_all(request).and_then(|()| self.requests.flush()).map_err(died)?;
        let mut length = [0; 8];
        self.answers.read_exact(&mut length).map_err(died)?;
        let length = u64::from_le_bytes(length) as usize;
        let mut answer = vec![0; if length > 0 { length } else { output }];
        self.answers.read_exact(&mut answer).map_err(died)?;
        match length {
            0 => Ok(answer),
            _ => Err(String::from_utf8_lossy(&answer).into_owned()),
        }
    }
}
