//! Compiles every kernel with every operator to machine code, on any machine with NVRTC.
//!
//! `WARPFOLD_ARCHITECTURES` is a list such as `75,90`. Without it, all architectures of `ALL` are
//! used. Operators over items of every size are compiled for one architecture.

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use support::checks::{Check, code_of, digest};
use support::items::{Sample, Sampler};
use support::operators::{self, Visitor};
use support::tiers::{Suite, Tier};
use warpfold::jit::{self, Architecture};
use warpfold::plan::{Kernel, ScanPolicy};
use warpfold::source::Source;
use warpfold::{DeviceMonoid, DeviceType, Kind, Policy};

/// The supported architectures. A test fails if its NVRTC does not know the architecture.
const ALL: [u32; 7] = [90, 75, 80, 86, 89, 100, 120];
/// The time limit of one compilation, on a slow machine under load. Two overloaded cores need 8 s
/// for an operator of 48 additions.
const LONGEST: Duration = Duration::from_secs(30);
/// Files that determine the outcome besides the source: the options, the parser of the report, and
/// this file. Caches and background compilation do not, because `resources` uses neither.
const DETERMINANTS: [&str; 7] = [
    "src/cuda/jit/image.rs",
    "src/cuda/jit/nvrtc.rs",
    "src/cuda/jit/options.rs",
    "src/cuda/jit/resources.rs",
    "src/cuda/jit/target.rs",
    "src/types/architecture.rs",
    "tests/compile.rs",
];

fn architectures() -> Vec<Architecture> {
    let numbers = match std::env::var("WARPFOLD_ARCHITECTURES") {
        Ok(list) => list.split(',').map(|number| number.parse().expect("a number such as 90")).collect(),
        Err(_) => ALL.to_vec(),
    };
    numbers.into_iter().map(|number| Architecture::new(number / 10, number % 10)).collect()
}

struct Compile<'a> {
    suite: &'a mut Suite,
    architectures: Vec<Architecture>,
    /// Scan kernels to compile. The small and the large one differ only in constants.
    scans: &'static [Kernel],
    /// Version of NVRTC.
    version: String,
    report: Arc<Mutex<Vec<String>>>,
}

impl Visitor for Compile<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, _: M, _: Sampler<M::Item>)
    where
        M::Item: Sample,
    {
        let item = M::Item::layout();
        let (reduction, scan) = (Policy::for_item(&item), ScanPolicy::for_item(&item));
        let reductions = Kernel::ALL.map(|kernel| {
            (format!("{kernel:?}"), Source::of_reduction::<M>(&reduction, kernel).expect("renders"))
        });
        let scans = self.scans.iter().map(|&kernel| {
            (format!("{kernel:?} scan"), Source::of_scan::<M>(&scan, kernel).expect("renders"))
        });
        let in_registers = matches!(item.kind, Kind::Scalar(_));
        for (kernel, source) in reductions.into_iter().chain(scans) {
            self.add(name, &kernel, item.size, Arc::new(source), in_registers);
        }
    }
}

impl Compile<'_> {
    fn add(&mut self, name: &str, kernel: &str, size: usize, source: Arc<Source>, in_registers: bool) {
        let of_source = Check::of("compilations")
            .aspect("operator", name)
            .aspect("kernel", kernel)
            .aspect("item size", size)
            .determined_by(code_of(source.text()))
            .determined_by([u8::from(in_registers)])
            .determined_by(digest(&DETERMINANTS))
            .determined_by(&self.version);
        for &architecture in &self.architectures {
            let check = of_source.clone().factor("architecture", architecture);
            let (source, report) = (source.clone(), self.report.clone());
            let title = format!("{name}, {kernel}");
            let test = move || compile(&title, &source, in_registers, architecture, &report);
            self.suite.check(Tier::Nvrtc, check, format!("{name}_{kernel}_for_{architecture}"), test);
        }
    }
}

fn compile(
    name: &str,
    source: &Source,
    in_registers: bool,
    architecture: Architecture,
    report: &Mutex<Vec<String>>,
) {
    let target = jit::target(architecture).expect("known to this NVRTC");
    assert_eq!(target.format, jit::ImageFormat::Cubin, "machine code, not PTX");
    let start = Instant::now();
    let kernels = jit::resources(source, target).unwrap_or_else(|error| panic!("{error}"));
    let time = start.elapsed();
    assert!(!kernels.is_empty());
    for kernel in kernels {
        report.lock().expect("no test panics here").push(format!(
            "{name} {architecture} {}: {} registers, {} bytes of stack, {} spilled, {time:.0?}",
            kernel.kernel, kernel.registers, kernel.stack_bytes, kernel.spill_bytes,
        ));
        assert!(kernel.registers > 0, "a report that was not understood");
        if in_registers {
            assert_eq!((kernel.stack_bytes, kernel.spill_bytes), (0, 0), "{name}, {}", kernel.kernel);
        }
    }
    assert!(time < LONGEST, "{name} took {time:?} to compile");
}

fn main() -> ExitCode {
    let mut suite = Suite::default();
    let report = Arc::default();
    let mut compile = Compile {
        suite: &mut suite,
        architectures: architectures(),
        scans: &ScanPolicy::KERNELS,
        version: jit::version().unwrap_or_default(),
        report: Arc::clone(&report),
    };
    operators::structs(&mut compile);
    compile.scans = &[Kernel::Large];
    operators::built_in(&mut compile);
    compile.architectures.truncate(1);
    operators::sizes(&mut compile);
    let code = suite.run();
    let mut lines = report.lock().expect("no test panics while it holds this");
    lines.sort();
    for line in lines.iter() {
        println!("{line}");
    }
    code
}
