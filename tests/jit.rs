//! Tests of compilation, and of the caches of images within a process and between processes.

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

/// Compiles one operator in a child process with `folder` as its cache. Returns the child's log.
fn compile_elsewhere(folder: &Path) -> String {
    let (succeeded, said) = in_child("compile", &[("WARPFOLD_CACHE_DIR", &folder.to_string_lossy())]);
    assert!(succeeded, "{said}");
    said
}

/// The private subfolder of a cache folder.
fn images(folder: &Path) -> PathBuf {
    folder.join("images")
}

/// The files of the private subfolder, without the extension `not`.
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

    // A corrupt, truncated, empty or foreign image under this name is compiled again and replaced.
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
    let [recorded] = &files(scratch.path(), "image")[..] else { panic!("one file about NVRTC") };
    let whole = fs::read(recorded).expect("readable");

    let folder = scratch.path().to_string_lossy();
    let elsewhere = [("WARPFOLD_CACHE_DIR", &*folder), ("CUDA_HOME", "/elsewhere")];
    let (succeeded, said) = in_child("compile", &elsewhere);
    assert!(succeeded && said.contains("opening NVRTC") && said.contains("from the disk"), "{said}");

    fs::write(recorded, &whole[1..]).expect("writable");
    let said = compile_elsewhere(scratch.path());
    assert!(said.contains("is corrupt") && said.contains("opening NVRTC"), "{said}");
    assert_eq!(fs::read(recorded).expect("readable"), whole, "replaced by a whole one");
    assert!(!compile_elsewhere(scratch.path()).contains("opening NVRTC"));
}

/// A library that was replaced since the last process is opened again.
fn a_changed_nvrtc_is_opened_again() {
    drop(image::<Sum<u8>>(HOPPER));
    jit::resources(&source::<Sum<u8>>(), jit::target(HOPPER).expect("known")).expect("opens NVRTC");
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux");
    let original = maps
        .lines()
        .find_map(|line| line.find('/').map(|at| &line[at..]).filter(|path| path.contains("/libnvrtc.so")))
        .map(PathBuf::from)
        .expect("open");
    let scratch = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(original.parent().expect("a folder")).expect("readable").flatten() {
        if entry.file_name().to_string_lossy().starts_with("libnvrtc-builtins.so") {
            std::os::unix::fs::symlink(entry.path(), scratch.path().join(entry.file_name())).expect("linked");
        }
    }
    let library = scratch.path().join("libnvrtc.so");
    fs::copy(&original, &library).expect("copied");
    let cache = scratch.path().join("cache");
    let compile = || {
        let variables = [
            ("WARPFOLD_CACHE_DIR", &*cache.to_string_lossy()),
            ("WARPFOLD_NVRTC", &*library.to_string_lossy()),
        ]
        .map(|(name, value)| (name, value.to_owned()));
        let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
        in_child("compile", &variables).1
    };
    assert!(compile().contains("opening NVRTC"));
    assert!(!compile().contains("opening NVRTC"));
    let file = fs::File::options().append(true).open(&library).expect("writable");
    file.set_modified(std::time::SystemTime::now() + Duration::from_secs(9)).expect("has times");
    assert!(compile().contains("opening NVRTC"));
    fs::remove_file(&library).expect("removed");
    assert!(compile().contains("WARPFOLD_NVRTC names"));
}

fn the_cache_can_be_off_and_is_never_shared_with_others() {
    let scratch = tempfile::tempdir().expect("a folder");
    for _ in 0..2 {
        let (succeeded, said) = in_child("compile", &[("WARPFOLD_CACHE_DIR", "off")]);
        assert!(succeeded && said.contains("compiling"), "{said}");
    }

    // A folder that others can read gets a private subfolder.
    let shared = scratch.path().join("shared");
    fs::create_dir(&shared).expect("made");
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).expect("its owner's");
    assert!(!compile_elsewhere(&shared).contains("no disk cache"));
    assert!(compile_elsewhere(&shared).contains("from the disk"));

    // An existing subfolder that others can access stays empty.
    for mode in [0o777, 0o755, 0o711] {
        let open = scratch.path().join(format!("open to {mode:o}"));
        fs::create_dir_all(images(&open)).expect("made");
        fs::set_permissions(images(&open), fs::Permissions::from_mode(mode)).expect("its owner's");
        let said = compile_elsewhere(&open);
        assert!(said.contains("no disk cache") && said.contains("compiling"), "{said}");
        assert!(files(&open, "").is_empty());
    }

    // If the path is not a folder, there is no disk cache, and no error.
    let file = scratch.path().join("file");
    fs::write(&file, "").expect("writable");
    assert!(compile_elsewhere(&file).contains("no disk cache"));
}

/// A file that is a link, and a file system that takes no more bytes. The call succeeds without the
/// cache.
fn a_cache_that_cannot_be_written_or_trusted_is_left_out() {
    let scratch = tempfile::tempdir().expect("a folder");
    compile_elsewhere(scratch.path());
    let [image] = &files(scratch.path(), "nvrtc")[..] else { panic!("one image") };
    let elsewhere = scratch.path().join("elsewhere");
    fs::rename(image, &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, image).expect("linked");
    let said = compile_elsewhere(scratch.path());
    assert!(said.contains("is not a file that only you can use") && said.contains("compiling"), "{said}");

    let full = tempfile::tempdir().expect("a folder");
    let folder = full.path().to_string_lossy();
    let (succeeded, said) = in_child("without room", &[("WARPFOLD_CACHE_DIR", &folder)]);
    assert!(succeeded && said.contains("compiling") && said.contains("was not written"), "{said}");
    assert!(files(full.path(), "nvrtc").is_empty(), "no part of an image stays");
    let odd = scratch.path().join("\u{7f}\n");
    for nonsense in ["/dev/null", "/proc/nowhere", &odd.to_string_lossy()] {
        let (succeeded, said) = in_child("compile", &[("WARPFOLD_CACHE_DIR", nonsense)]);
        assert!(succeeded && !said.contains("panicked"), "{said}");
    }
}

/// Limits the files of this process to 1 KiB, and compiles.
fn compile_without_room() {
    // SAFETY: the signal is ignored, and the limit is a valid structure.
    let limited = unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        libc::setrlimit(libc::RLIMIT_FSIZE, &libc::rlimit { rlim_cur: 1024, rlim_max: 1024 })
    };
    assert_eq!(limited, 0);
    drop(image::<Sum<u32>>(HOPPER));
}

/// A child of `fork` compiles in the background and ends normally. So does its parent afterwards.
fn a_forked_process_compiles() {
    let (succeeded, said) = in_child("fork", &[("WARPFOLD_CACHE_DIR", "off")]);
    assert!(succeeded && said.contains("the parent has compiled"), "{said}");
}

fn fork() {
    drop(image::<Sum<u32>>(HOPPER));
    let compilation = Compilation::begin(source::<Min<u32>>(), jit::target(HOPPER).expect("known"));
    // SAFETY: an alarm ends the child if it hangs.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: no preconditions.
        unsafe { libc::alarm(60) };
        let compilation = Compilation::begin(source::<Max<u32>>(), jit::target(HOPPER).expect("known"));
        compilation.wait().expect("compiles");
        // Runs the exit handlers, which must not wait for the parent's thread.
        std::process::exit(0);
    }
    let mut status = 0;
    // SAFETY: the child exists, and the pointer is valid for writes.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status}");
    compilation.wait().expect("compiles");
    println!("the parent has compiled");
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

/// The source of a reduction. The operators of the calls differ, so that no cache has their images.
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

/// An operator whose CUDA C++ does not compile.
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
        // SAFETY: the body does not compile, so it never runs.
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

/// An operator whose body has a hundred nested parentheses.
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
        // SAFETY: the body only reads its operands. This test compiles it, and never launches it.
        DeviceOperator::new::<u32>("left", "right", unsafe { DeviceCode::at(text, file!(), line!()) })
    }
}

fn items_are_read_after_the_launch_before_has_ended() {
    // Checks the PTX, because a load that the assembler moves before the wait rarely changes a
    // result.
    let target = jit::Target { architecture: HOPPER, format: jit::ImageFormat::Ptx };
    let policy = Policy::for_item(&<[u32; 2]>::layout());
    let text = |kernel| {
        let source = Source::of_reduction::<AffineComposition<u32>>(&policy, kernel).expect("renders");
        let image = jit::compile(&source, target).expect("compiles");
        String::from_utf8_lossy(&image.bytes).into_owned()
    };
    // A load of constant memory (`ld.global.nc`) could be moved before the wait.
    for kernel in Kernel::ALL {
        let waits = text(kernel);
        let first = |what| waits.find(what).expect("there");
        assert!(first("griddepcontrol.wait") < first("ld.global"));
        assert!(!waits.contains("ld.global.nc"), "{waits}");
        // Nothing is prefetched or read before the wait.
        assert!(!waits.contains("prefetch.L2") && !waits.contains("ld.relaxed"), "{kernel:?}");
        // A tuned kernel may leave partials to the next launch, and lets that launch begin early.
        let lets_next_begin = waits.contains("griddepcontrol.launch_dependents");
        assert_eq!(lets_next_begin, kernel != Kernel::Baseline, "{kernel:?}");
    }
    // The extra block polls the partials only after the wait.
    let small = text(Kernel::Small);
    let looks = small.find("ld.volatile.global.v2.u64").expect("a block gathers");
    assert!(small[..looks].contains("griddepcontrol.wait"));
}

/// A deeply nested body compiles, even if the calling thread has a small stack. The test uses a
/// child process, because a stack overflow would end the process.
fn what_is_nested_deeply_compiles() {
    let (succeeded, said) = in_child("nested", &[("WARPFOLD_CACHE_DIR", "off")]);
    assert!(succeeded && said.contains("compiling"), "{said}");
}

fn nested() {
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    let image = thread.spawn(|| image::<Nested>(HOPPER)).expect("a thread").join().expect("compiles");
    assert!(!image.bytes.is_empty());
}

/// A process that ends during a compilation exits cleanly, and leaves only complete images.
fn a_process_ends_while_it_compiles() {
    for milliseconds in [0, 1, 3, 10, 30, 100] {
        let folder = tempfile::tempdir().expect("a folder");
        let (succeeded, said) = in_child(
            &format!("end after {milliseconds}"),
            &[("WARPFOLD_CACHE_DIR", &folder.path().to_string_lossy())],
        );
        assert!(succeeded, "{said}");
        // The child compiles one image itself and leaves four to the background thread. After 100
        // ms the thread has compiled at least one of the four, but not all.
        let least = if milliseconds < 100 { 1 } else { 2 };
        let left = files(folder.path(), "nvrtc").len();
        assert!((least..5).contains(&left), "{left} images after {milliseconds} ms");
        assert!(!compile_elsewhere(folder.path()).contains("corrupt"));
    }
}

fn end_after(milliseconds: u64) {
    let target = jit::target(HOPPER).expect("known");
    // A first call compiles its baseline kernel itself.
    let baseline = Source::of_reduction::<Sum<u32>>(&Policy::for_item(&u32::layout()), Kernel::Baseline);
    jit::compile(&baseline.expect("renders"), target).expect("compiles");
    let sources = [source::<Sum<u8>>(), source::<Min<u8>>(), source::<Max<u8>>(), source::<Sum<i8>>()];
    let begun = sources.map(|source| Compilation::begin(source, target));
    std::thread::sleep(Duration::from_millis(milliseconds));
    assert!(!begun[3].has_ended());
}

/// With an empty cache the baseline kernel runs until the tuned kernels are compiled.
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

/// Reduces with two operators, so that kernels of one wait while kernels of the other compile.
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
    // Long enough to compile the tuned kernels on a slow machine.
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

/// Records a reduction whose kernels are still being compiled, and launches the graph.
fn record(stream: &Arc<CudaStream>, sum: &Reduction<Sum<u32>>, items: &CudaSlice<u32>, expected: u32) {
    let mut result = stream.clone_htod(&[0_u32]).expect("copies");
    stream.synchronize().expect("synchronises");
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).expect("begins to record");
    // SAFETY: the slices outlive the graph, and its launches do not overlap.
    unsafe { sum.record_into(items, &mut result) }.expect("records");
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
    graph.launch().expect("launches");
    assert_eq!(stream.clone_dtoh(&result).expect("copies"), [expected]);
}

/// A logger that prints to standard output.
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
            None if scenario == "fork" => fork(),
            _ if scenario == "without room" => compile_without_room(),
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
        a_changed_nvrtc_is_opened_again
        a_cache_that_cannot_be_written_or_trusted_is_left_out
        a_forked_process_compiles
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
