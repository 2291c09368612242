use super::nvrtc;
use super::options::options;
use super::target::Target;
use crate::Error;
use crate::source::Source;

/// The resources of a compiled kernel, as the assembler reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelResources {
    /// The kernel's name.
    pub kernel: String,
    /// 32-bit registers of each thread.
    pub registers: u32,
    /// Bytes of each thread's stack, for arrays that did not fit into registers.
    pub stack_bytes: u32,
    /// Bytes of registers that are spilled to the stack: stores plus loads.
    pub spill_bytes: u32,
}

/// Compiles a source for its assembler's report, with one entry for each kernel. Does not use the
/// caches. PTX has no report.
///
/// # Errors
///
/// The errors of [`compile`](super::compile()).
pub fn resources(source: &Source, target: Target) -> Result<Vec<KernelResources>, Error> {
    let library = nvrtc::library()?;
    let mut options = options(source, target, &library.compiler);
    // NVRTC remembers sources that it has compiled, and prints no report for them.
    options.extend(["--ptxas-options=-v".to_owned(), "--no-cache".to_owned()]);
    let compiled = library.compile(source, target, &options)?;
    Ok(read(&compiled.log))
}

/// Parses the report. For each kernel it has a line with the name, then stack and spills, then
/// registers.
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
            // The kernel's own line comes first. Functions that it calls have further lines, which
            // are added.
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
