use super::nvrtc;
use super::options::options;
use super::target::Target;
use crate::Error;
use crate::source::Source;

/// What a compiled kernel takes of a multiprocessor, as the assembler reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelResources {
    /// The kernel's name.
    pub kernel: String,
    /// 32-bit registers of each thread.
    pub registers: u32,
    /// Bytes of each thread's stack: arrays that did not fit in registers.
    pub stack_bytes: u32,
    /// Bytes written and read for want of registers.
    pub spill_bytes: u32,
}

/// Compiles a source for its assembler's report, kernel by kernel. The caches are not asked. PTX has no report.
pub fn resources(source: &Source, target: Target) -> Result<Vec<KernelResources>, Error> {
    let library = nvrtc::library()?;
    let mut options = options(source, target, library);
    // What NVRTC remembers of an earlier compilation comes without the assembler's report.
    options.extend(["--ptxas-options=-v".to_owned(), "--no-cache".to_owned()]);
    let compiled = library.compile(source, target, &options)?;
    Ok(read(&compiled.log))
}

/// Reads the report: a line that names a kernel, then its stack and spills, then its registers.
fn read(log: &str) -> Vec<KernelResources> {
    let mut kernels: Vec<KernelResources> = Vec::new();
    for line in log.lines() {
        if let Some((_, kernel)) = line.split_once("Compiling entry function '") {
            let kernel = kernel.split('\'').next().unwrap_or(kernel).to_owned();
            kernels.push(KernelResources { kernel, ..Default::default() });
        }
        let Some(kernel) = kernels.last_mut() else {
            continue;
        };
        if line.contains("bytes stack frame") {
            // The kernel's own line comes first; those of functions that it calls add to it.
            kernel.stack_bytes += number_before(line, " bytes stack frame");
            kernel.spill_bytes +=
                number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
        }
        if line.contains("Used ") {
            kernel.registers = number_before(line, " registers");
        }
    }
    kernels
}

fn number_before(line: &str, unit: &str) -> u32 {
    let before = line.split(unit).next().unwrap_or_default();
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests;
