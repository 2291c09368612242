//! Provokes each error by bad input, and tests that later calls work.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cudarc::driver::{CudaContext, DriverError, sys};
use support::aggregates::{OfIndex, Product};
use support::tiers::{Suite, Tier, in_child, scenario};
use warpfold::jit::{self, Architecture, ImageFormat};
use warpfold::ladder::{Ladder, Rung};
use warpfold::operators::{Min, Sum};
use warpfold::{
    Bitmap, Device, DeviceInput, DeviceMonoid, DeviceOperator, DeviceType, Error, Field, Kind, Layout,
    Literal, Monoid, Policy, Reduction, Rows, Scan, Value, cudarc, device_code, monoid,
};

/// Operators on `u32`. Their Rust returns the left operand, and their CUDA C++ is wrong in some
/// way.
macro_rules! left_with_body {
    ($($name:ident $operator:expr;)*) => {$(
        #[derive(Clone, Copy, Debug, Default)]
        struct $name;
        impl Monoid for $name {
            type Item = u32;
            fn identity(&self) -> u32 { 0 }
            fn combine(&self, left: u32, _: u32) -> u32 { left }
        }
        impl DeviceMonoid for $name {
            const EXACT: bool = true;
            fn device_operator() -> DeviceOperator { $operator }
        }
    )*};
}

/// An operator whose body is a literal, correct or not.
macro_rules! operator {
    ($text:literal) => {
        // SAFETY: only the test that expects a failure launches it.
        DeviceOperator::new::<Self::Item>("a", "b", unsafe { device_code!($text) })
    };
}

const MISSPELT_LINE: u32 = line!() + 3;
left_with_body! {
    Misspelt operator!("unsigned c = a;
        c += nonsense;
        return c;");
    Trapping operator!("__trap(); return a;");
    ForeignState operator!("return self.x;").state::<Displaced>();
    // SAFETY: it is never compiled.
    ForeignItem DeviceOperator::new::<f32>("a", "b", unsafe { device_code!("return a;") });
}

/// A sum of any type that adds. `Meters` adds by a function that has no CUDA C++ form.
#[derive(Clone, Copy, Debug, Default)]
struct Total<T>(std::marker::PhantomData<T>);

#[monoid]
impl<T: DeviceType + Default + std::fmt::Debug + std::ops::Add<Output = T>> Monoid for Total<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::default()
    }
    fn combine(&self, a: T, b: T) -> T {
        a + b
    }
}

#[derive(Clone, Copy, Debug, Default, DeviceType)]
#[repr(C)]
struct Meters(f32);

impl std::ops::Add for Meters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// A sum that panics on the CPU if an operand is 7.
#[derive(Clone, Copy, Debug, Default)]
struct Refusing;

impl Monoid for Refusing {
    type Item = u32;
    fn identity(&self) -> u32 {
        0
    }
    fn combine(&self, left: u32, right: u32) -> u32 {
        assert!(left != 7 && right != 7, "seven is refused");
        left.wrapping_add(right)
    }
}
impl DeviceMonoid for Refusing {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        operator!("return a + b;")
    }
}

fn a_panic_in_an_operator_keeps_its_message_and_the_pool() {
    let (sum, scan) = (Reduction::<Refusing>::new(Device::cpu()), Scan::<Refusing>::new(Device::cpu()));
    let mut items = vec![8; 1 << 20];
    // The tests of this file run one at a time, so no other panic is silenced.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for at in [0, 1 << 19, (1 << 20) - 1] {
        items[at] = 7;
        let panics: [Box<dyn Fn() + std::panic::RefUnwindSafe>; 2] =
            [Box::new(|| drop(sum.run(&items))), Box::new(|| drop(scan.inclusive(&items)))];
        for call in panics {
            let panic = std::panic::catch_unwind(&call).expect_err("panics");
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"seven is refused"));
        }
        items[at] = 8;
        assert_eq!(sum.run(&items).expect("works"), 8 << 20);
    }
    std::panic::set_hook(hook);
}

/// Prints an error, for a reader to judge, and tests that its first line says what to do.
fn says_what_to_do(error: Error) {
    let shown = error.to_string();
    println!("{shown}\n");
    let first = shown.lines().next().unwrap_or_default();
    assert!(first.len() < 400 && has_remedy(first), "{shown}");
    assert!(!shown.contains("Error {") && !shown.contains("Some("), "the debug form: {shown}");
}

/// Whether a message has an imperative after the violated condition.
fn has_remedy(message: &str) -> bool {
    const VERBS: [&str; 17] = [
        "Give", "Install", "Set", "Correct", "Write", "Free", "Create", "Pass", "Split", "Record", "Begin",
        "Look", "Choose", "write", "use", "choose", "create",
    ];
    VERBS
        .iter()
        .any(|verb| message.contains(&format!(". {verb} ")) || message.contains(&format!(": {verb} ")))
}

fn errors_of_any_machine_say_what_to_do() {
    says_what_to_do(Reduction::<ForeignState>::new(Device::cpu()).source().expect_err("not its own"));
    says_what_to_do(Reduction::<ForeignItem>::new(Device::cpu()).source().expect_err("not its item"));
    says_what_to_do(Reduction::<Total<Meters>>::new(Device::cpu()).source().expect_err("no form"));
    let sum = Scan::<Sum<u32>>::new(Device::cpu());
    says_what_to_do(sum.inclusive_into(&[1, 2, 3], &mut [0; 2]).expect_err("too short"));
    let product = Reduction::with(Device::cpu(), Product(PhantomData::<(u32, u32)>));
    says_what_to_do(product.run((&[1, 2, 3], &[1, 2])).expect_err("not in step"));
    says_what_to_do(Reduction::<OfIndex>::new(Device::cpu()).run(1..5).expect_err("not from 0"));
    let sum = Reduction::<Sum<u32>>::new(Device::cpu());
    says_what_to_do(sum.rows(&[1, 2, 3], 2).expect_err("no whole rows"));
    says_what_to_do(sum.rows(&[1, 2, 3], 0).expect_err("no columns"));
    says_what_to_do(sum.rows(&[1, 2, 3], Rows::of(3).with_pitch(2)).expect_err("rows overlap"));
    says_what_to_do(sum.segments(&[1, 2, 3], &[0_u32, 4]).expect_err("past the end"));
    says_what_to_do(sum.segments(&[1, 2, 3], &[0_u32; 0]).expect_err("no offset"));
    says_what_to_do(Bitmap::new(&[0_u8; 2][..], 3, 14).expect_err("too few bits"));
    says_what_to_do(Ladder::<Sum<u32>>::new(Device::cpu()).reduce(Rung::Shuffles, &[1]).expect_err("no GPU"));
    // SAFETY: the call fails before it reads the address.
    let input = unsafe { DeviceInput::<f32>::from_raw(&Device::cpu(), 4096, 1, std::ptr::null_mut()) };
    says_what_to_do(input.expect_err("no GPU"));
    says_what_to_do(Device::cuda(99).expect_err("no machine has a hundred"));
    // A test cannot provoke these on every machine.
    says_what_to_do(Error::NoDevice { ordinal: 99, count: 1 });
    says_what_to_do(Error::Nvrtc { name: "NVRTC_ERROR_OUT_OF_MEMORY".to_owned(), code: 1 });
    says_what_to_do(Error::Cuda {
        name: "CUDA_ERROR_NOT_PERMITTED".to_owned(),
        description: "operation not permitted".to_owned(),
        call: "creating a stream",
        source: DriverError(sys::CUresult::CUDA_ERROR_NOT_PERMITTED),
    });
    for (variable, value) in
        [("WARPFOLD_DEVICE", "tpu"), ("WARPFOLD_DEVICE", "cuda:99"), ("WARPFOLD_NVRTC", "/nowhere.so")]
    {
        let said = in_child("run", &[(variable, value)]).1;
        println!("{variable}={value}\n{said}");
        let named = said.lines().filter(|line| line.contains(value) && line.contains(variable));
        assert!(named.clone().count() > 0 && named.clone().all(has_remedy), "{said}");
    }
}

fn errors_of_nvrtc_say_what_to_do() {
    says_what_to_do(compile::<Misspelt>().expect_err("does not compile"));
    says_what_to_do(compile::<OfDisplaced>().expect_err("a wrong layout"));
    says_what_to_do(jit::target(Architecture::new(3, 5)).expect_err("long gone"));
}

fn errors_of_a_gpu_say_what_to_do() {
    let context = CudaContext::new(0).expect("a GPU");
    let stream = context.new_stream().expect("a stream");
    let sum = Reduction::<Sum<u32>>::new(stream.clone());
    sum.compile().expect("compiles");
    let items = stream.clone_htod(&[1_u32, 2, 3]).expect("copies");
    let mut one = stream.clone_htod(&[0_u32]).expect("copies");
    stream.synchronize().expect("synchronises");
    // SAFETY: the call fails, because no capture has begun.
    says_what_to_do(unsafe { sum.record_into(&items, &mut one) }.expect_err("not capturing"));
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    stream.begin_capture(mode).expect("begins");
    says_what_to_do(sum.run(&items).expect_err("capturing"));
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let _ = stream.end_capture(flags).expect("ends");
    // SAFETY: the call fails before it reads the address.
    let odd = unsafe { DeviceInput::<u32>::from_raw(&context.clone().into(), 4097, 1, std::ptr::null_mut()) };
    says_what_to_do(odd.expect_err("misaligned"));
    let other = Reduction::<Sum<u32>>::new(CudaContext::new_non_primary(0, 0).expect("a context"));
    says_what_to_do(other.run(&items).expect_err("another context"));
    let (_, said) = in_child("trap", &[]);
    println!("{said}");
    assert!(said.lines().next().is_some_and(has_remedy), "{said}");
}

/// A type with a wrong layout: `y` is not at byte 8.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Displaced {
    x: f32,
    y: f32,
}

// SAFETY: wrong on purpose. The type is compiled, but no kernel with it is launched.
unsafe impl cudarc::driver::DeviceRepr for Displaced {}
impl Value for Displaced {
    type Stored = Self;
    fn from_stored(stored: Self) -> Self {
        stored
    }
}
// SAFETY: as above.
unsafe impl DeviceType for Displaced {
    fn layout() -> Layout {
        let field = |name, offset| Field { name, offset, layout: f32::layout() };
        Layout::of::<Self>(Kind::Struct { fields: vec![field("x", 0), field("y", 8)] })
    }
    fn literal(&self) -> Literal {
        Literal::Sequence(vec![self.x.literal(), self.y.literal()])
    }
    fn same_bits(a: &Self, b: &Self) -> bool {
        f32::same_bits(&a.x, &b.x) && f32::same_bits(&a.y, &b.y)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct OfDisplaced;
impl Monoid for OfDisplaced {
    type Item = Displaced;
    fn identity(&self) -> Displaced {
        Displaced { x: 0.0, y: 0.0 }
    }
    fn combine(&self, left: Displaced, _: Displaced) -> Displaced {
        left
    }
}
impl DeviceMonoid for OfDisplaced {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        operator!("return a;")
    }
}

fn compile<M: DeviceMonoid + Default>() -> Result<(), Error> {
    let source = Reduction::<M>::new(Device::cpu()).source()?;
    jit::compile(&source, jit::target(Architecture::new(9, 0))?).map(|_| ())
}

fn an_operator_that_does_not_compile_shows_its_own_line() {
    let error = compile::<Misspelt>().expect_err("`nonsense` is not declared");
    let Error::Compilation { options, excerpt, log, .. } = &error else { panic!("{error}") };
    assert!(options.contains(&"--fmad=false".to_owned()));
    assert!(log.contains("nonsense"));
    let place = format!("tests/errors.rs:{MISSPELT_LINE}: error: identifier \"nonsense\" is undefined");
    assert!(excerpt.contains(&place), "{excerpt}");
    let marked = format!("> {MISSPELT_LINE:5} |         c += nonsense;");
    assert!(excerpt.contains(&marked), "{excerpt}");
    let shown = error.to_string();
    assert!(shown.contains("Misspelt` does not compile for sm_90") && shown.contains(&place), "{shown}");
}

fn a_layout_that_is_not_true_is_named() {
    let error = compile::<OfDisplaced>().expect_err("`y` is at byte 4");
    assert!(matches!(error, Error::LayoutMismatch { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "layout mismatch: in Rust errors::Displaced has the field y at byte 8, but not in CUDA C++. Correct \
         `DeviceType::layout`, or derive it with `#[derive(DeviceType)]`"
    );
}

fn an_old_architecture_is_refused() {
    let error = jit::target(Architecture::new(3, 5)).expect_err("long gone");
    assert!(matches!(error, Error::ArchitectureTooOld { .. }), "{error}");
    assert!(error.to_string().contains("architecture sm_35 is too old for NVRTC 1"), "{error}");
}

fn a_gpu_newer_than_nvrtc_gets_ptx() {
    let target = jit::target(Architecture::new(99, 0)).expect("newer than all");
    assert_eq!(
        (target.format, Some(&target.architecture)),
        (ImageFormat::Ptx, jit::architectures().unwrap().last())
    );
    let source = Reduction::<Sum<f32>>::new(Device::cpu()).source().expect("renders");
    let image = jit::compile(&source, target).expect("compiles");
    let text = String::from_utf8_lossy(&image.bytes);
    assert!(
        text.contains(&format!(".target {}", target.architecture)),
        "PTX of the newest known architecture"
    );
}

fn a_state_of_another_type_is_refused() {
    let error = Reduction::<ForeignState>::new(Device::cpu()).source().expect_err("not its own");
    assert!(matches!(error, Error::ForeignState { .. }), "{error}");
}

fn a_policy_that_no_kernel_can_have_is_refused() {
    let mut policy = Policy::for_item(&f32::layout());
    policy.large.rows = 5;
    let reduction = Reduction::<Sum<f32>>::new(Device::cpu()).with_policy(policy);
    assert!(matches!(reduction.source(), Err(Error::Policy { .. })));
}

fn a_device_that_is_not_there_is_named() {
    match Device::cuda(99).expect_err("nobody has a hundred") {
        Error::NoDriver { .. } | Error::NoNvrtc { .. } => {}
        Error::NoDevice { ordinal: 99, count } => assert!(count < 99),
        error => panic!("{error}"),
    }
}

fn device_memory_on_the_cpu_is_refused() {
    // SAFETY: the call fails before it reads the address.
    let input = unsafe { DeviceInput::<f32>::from_raw(&Device::cpu(), 4096, 1, std::ptr::null_mut()) };
    assert!(matches!(input, Err(Error::DeviceInputOnCpu)), "{input:?}");
    let uploaded = Device::cpu().upload(&[1.0_f32]);
    assert!(matches!(uploaded, Err(Error::DeviceInputOnCpu)), "{uploaded:?}");
    let zeros = Device::cpu().zeros::<f32>(1);
    assert!(matches!(zeros, Err(Error::DeviceInputOnCpu)), "{zeros:?}");
}

fn overrides_are_honoured_or_an_error() {
    let run = |value| in_child("run", &[("WARPFOLD_DEVICE", value)]).1;
    assert!(run("cpu").contains("Ok(6)"));
    let missing = run("cuda:99");
    assert!(
        missing.contains("WARPFOLD_DEVICE=cuda:99: no ") && missing.contains("caused by: no "),
        "{missing}"
    );
    let nonsense = run("tpu");
    assert!(
        nonsense.contains("WARPFOLD_DEVICE=tpu: the value names no device. Set WARPFOLD_DEVICE to `cpu`"),
        "{nonsense}"
    );
}

fn without_nvrtc_the_cpu_takes_over_and_a_gpu_is_an_error() {
    let (_, said) = in_child("run", &[("WARPFOLD_NVRTC", "/nowhere/libnvrtc.so"), ("WARPFOLD_DEVICE", "")]);
    assert!(said.contains("auto is CPU") && said.contains("Ok(6)"), "{said}");
    assert!(said.contains(" threads), because of no "), "{said}");
    let named = ": WARPFOLD_NVRTC names `/nowhere/libnvrtc.so`, but the loader says: ";
    let no_gpu =
        said.contains("cuda(0): no usable NVIDIA driver") || said.contains("cuda(0): no CUDA device");
    let names_gpu =
        said.contains("cuda(0): no usable NVRTC for NVIDIA ") && said.contains(&format!(" (cuda:0){named}"));
    assert!(no_gpu || names_gpu, "{said}");
    assert!(said.contains(&format!("nvrtc: no usable NVRTC{named}")), "{said}");
}

/// What NVRTC reports in a child process in which `WARPFOLD_NVRTC` names a library.
fn nvrtc_named(library: &Path, others: &[(&str, &str)]) -> String {
    let library = library.to_string_lossy();
    let named = [("WARPFOLD_NVRTC", &*library), ("WARPFOLD_CACHE_DIR", "off")];
    in_child("nvrtc", &[&named, others].concat()).1
}

/// `WARPFOLD_NVRTC` names a file that cannot be used. The error names the file and the reason.
fn a_file_that_is_no_nvrtc_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("libnvrtc.so");
    std::fs::write(&text, "no library").expect("writable");
    let missing = folder.path().join("libnvrtc.so.13");
    let expect = |library: &Path, reason: &str| {
        let said = nvrtc_named(library, &[]);
        let names = format!("no usable NVRTC: WARPFOLD_NVRTC names `{}`, but ", library.display());
        assert!(said.contains(&names) && said.contains(reason) && !said.contains("panicked"), "{said}");
    };
    expect(&missing, "No such file");
    expect(folder.path(), "Is a directory");
    expect(&text, "file too short");
    std::fs::write(&text, vec![b'x'; 1 << 16]).expect("writable");
    expect(&text, "invalid ELF header");
    expect(Path::new("libm.so.6"), "it is another library than NVRTC");
}

/// The file of the NVRTC that this process uses.
fn nvrtc_file() -> PathBuf {
    jit::version().expect("NVRTC is present");
    let source = Reduction::<Sum<f32>>::new(Device::cpu()).source().expect("renders");
    let target = jit::target(Architecture::new(9, 0)).expect("known");
    // The caches may have the image of another process. This call opens the library.
    jit::resources(&source, target).expect("compiles");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
    let file = maps
        .lines()
        .find_map(|line| line.find('/').map(|at| &line[at..]).filter(|path| path.contains("/libnvrtc.so")));
    file.expect("open").into()
}

/// Another library is found first on the library path, and the named one is used.
fn the_named_nvrtc_is_used() {
    let (file, folder) = (nvrtc_file(), tempfile::tempdir().expect("a folder"));
    let other = folder.path().join("libnvrtc.so");
    std::fs::copy(&file, &other).expect("copied");
    let said = nvrtc_named(&file, &[("LD_LIBRARY_PATH", &folder.path().to_string_lossy())]);
    assert!(said.contains(&format!("uses {}\n", file.display())), "{said}");
    assert!(!said.contains(&other.display().to_string()), "{said}");
}

fn missing_builtins_are_named() {
    let (file, folder) = (nvrtc_file(), tempfile::tempdir().expect("a folder"));
    let alone = folder.path().join("libnvrtc.so.13");
    std::fs::copy(&file, &alone).expect("copied");
    let said = nvrtc_named(&alone, &[("LD_LIBRARY_PATH", "")]);
    let listed = std::process::Command::new("ldconfig").arg("-p").output().map(|output| output.stdout);
    if String::from_utf8_lossy(&listed.unwrap_or_default()).contains("libnvrtc-builtins.so") {
        // The system has built-ins, possibly of this version.
        return;
    }
    let names = format!("`{}` cannot open `libnvrtc-builtins.so.", alone.display());
    assert!(said.contains("no usable NVRTC: ") && said.contains(&names), "{said}");
}

fn a_gpu_refuses_what_is_not_its_own() {
    let context = CudaContext::new(0).expect("a GPU");
    let stream = context.default_stream();
    let items = stream.clone_htod(&[1_u32, 2, 3]).expect("copies");
    let on_cpu = Reduction::<Sum<u32>>::new(Device::cpu());
    assert!(matches!(on_cpu.run(&items), Err(Error::DeviceInputOnCpu)));
    let mut one = stream.clone_htod(&[0_u32]).expect("copies");
    assert!(matches!(on_cpu.run_into(&items, &mut one), Err(Error::DeviceInputOnCpu)));

    let other = CudaContext::new_non_primary(0, 0).expect("a second context");
    let elsewhere = Reduction::<Sum<u32>>::new(other);
    // The second of two arrays.
    let foreign = elsewhere.device().stream().expect("a GPU").clone_htod(&[1_u32, 2, 3]).expect("copies");
    let product = Reduction::with(context.clone(), Product(PhantomData::<(u32, u32)>));
    match product.run((&items, &foreign)) {
        Err(Error::WrongContext { what: "array 1 of the input", .. }) => {}
        other => panic!("{other:?}"),
    }
    let short = items.slice(..2);
    match product.run((&items, &short)) {
        Err(Error::UnequalLengths { array: 1, length: 2, expected: 3 }) => {}
        other => panic!("{other:?}"),
    }
    product.run((&items, &items)).expect("still works");
    let refused = elsewhere.run(&items);
    assert!(matches!(refused, Err(Error::WrongContext { what: "input", .. })), "{refused:?}");
    assert_eq!(elsewhere.run(&[1, 2, 4]).expect("its own device works"), 7);

    let mut far = elsewhere.device().stream().expect("a GPU").clone_htod(&[0_u32]).expect("copies");
    let reduction = Reduction::<Sum<u32>>::new(context.clone());
    let refused = reduction.run_into(&items, &mut far);
    assert!(matches!(refused, Err(Error::WrongContext { what: "output", .. })), "{refused:?}");
    let mut two = stream.clone_htod(&[0_u32; 2]).expect("copies");
    let refused = reduction.run_into(&items, &mut two);
    assert!(matches!(refused, Err(Error::OutputLength { expected: 1, length: 2 })), "{refused:?}");
    // SAFETY: the call fails before it reads the address.
    let odd = unsafe { DeviceInput::<u32>::from_raw(&context.clone().into(), 4097, 1, std::ptr::null_mut()) };
    assert!(matches!(odd, Err(Error::Misaligned { address: 4097, align: 4 })));
    assert!(matches!(Device::cuda(99), Err(Error::NoDevice { ordinal: 99, .. })));
    assert_eq!(reduction.run(&items).expect("still works"), 6);
}

fn an_operator_that_does_not_compile_leaves_the_gpu_usable() {
    let device = Device::cuda(0).expect("a GPU");
    let broken = Reduction::<Misspelt>::new(device.clone());
    assert!(matches!(broken.run(&[1, 2]), Err(Error::Compilation { .. })));
    assert!(matches!(broken.compile(), Err(Error::Compilation { .. })));
    assert_eq!(Reduction::<Min<u32>>::new(device).run(&[3, 2]).expect("still works"), 2);
}

fn out_of_memory_says_how_much_and_leaves_the_gpu_usable() {
    let device = Device::cuda(0).expect("a GPU");
    let (reduction, scan) = (Reduction::<Sum<u8>>::new(device.clone()), Scan::<Sum<u8>>::new(device.clone()));
    reduction.compile().expect("compiles");
    scan.compile().expect("compiles");
    // Allocates the pinned buffers, and memory for a chunk.
    assert_eq!(reduction.run(&vec![1_u8; 1 << 20]).expect("runs"), 0);
    let stream = device.stream().expect("a GPU");
    let (free, _) = stream.context().mem_get_info().expect("answers");
    let items = vec![1_u8; 1 << 30];
    // SAFETY: the memory is never read.
    let hog = unsafe { stream.alloc::<u8>(free - (1 << 29)) }.expect("what is free");
    stream.synchronize().expect("synchronises");
    // A reduction copies its input in chunks, so the input may be larger than the memory.
    assert_eq!(reduction.run(&items).expect("has room"), 0);
    let Err(Error::OutOfMemory { requested, free }) = scan.inclusive(&items) else { panic!("no error") };
    assert!(requested == items.len() && free < requested, "{requested} {free}");
    drop(hog);
    stream.synchronize().expect("synchronises");
    assert_eq!(scan.inclusive(&items).expect("works again").last(), Some(&0));
}

fn a_kernel_that_traps_is_an_error_with_its_name() {
    let (_, said) = in_child("trap", &[]);
    assert!(said.contains("a kernel failed in a call with `errors::Trapping`: CUDA_ERROR_"), "{said}");
    assert!(said.contains("The CUDA context is lost"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

fn play(scenario: &str) -> ExitCode {
    match scenario {
        "run" => {
            let device = Device::auto();
            println!("auto is {device}");
            match Device::cuda(0) {
                Ok(device) => println!("cuda(0): {device}"),
                Err(error) => println!("cuda(0): {error}"),
            }
            if let Err(error) = jit::available() {
                println!("nvrtc: {error}");
            }
            match Reduction::<Sum<u32>>::new(device).run(&[1, 2, 3]) {
                Err(error) => {
                    println!("{error}");
                    if let Some(source) = std::error::Error::source(&error) {
                        println!("caused by: {source}");
                    }
                }
                ok => println!("{ok:?}"),
            }
        }
        "nvrtc" => {
            let compiled = compile::<Sum<f32>>();
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
            let mut files: Vec<&str> =
                maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..])).collect();
            files.dedup();
            files.iter().filter(|file| file.contains("libnvrtc.so")).for_each(|file| println!("uses {file}"));
            match compiled {
                Err(error) => println!("{error}"),
                ok => println!("{ok:?}"),
            }
        }
        "trap" => match Reduction::<Trapping>::new(Device::cuda(0).expect("a GPU")).run(&[1, 2, 3]) {
            Err(error) => println!("{error}"),
            ok => println!("{ok:?}"),
        },
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

fn main() -> ExitCode {
    if let Some(scenario) = scenario() {
        return play(&scenario);
    }
    let mut suite = Suite::default();
    macro_rules! tests {
        ($($tier:ident: $($test:ident)*;)*) => {$($( suite.test(Tier::$tier, stringify!($test), $test); )*)*};
    }
    tests! {
        Cpu: a_state_of_another_type_is_refused
            a_policy_that_no_kernel_can_have_is_refused
            a_device_that_is_not_there_is_named
            device_memory_on_the_cpu_is_refused
            overrides_are_honoured_or_an_error
            without_nvrtc_the_cpu_takes_over_and_a_gpu_is_an_error
            a_file_that_is_no_nvrtc_is_named
            errors_of_any_machine_say_what_to_do
            a_panic_in_an_operator_keeps_its_message_and_the_pool;
        Nvrtc: an_operator_that_does_not_compile_shows_its_own_line
            a_layout_that_is_not_true_is_named
            an_old_architecture_is_refused
            the_named_nvrtc_is_used
            missing_builtins_are_named
            errors_of_nvrtc_say_what_to_do
            a_gpu_newer_than_nvrtc_gets_ptx;
        Gpu: a_gpu_refuses_what_is_not_its_own
            errors_of_a_gpu_say_what_to_do
            an_operator_that_does_not_compile_leaves_the_gpu_usable
            out_of_memory_says_how_much_and_leaves_the_gpu_usable
            a_kernel_that_traps_is_an_error_with_its_name;
    }
    suite.run_one_at_a_time()
}
