//! Rendered sources run on the CPU, each GPU thread a fiber: see `tests/simt/requests.cpp`.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, OnceLock};

use warpfold::policy::{Kernel, Limits, ScanLaunch, ScanPolicy};
use warpfold::{DeviceMonoid, DeviceType};

use super::programs::{Case, Checks, Kernels, Policies, Program};
use super::tiers::{Suite, Tier};

/// A running program.
pub struct Executor {
    child: Child,
    requests: ChildStdin,
    answers: ChildStdout,
    /// What decides in what order threads advance.
    pub seed: u64,
    /// Whether what was last gathered by its own launch was read before that waited for the launch before.
    reads_early: bool,
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
        Executor { child, requests, answers, seed, reads_early: false }
    }
}

/// The seed of this run's executors.
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| match std::env::var("WARPFOLD_SIMT_SEED") {
        Ok(seed) => seed.parse().expect("a number"),
        Err(_) => rand::random(),
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

    pub fn start(&self, seed: u64) -> Executor {
        let build = || self.kernels.build(2).unwrap_or_else(|said| panic!("{said}"));
        self.program.get_or_init(build).start(seed)
    }
}

type Later = Box<dyn FnOnce(&mut Suite, Arc<Group>)>;

/// Tests of kernels that are one program.
pub struct Tests {
    kernels: Kernels,
    /// Whether they are too many for every day.
    long: bool,
    later: Vec<Later>,
}

impl Tests {
    pub fn new(checks: Checks, long: bool) -> Self {
        Self { kernels: Kernels::new(checks), long, later: Vec::new() }
    }

    pub fn test<M: DeviceMonoid, P: Policies>(
        &mut self,
        name: String,
        operator: M,
        policy: P,
        test: impl FnOnce(&mut Executor, Case<M, P>) + Send + 'static,
    ) {
        self.test_of(name, |kernels| kernels.add(operator, policy), test);
    }

    /// A test of what `add` adds to the kernels.
    pub fn test_of<C: Send + 'static>(
        &mut self,
        name: String,
        add: impl FnOnce(&mut Kernels) -> C,
        test: impl FnOnce(&mut Executor, C) + Send + 'static,
    ) {
        let (case, long) = (add(&mut self.kernels), self.long);
        self.later.push(Box::new(move |suite, group| {
            let test = move || test(&mut group.start(seed()), case);
            match long {
                true => suite.long_test(Tier::Simt, name, test),
                false => suite.test(Tier::Simt, name, test),
            }
        }));
    }

    pub fn add_to(self, suite: &mut Suite) {
        let group = Arc::new(Group::new(self.kernels));
        self.later.into_iter().for_each(|add| add(suite, group.clone()));
    }
}

/// The first parameter of a kernel that scans: see `templates/scan.cuh`.
#[repr(C)]
struct ScanArguments<T> {
    input: u64,
    length: u64,
    output: u64,
    shared: u64,
    tiles: u64,
    exclusive: u32,
    identity: T,
}

/// So few multiprocessors that blocks take one tile after another.
const LIMITS: Limits = Limits { multiprocessors: 2, ..Limits::H200 };

/// How a scan is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub exclusive: bool,
    /// The output is the input.
    pub in_place: bool,
    /// Items past an aligned address, of the input and of the output.
    pub misalignment: (usize, usize),
}

/// The first parameter of a kernel that reduces: see `templates/arguments.cuh`.
#[repr(C)]
struct Arguments<T> {
    input: u64,
    length: u64,
    output: u64,
    tickets: u64,
    runs: u32,
    row_level: u32,
    serial: u32,
    whole: u32,
    early: u32,
    gathers: u32,
    identity: T,
}

impl<T> Arguments<T> {
    /// Addresses are the executor's to fill in.
    fn of(length: u64, identity: T) -> Self {
        Self {
            input: 0,
            length,
            output: 0,
            tickets: 0,
            runs: 0,
            row_level: 0,
            serial: 0,
            whole: 0,
            early: 1,
            gathers: 0,
            identity,
        }
    }
}

/// Blocks that run at once: so few that they take one chunk after another, and draw some of them.
fn resident(chunks: u32) -> u32 {
    (chunks / 4).max(1)
}

/// A launch, as `tests/simt/requests.cpp` is asked for one.
#[repr(C)]
#[derive(Default)]
pub(super) struct Request {
    pub(super) kernel: u32,
    pub(super) blocks: u32,
    pub(super) threads: u32,
    pub(super) misalignment: u32,
    pub(super) output_misalignment: u32,
    pub(super) in_place: u32,
    pub(super) seed: u64,
    pub(super) shared: u64,
    pub(super) arguments: u64,
    pub(super) op: u64,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) words: u64,
    pub(super) count: u64,
    pub(super) early: u64,
}

pub(super) fn bytes<T>(values: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(values)];
    // SAFETY: as many bytes as the values have, padding of no meaning among them.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr().cast(), bytes.as_mut_ptr(), bytes.len()) };
    bytes
}

/// The operator as a kernel gets it: without state, it is an empty struct, which in C++ has one byte.
pub(super) fn state<M>(operator: &M) -> Vec<u8> {
    if size_of::<M>() > 0 { bytes(std::slice::from_ref(operator)) } else { vec![0] }
}

impl Executor {
    /// The bracket of the items, so many alignments past an aligned address, by the launches of the policy; what went wrong if it did.
    pub fn bracket<M: DeviceMonoid>(
        &mut self,
        case: Case<M>,
        items: &[M::Item],
        misalignment: usize,
    ) -> Result<M::Item, String> {
        let item = M::Item::layout();
        let mut input = bytes(items);
        let mut length = items.len() as u64;
        let mut misalignment = misalignment * align_of::<M::Item>();
        let launches = case.policy.launches(&item, length);
        // Zeros, of which launches that leave partials to be gathered need more.
        let gathers = launches.gathers();
        let mut words =
            vec![0; if gathers { launches.memory_bytes(&item) as usize } else { size_of::<u64>() }];
        for launch in launches {
            let shape = case.policy.shape(launch.kernel);
            // Those that are gathered are no output.
            let is_gathered = gathers && launch.chunks > 1;
            let left = if launch.leaves_one() { 1 } else { launch.chunks as usize };
            let output = if is_gathered && !launch.leaves_one() { 0 } else { left * size_of::<M::Item>() };
            // Some wait before they read, and others afterwards.
            self.reads_early ^= launch.gathers;
            let reads_early = launch.gathers && self.reads_early;
            let request_words = words.len();
            // What the executor aligns is aligned by 128 bytes or more.
            let placed = launch.placed(&shape, misalignment as u64, length);
            let arguments = Arguments {
                runs: placed.runs,
                row_level: placed.row_level,
                whole: placed.whole,
                early: u32::from(reads_early || shape.rows > 1),
                gathers: is_gathered.into(),
                ..Arguments::of(length, case.operator.identity())
            };
            let (arguments, op) = (bytes(&[arguments]), state(&case.operator));
            let request = Request {
                kernel: case.number(launch.kernel),
                blocks: case.policy.blocks(&launch, resident(launch.chunks)),
                threads: placed.warps * 32,
                misalignment: misalignment as u32,
                seed: self.seed,
                shared: shape.shared_bytes(&item) as u64,
                arguments: arguments.len() as u64,
                op: op.len() as u64,
                input: input.len() as u64,
                output: output as u64,
                words: words.len() as u64,
                // What gathers tiles writes when it has seen what comes after all launches before.
                early: match launch.kernel {
                    Kernel::Row | Kernel::Small | Kernel::Large => 1 + u64::from(reads_early),
                    Kernel::Gather | Kernel::Baseline => 0,
                },
                ..Request::default()
            };
            let request = [bytes(&[request]), arguments, op, input, words].concat();
            input = self.ask(&request, output + request_words)?;
            words = input.split_off(output);
            if output > 0 && words.iter().any(|&byte| byte != 0) {
                return Err("tickets or partials are left".to_owned());
            }
            length = left as u64;
            misalignment = 0;
        }
        // SAFETY: the kernel wrote a whole item, field by field.
        Ok(unsafe { std::ptr::read_unaligned(input.as_ptr().cast()) })
    }

    /// The bracket of partials, some items each of which a block leaves while one block gathers them.
    pub fn gather<M: DeviceMonoid>(
        &mut self,
        case: Case<M>,
        partials: &[M::Item],
    ) -> Result<M::Item, String> {
        let (size, count) = (size_of::<M::Item>(), partials.len());
        let arguments = Arguments::of(count as u64, case.operator.identity());
        let (arguments, op, input) = (bytes(&[arguments]), state(&case.operator), bytes(partials));
        let words = vec![0; (4 << 10) + count.next_multiple_of(32) * 2 * size.next_multiple_of(8)];
        let request = Request {
            kernel: case.first,
            blocks: 1 + count as u32,
            threads: case.policy.shape(Kernel::Gather).warps * 32,
            seed: self.seed,
            arguments: arguments.len() as u64,
            op: op.len() as u64,
            input: input.len() as u64,
            output: size as u64,
            words: words.len() as u64,
            ..Request::default()
        };
        let request = [bytes(&[request]), arguments, op, input, words.clone()].concat();
        let mut answer = self.ask(&request, size + words.len())?;
        if answer.split_off(size) != words {
            return Err("partials are left".to_owned());
        }
        // SAFETY: the kernel wrote a whole item, field by field.
        Ok(unsafe { std::ptr::read_unaligned(answer.as_ptr().cast()) })
    }

    /// The scan of the items, by one launch; what went wrong if it did. `shared` is what blocks share, of any launch before.
    pub fn scan<M: DeviceMonoid>(
        &mut self,
        case: Case<M, ScanPolicy>,
        items: &[M::Item],
        asked: Asked,
        shared: &mut Vec<u8>,
    ) -> Result<Vec<M::Item>, String> {
        let item = M::Item::layout();
        let length = items.len() as u64;
        let ScanLaunch { kernel, tiles, blocks, groups, warps } = case.policy.launch(&item, length, LIMITS);
        let shape = case.policy.shape(kernel);
        let size = size_of::<M::Item>();
        let needed = shape.memory_bytes(&item, tiles) as usize;
        // No more than a scan says that it needs; what was there before stays, as in a workspace.
        if shared.len() < needed {
            shared.resize(needed, 0);
        }
        let shared = &mut shared[..needed];
        let arguments = ScanArguments {
            input: 0,
            length,
            output: 0,
            shared: 0,
            tiles,
            exclusive: asked.exclusive.into(),
            identity: case.operator.identity(),
        };
        let (arguments, op) = (bytes(&[arguments]), state(&case.operator));
        let input = bytes(items);
        let request = Request {
            kernel: case.number(kernel),
            blocks: blocks as u32,
            threads: groups * warps * 32,
            misalignment: (asked.misalignment.0 * size) as u32,
            output_misalignment: (asked.misalignment.1 * size) as u32,
            in_place: asked.in_place.into(),
            seed: self.seed,
            shared: shape.shared_bytes(&item, groups * warps) as u64,
            arguments: arguments.len() as u64,
            op: op.len() as u64,
            input: input.len() as u64,
            output: input.len() as u64,
            words: shared.len() as u64,
            ..Request::default()
        };
        let request = [bytes(&[request]), arguments, op, input, shared.to_vec()].concat();
        let answer = self.ask(&request, size_of_val(items) + shared.len())?;
        let (output, words) = answer.split_at(size_of_val(items));
        shared.copy_from_slice(words);
        let item = |index: usize| output[index * size..].as_ptr().cast();
        // SAFETY: the kernel wrote whole items, field by field.
        Ok((0..items.len()).map(|index| unsafe { std::ptr::read_unaligned(item(index)) }).collect())
    }

    /// Runs an exercise on three blocks of 64 threads; the words that it wrote.
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
