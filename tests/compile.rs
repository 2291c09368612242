//! Every kernel with every operator compiles to machine code, on any machine with NVRTC.
//!
//! `WARPFOLD_ARCHITECTURES` is a list such as `75,90`, or `all`; without it one architecture is compiled for, and scans by some
//! operators only. Items of every size are compiled for the first of a list.

mod support;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use support::items::{Sample, Sampler};
use support::operators::{self, Visitor};
use support::tiers::{Suite, Tier};
use warpfold::codegen::Source;
use warpfold::jit::{self, Architecture};
use warpfold::policy::{Kernel, ScanPolicy};
use warpfold::{DeviceMonoid, DeviceType, Kind, Policy};

/// Every generation that is promised, the everyday one first; an NVRTC that no longer knows one says so.
const ALL: [u32; 7] = [90, 75, 80, 86, 89, 100, 120];
/// What even a slow machine under load needs less than: two cores that do twice as much have taken 8 s, for 48 additions in a combination.
const LONGEST: Duration = Duration::from_secs(30);

fn architectures() -> Vec<Architecture> {
    let numbers = match std::env::var("WARPFOLD_ARCHITECTURES").as_deref() {
        Ok("all") => ALL.to_vec(),
        Ok(list) => list.split(',').map(|number| number.parse().expect("a number such as 90")).collect(),
        Err(_) => vec![ALL[0]],
    };
    numbers.into_iter().map(|number| Architecture::new(number / 10, number % 10)).collect()
}

struct Compile<'a> {
    suite: &'a mut Suite,
    architectures: Vec<Architecture>,
    /// Which kernels of scans; the small one differs from the large one in constants alone.
    scans: &'static [Kernel],
    report: Arc<Mutex<Vec<String>>>,
}

impl Visitor for Compile<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, _: M, _: Sampler<M::Item>)
    where
        M::Item: Sample,
    {
        for &architecture in &self.architectures {
            let (name, report, scans) = (name.to_owned(), self.report.clone(), self.scans);
            self.suite.test(Tier::Nvrtc, format!("{name}_compiles_for_{architecture}"), move || {
                compile::<M>(&name, architecture, scans, &report);
            });
        }
    }
}

/// Every kernel.
fn compile<M: DeviceMonoid>(
    name: &str,
    architecture: Architecture,
    scans: &[Kernel],
    report: &Mutex<Vec<String>>,
) {
    let (reduction, scan) = (Policy::for_item(&M::Item::layout()), ScanPolicy::for_item(&M::Item::layout()));
    for kernel in Kernel::ALL {
        let source = Source::of_reduction::<M>(&reduction, kernel).expect("renders");
        compile_one::<M>(&format!("{name}, {kernel:?}"), &source, architecture, report);
        if scans.contains(&kernel) {
            let source = Source::of_scan::<M>(&scan, kernel).expect("renders");
            compile_one::<M>(&format!("{name}, {kernel:?}"), &source, architecture, report);
        }
    }
}

fn compile_one<M: DeviceMonoid>(
    name: &str,
    source: &Source,
    architecture: Architecture,
    report: &Mutex<Vec<String>>,
) {
    let target = jit::target(architecture).expect("known to this NVRTC");
    assert_eq!(target.form, jit::Form::Cubin, "machine code, not PTX");
    let start = Instant::now();
    let kernels = jit::resources(source, target).unwrap_or_else(|error| panic!("{error}"));
    let time = start.elapsed();
    assert!(!kernels.is_empty());
    let in_registers = matches!(M::Item::layout().kind, Kind::Scalar(_));
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
        report: Arc::clone(&report),
    };
    operators::structs(&mut compile);
    compile.scans = if std::env::var_os("WARPFOLD_ARCHITECTURES").is_some() { &[Kernel::Large] } else { &[] };
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
