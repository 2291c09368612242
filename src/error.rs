use std::fmt;

use crate::types::Architecture;

/// Why a reduction could not be run. The device stays usable after each of them, unless CUDA itself says otherwise.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no NVIDIA driver on this machine, or one that is too old.
    #[error("no NVIDIA driver: {reason}")]
    NoDriver {
        /// What was tried.
        reason: String,
    },

    /// NVRTC, CUDA's run-time compiler, could not be opened.
    #[error(
        "no NVRTC: {reason}. It comes with the CUDA toolkit and as the Python package `nvidia-cuda-nvrtc`; \
         WARPFOLD_NVRTC names the library file if it is not on the library path"
    )]
    NoNvrtc {
        /// What was tried.
        reason: String,
    },

    /// The machine has no GPU of this number.
    #[error("no CUDA device {ordinal}: this machine has {count}")]
    NoDevice {
        /// The device asked for, from 0.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },

    /// `WARPFOLD_DEVICE` could not be honoured.
    #[error("WARPFOLD_DEVICE={value}: {reason}")]
    DeviceOverride {
        /// What the variable says.
        value: String,
        /// Why it cannot be so.
        reason: String,
    },

    /// This NVRTC no longer compiles for this GPU.
    #[error("{architecture} is too old for NVRTC {version}, which starts at {oldest}")]
    ArchitectureTooOld {
        /// The GPU's architecture.
        architecture: Architecture,
        /// The oldest one that this NVRTC knows.
        oldest: Architecture,
        /// NVRTC's version.
        version: String,
    },

    /// The operator is not valid CUDA C++.
    #[error(
        "`{operator}` does not compile for {architecture}\n{excerpt}\noptions: {}\nlog:\n{log}",
        options.join(" ")
    )]
    Compilation {
        /// The operator's Rust type.
        operator: &'static str,
        /// What it was compiled for.
        architecture: Architecture,
        /// NVRTC's options.
        options: Vec<String>,
        /// The numbered source lines around each error.
        excerpt: String,
        /// All that NVRTC said.
        log: String,
    },

    /// Rust and CUDA C++ disagree about the layout of a type: a hand-written `DeviceType` describes it wrongly.
    #[error("layout mismatch: {mismatch}")]
    LayoutMismatch {
        /// The assertion of the rendered source that failed.
        mismatch: String,
    },

    /// The operator's `DeviceOperator::state` names another type than the operator.
    #[error("`{operator}` declares `{state}` as its state; the state of an operator is its own type")]
    ForeignState {
        /// The operator's Rust type.
        operator: &'static str,
        /// The type it declares.
        state: &'static str,
    },

    /// The device form of an operator is of another item than the operator.
    #[error("`{operator}` combines `{item}`, and its device form does not")]
    ForeignItem {
        /// The operator's Rust type.
        operator: &'static str,
        /// Its item.
        item: &'static str,
    },

    /// A generic body has no CUDA C++ form for the types that it is used with.
    #[error("{file}:{line}: no CUDA C++ form for these types: {reason}")]
    Untranslatable {
        /// The Rust source file.
        file: &'static str,
        /// The line, from 1.
        line: u32,
        /// What is wrong, and what to write instead.
        reason: String,
    },

    /// The GPU has not enough memory.
    #[error("out of device memory: {requested} bytes were asked for, {free} are free")]
    OutOfMemory {
        /// Bytes asked for.
        requested: usize,
        /// Bytes free just after.
        free: usize,
    },

    /// Device memory was given to a call that runs on the CPU.
    #[error("what is given is in GPU memory, but the call runs on the CPU")]
    DeviceInputOnCpu,

    /// Device memory belongs to another CUDA context than the device of the call.
    #[error("the {what} belongs to another CUDA context than the device of the call ({device})")]
    WrongContext {
        /// Which argument.
        what: &'static str,
        /// The device of the call.
        device: String,
    },

    /// The output has not the length of what is written to it: of a reduction one item, of a scan as many as it reads.
    #[error("the output holds {length} items, and {expected} are written")]
    OutputLength {
        /// How many it must hold.
        expected: usize,
        /// How many it holds.
        length: usize,
    },

    /// The stream records a CUDA graph, which could be launched when the memory of this call is gone. Calls that record are
    /// unsafe, and have names of their own.
    #[error(
        "the stream is recording a CUDA graph: record with `record_into`, `record_inclusive_into` and the like, or use \
         another stream"
    )]
    StreamIsCapturing,

    /// A call that records was given a stream that does not record a CUDA graph.
    #[error(
        "the stream is not recording a CUDA graph: begin a capture first, or use `run_into` and the like"
    )]
    StreamIsNotCapturing,

    /// A device address is not a multiple of the item's alignment.
    #[error("the address {address:#x} is not a multiple of {align}, the alignment of the items")]
    Misaligned {
        /// The address.
        address: u64,
        /// Bytes.
        align: usize,
    },

    /// A [`Policy`](crate::Policy) that no kernel can have.
    #[error("invalid policy: {reason}")]
    Policy {
        /// Which part, and what it must be.
        reason: String,
    },

    /// A rung of the ladder cannot do what it was asked for.
    #[error("the rung `{rung}` {reason}")]
    Rung {
        /// The rung's name.
        rung: &'static str,
        /// What it cannot do.
        reason: &'static str,
    },

    /// CUDA reported an error.
    #[error("{name} in {call}: {description}")]
    Cuda {
        /// The error's name, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
        name: String,
        /// What CUDA says about it.
        description: String,
        /// What was being done.
        call: &'static str,
    },

    /// NVRTC reported an error other than a compilation error.
    #[error("{name} in NVRTC")]
    Nvrtc {
        /// The error's name, such as `NVRTC_ERROR_OUT_OF_MEMORY`.
        name: String,
    },
}

/// The numbered source lines around each error of a compiler log, found through the rendered source's `#line`
/// directives.
pub(crate) struct Excerpt<'a> {
    pub(crate) source: &'a str,
    pub(crate) log: &'a str,
}

const LINES_AROUND: usize = 2;

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut file = "";
        let mut next = 1;
        // Every line of the source with the file and the number that the compiler knows it by.
        let mut lines = Vec::new();
        for text in self.source.lines() {
            match text.strip_prefix("#line ").and_then(|rest| rest.split_once(' ')) {
                Some((number, name)) => {
                    next = number.parse().unwrap_or(next);
                    file = name.trim_matches('"');
                }
                None => {
                    lines.push((file, next, text));
                    next += 1;
                }
            }
        }
        for error in self.log.lines() {
            let Some((place, message)) = error.split_once("): ") else {
                continue;
            };
            let Some((name, number)) = place.rsplit_once('(') else {
                continue;
            };
            if !message.contains("error") {
                continue;
            }
            let Ok(number) = number.parse::<usize>() else {
                continue;
            };
            writeln!(f, "{name}:{number}: {message}")?;
            let Some(at) = lines.iter().position(|&(file, line, _)| file == name && line == number) else {
                continue;
            };
            let around = at.saturating_sub(LINES_AROUND)..(at + LINES_AROUND + 1).min(lines.len());
            for &(file, line, text) in &lines[around] {
                let mark = if (file, line) == (name, number) { '>' } else { ' ' };
                writeln!(f, "{mark} {line:5} | {text}")?;
            }
        }
        Ok(())
    }
}
