//! The caches of compiled images: within a process, and between processes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaSlice, CudaStream};

use support::tiers::{Suite, Tier, in_child, scenario};
use warpfold::DeviceType;
use warpfold::jit::{self, Architecture, Compilation};
use warpfold::operators::{AffineComposition, Max, Min, Sum};
use warpfold::plan::Kernel;
use warpfold::source::Source;
use warpfold::{
    Device, DeviceCode, DeviceMonoid, DeviceOperator, Error, Monoid, Policy, Reduction, cudarc, device_code,
};

fn image<M: DeviceMonoid + Default>(architecture: Architecture) -> Arc<jit::Image> {
    let source = Reduction::<M>::new(Device::cpu()).source().expect("renders");
    jit::compile(&source, jit::target(architecture).expect("known")).expect("compiles")
}

const HOPPER: Architecture = Architecture::new(9, 0);

fn an_operator_is_compiled_once_a_process() {
    let first = image::<Max<u16>>(HOPPER);
    assert!(Arc::ptr_eq(&first, &image::<Max<u16>>(HOPPER)));
    assert!(!Arc::ptr_eq(&first, &image::<Max<u16>>(Architecture::new(8, 0))));
    assert_ne!(first.bytes, image::<Max<i16>>(HOPPER).bytes);
}

/// Compiles one operator in another process, with a cache folder; what its log says.
fn compile_elsewhere(folder: &Path) -> String {
    let (succeeded, said) = in_child("compile", &[("WARPFOLD_CACHE_DIR", &folder.to_string_lossy())]);
    assert!(succeeded, "{said}");
    said
}

/// What of a cache folder is private.
fn images(folder: &Path) -> PathBuf {
    folder.join("images")
}

/// The entries of a kind, and whatever lies about.
fn files(folder: &Path, not: &str) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(images(folder)).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension().is_none_or(|ending| ending != not)).collect()
}

fn the_next_process_loads_what_this_one_compiled() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("not/there/yet");
    assert!(compile_elsewhere(&folder).contains("compiling"));
    let mode = fs::metadata(images(&folder)).expect("made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "the user's alone");
    let [file] = &files(&folder, "nvrtc")[..] else { panic!("one image: {:?}", files(&folder, "nvrtc")) };
    let whole = fs::read(file).expect("readable");
    assert_eq!(fs::metadata(file).expect("there").permissions().mode() & 0o077, 0);

    let second = compile_elsewhere(&folder);
    assert!(second.contains("from the disk") && !second.contains("compiling"), "{second}");
    assert!(!second.contains("opening NVRTC"), "{second}");

    // Corrupt, cut short, empty, and another image under this name: compiled again and replaced.
    let mut corrupt = whole.clone();
    corrupt[whole.len() / 2] ^= 0x10;
    let foreign = b"warpfold image1\nsomething else altogether".to_vec();
    for bad in [corrupt, whole[..whole.len() - 7].to_vec(), Vec::new(), foreign] {
        fs::write(file, bad).expect("writable");
        let said = compile_elsewhere(&folder);
        assert!(said.contains("is corrupt") && said.contains("compiling"), "{said}");
        assert_eq!(fs::read(file).expect("readable"), whole, "replaced by a whole one");
    }
    assert_eq!(files(&folder, "nvrtc").len(), 1, "nothing left lying about");
}

fn nvrtc_is_opened_again_where_it_may_be_another() {
    let scratch = tempfile::tempdir().expect("a folder");
    assert!(compile_elsewhere(scratch.path()).contains("opening NVRTC"));
    let [remembered] = &files(scratch.path(), "image")[..] else { panic!("one file about NVRTC") };
    let whole = fs::read(remembered).expect("readable");

    let folder = scratch.path().to_string_lossy();
    let elsewhere = [("WARPFOLD_CACHE_DIR", &*folder), ("CUDA_HOME", "/elsewhere")];
    let (succeeded, said) = in_child("compile", &elsewhere);
    assert!(succeeded && said.contains("opening NVRTC") && said.contains("from the disk"), "{said}");

    fs::write(remembered, &whole[1..]).expect("writable");
    let said = compile_elsewhere(scratch.path());
    assert!(said.contains("is corrupt") && said.contains("opening NVRTC"), "{said}");
    assert_eq!(fs::read(remembered).expect("readable"), whole, "replaced by a whole one");
    assert!(!compile_elsewhere(scratch.path()).contains("opening NVRTC"));
}

fn the_cache_can_be_off_and_is_never_shared_with_others() {
    let scratch = tempfile::tempdir().expect("a folder");
    for _ in 0..2 {
        let (succeeded, said) = in_child("compile", &[("WARPFOLD_CACHE_DIR", "off")]);
        assert!(succeeded && said.contains("compiling"), "{said}");
    }

    // In a folder that anyone can read there is a private one.
    let shared = scratch.path().join("shared");
    fs::create_dir(&shared).expect("made");
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).expect("its owner's");
    assert!(!compile_elsewhere(&shared).contains("no disk cache"));
    assert!(compile_elsewhere(&shared).contains("from the disk"));

    // One that was there, and that others can use, stays empty.
    for mode in [0o777, 0o755, 0o711] {
        let open = scratch.path().join(format!("open to {mode:o}"));
        fs::create_dir_all(images(&open)).expect("made");
        fs::set_permissions(images(&open), fs::Permissions::from_mode(mode)).expect("its owner's");
        let said = compile_elsewhere(&open);
        assert!(said.contains("no disk cache") && said.contains("compiling"), "{said}");
        assert!(files(&open, "").is_empty());
    }

    // Not a folder at all: slower, and no error.
    let file = scratch.path().join("file");
    fs::write(&file, "").expect("writable");
    assert!(compile_elsewhere(&file).contains("no disk cache"));
}

fn processes_at_once_leave_one_whole_image() {
    let scratch = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| compile_elsewhere(scratch.path()));
        }
    });
    assert_eq!(files(scratch.path(), "nvrtc").len(), 1);
    assert!(compile_elsewhere(scratch.path()).contains("from the disk"));
}

/// The operators differ, so that none of them is in a cache.
fn source<M: DeviceMonoid + Default>() -> Arc<Source> {
    Arc::new(Reduction::<M>::new(Device::cpu()).source().expect("renders"))
}

fn what_is_compiled_in_the_background_is_the_same() {
    let target = jit::target(HOPPER).expect("known");
    image::<Min<u8>>(HOPPER);
    let sources = [source::<Min<u16>>(), source::<Min<u32>>(), source::<Min<u64>>()];
    let begun = sources.each_ref().map(|source| Compilation::begin(source.clone(), target));
    for (source, compilation) in sources.iter().zip(begun).rev() {
        let image = compilation.wait().expect("compiles");
        assert!(Arc::ptr_eq(&image, &jit::compile(source, target).expect("compiles")));
    }
    let again = Compilation::begin(sources[0].clone(), target);
    while !again.has_ended() {
        std::thread::yield_now();
    }
    assert!(Arc::ptr_eq(&again.wait().expect("found"), &jit::compile(&sources[0], target).expect("found")));
}

/// Which does not compile.
#[derive(Clone, Copy, Default)]
struct Misspelt;

impl Monoid for Misspelt {
    type Item = u32;
    fn identity(&self) -> u32 {
        0
    }
    fn combine(&self, left: u32, _: u32) -> u32 {
        left
    }
}

impl DeviceMonoid for Misspelt {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        // SAFETY: it does not compile.
        DeviceOperator::new::<u32>("left", "right", unsafe { device_code!("return lefft;") })
    }
}

fn what_does_not_compile_in_the_background_is_an_error() {
    let target = jit::target(HOPPER).expect("known");
    image::<Min<i8>>(HOPPER);
    let begun = Compilation::begin(source::<Misspelt>(), target);
    assert!(matches!(begun.wait(), Err(Error::Compilation { .. })));
    let next = Compilation::begin(source::<Min<i16>>(), target);
    assert!(next.wait().is_ok(), "the thread goes on");
}

/// Of a hundred parentheses, one within another.
#[derive(Clone, Copy, Default)]
struct Nested;

impl Monoid for Nested {
    type Item = u32;
    fn identity(&self) -> u32 {
        0
    }
    fn combine(&self, left: u32, right: u32) -> u32 {
        (0..100).fold(left, |sum, _| right.wrapping_mul(sum).wrapping_add(left))
    }
}

impl DeviceMonoid for Nested {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        let text = format!("return {}left{};", "left + right * (".repeat(100), ")".repeat(100));
        // SAFETY: it does what `combine` does, as far as this test asks: it is compiled, and runs nowhere.
        DeviceOperator::new::<u32>("left", "right", unsafe { DeviceCode::at(text, file!(), line!()) })
    }
}

fn items_are_read_after_the_launch_before_has_ended() {
    // As text: what an assembler moves is seen in no result, most of the time.
    let target = jit::Target { architecture: HOPPER, form: jit::Form::Ptx };
    let policy = Policy::for_item(&<[u32; 2]>::layout());
    let text = |kernel| {
        let source = Source::of_reduction::<AffineComposition<u32>>(&policy, kernel).expect("renders");
        let image = jit::compile(&source, target).expect("compiles");
        String::from_utf8_lossy(&image.bytes).into_owned()
    };
    // Loads of what is said to be constant may be moved before the wait.
    for kernel in Kernel::ALL {
        let waits = text(kernel);
        let first = |what| waits.find(what).expect("there");
        assert!(first("griddepcontrol.wait") < first("ld.global"));
        assert!(!waits.contains("ld.global.nc"), "{waits}");
        // Nothing is asked for, or read, before the wait.
        assert!(!waits.contains("prefetch.L2") && !waits.contains("ld.relaxed"), "{kernel:?}");
        // Tuned ones may leave partials for the next launch.
        let lets_next_begin = waits.contains("griddepcontrol.launch_dependents");
        assert_eq!(lets_next_begin, kernel != Kernel::Baseline, "{kernel:?}");
    }
    // Partials are looked for after the wait.
    let small = text(Kernel::Small);
    let looks = small.find("ld.volatile.global.v2.u64").expect("a block gathers");
    assert!(small[..looks].contains("griddepcontrol.wait"));
}

/// Whatever thread asks. In a process of its own, which would end if that took more stack than
/// there is.
fn what_is_nested_deeply_compiles() {
    let (succeeded, said) = in_child("nested", &[("WARPFOLD_CACHE_DIR", "off")]);
    assert!(succeeded && said.contains("compiling"), "{said}");
}

fn nested() {
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    let image = thread.spawn(|| image::<Nested>(HOPPER)).expect("a thread").join().expect("compiles");
    assert!(!image.bytes.is_empty());
}

/// A process that ends while it compiles ends well, and leaves whole images.
fn a_process_ends_while_it_compiles() {
    for milliseconds in [0, 1, 3, 10, 30, 100] {
        let folder = tempfile::tempdir().expect("a folder");
        let (succeeded, said) = in_child(
            &format!("end after {milliseconds}"),
            &[("WARPFOLD_CACHE_DIR", &folder.path().to_string_lossy())],
        );
        assert!(succeeded, "{said}");
        // Of one that is compiled at once, and four that are left to the thread, which has begun
        // after a while.
        let least = if milliseconds < 100 { 1 } else { 2 };
        let left = files(folder.path(), "nvrtc").len();
        assert!((least..5).contains(&left), "{left} images after {milliseconds} ms");
        assert!(!compile_elsewhere(folder.path()).contains("corrupt"));
    }
}

fn end_after(milliseconds: u64) {
    let target = jit::target(HOPPER).expect("known");
    // As a first call does.
    let baseline = Source::of_reduction::<Sum<u32>>(&Policy::for_item(&u32::layout()), Kernel::Baseline);
    jit::compile(&baseline.expect("renders"), target).expect("compiles");
    let sources = [source::<Sum<u8>>(), source::<Min<u8>>(), source::<Max<u8>>(), source::<Sum<i8>>()];
    let begun = sources.map(|source| Compilation::begin(source, target));
    std::thread::sleep(Duration::from_millis(milliseconds));
    assert!(!begun[3].has_ended());
}

/// With nothing in the cache the baseline answers, and later the tuned kernels do.
fn first_calls_are_answered_by_the_baseline() {
    let folder = tempfile::tempdir().expect("a folder");
    let variables = [("WARPFOLD_CACHE_DIR", &*folder.path().to_string_lossy())];
    for how in ["once", "until tuned", "and compile", "and record"] {
        let (succeeded, said) = in_child(&format!("reduce {how}"), &variables);
        assert!(succeeded && said.contains("Baseline runs meanwhile"), "{how}: {said}");
        assert_eq!(said.contains("Large: runs now, instead of Baseline"), how == "until tuned", "{said}");
        fs::remove_dir_all(images(folder.path())).expect("there");
    }
    let (succeeded, said) = in_child("reduce compiled", &variables);
    assert!(succeeded && !said.contains("Baseline"), "{said}");
    let (succeeded, said) = in_child("reduce once", &variables);
    assert!(succeeded && !said.contains("Baseline") && !said.contains("opening NVRTC"), "{said}");
}

/// Of two operators, so that one is compiled while the other waits for its turn.
fn reduce(how: &str) {
    let device = Device::cuda(0).expect("a GPU");
    let items: Vec<u32> = (0..3_000_000_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let stream = device.stream().expect("a GPU").context().new_stream().expect("a stream");
    let copy = stream.clone_htod(&items).expect("copies");
    let (sum, max) = (Reduction::<Sum<u32>>::new(stream.clone()), Reduction::<Max<u32>>::new(stream.clone()));
    let compile = || [sum.compile(), max.compile()].map(|compiled| compiled.expect("compiles"));
    if how == "compiled" {
        compile();
    }
    // Long enough for a slow machine, whose time the test is told by.
    let until = Instant::now() + Duration::from_secs(if how == "until tuned" { 5 } else { 0 });
    for round in 0.. {
        if round == 1 && how == "and compile" {
            compile();
        }
        if round == 1 && how == "and record" {
            record(&stream, &sum, &copy, items.iter().fold(0, |sum, item| sum.wrapping_add(*item)));
        }
        if round > usize::from(how.starts_with("and")) && Instant::now() > until {
            break;
        }
        for length in [1000, 3_000_000 - round] {
            let (part, items) = (copy.slice(..length), &items[..length]);
            let total = items.iter().fold(0_u32, |sum, item| sum.wrapping_add(*item));
            assert_eq!(sum.run(&part).expect("runs"), total);
            assert_eq!(Some(max.run(&part).expect("runs")), items.iter().max().copied());
        }
    }
}

/// Records a reduction whose kernels are being compiled, and replays it.
fn record(stream: &Arc<CudaStream>, sum: &Reduction<Sum<u32>>, items: &CudaSlice<u32>, expected: u32) {
    let mut result = stream.clone_htod(&[0_u32]).expect("copies");
    stream.synchronize().expect("synchronises");
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).expect("begins to record");
    // SAFETY: the graph is gone before the slices.
    unsafe { sum.record_into(items, &mut result) }.expect("records");
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
    graph.launch().expect("launches");
    assert_eq!(stream.clone_dtoh(&result).expect("copies"), [expected]);
}

/// Says on standard output what the crate logs.
struct Say;

impl log::Log for Say {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }
    fn log(&self, record: &log::Record) {
        println!("{}", record.args());
    }
    fn flush(&self) {}
}

fn main() -> ExitCode {
    if let Some(scenario) = scenario() {
        log::set_logger(&Say).expect("the first logger");
        log::set_max_level(log::LevelFilter::Debug);
        match scenario.split_once(' ') {
            Some(("end", rest)) => end_after(rest.trim_start_matches("after ").parse().expect("a number")),
            Some(("reduce", how)) => reduce(how),
            None if scenario == "nested" => nested(),
            _ => drop(image::<Sum<u32>>(HOPPER)),
        }
        return ExitCode::SUCCESS;
    }
    let mut suite = Suite::default();
    macro_rules! tests {
        ($($test:ident)*) => {$( suite.test(Tier::Nvrtc, stringify!($test), $test); )*};
    }
    tests! {
        an_operator_is_compiled_once_a_process
        the_next_process_loads_what_this_one_compiled
        nvrtc_is_opened_again_where_it_may_be_another
        the_cache_can_be_off_and_is_never_shared_with_others
        processes_at_once_leave_one_whole_image
        what_is_compiled_in_the_background_is_the_same
        what_does_not_compile_in_the_background_is_an_error
        what_is_nested_deeply_compiles
        items_are_read_after_the_launch_before_has_ended
        a_process_ends_while_it_compiles
    }
    let first_calls = first_calls_are_answered_by_the_baseline;
    suite.test(Tier::Gpu, "first_calls_are_answered_by_the_baseline", first_calls);
    suite.run()
}
