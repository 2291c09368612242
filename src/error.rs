use std::fmt;

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

use crate::types::Architecture;

/// Why the system could not open a library, in the words of its loader.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LoaderError(pub(crate) String);

/// Why a call failed: the violated condition, and what to do about it.
///
/// The device stays usable after every error, unless CUDA reports that it is not.
///
/// ```
/// use warpfold::{Device, Error};
///
/// match Device::cuda(0) {
///     Ok(device) => println!("{device}"),
///     Err(Error::NoDriver { .. } | Error::NoDevice { .. }) => println!("no GPU"),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The machine has no NVIDIA driver, or its driver is too old.
    #[error(
        "no usable NVIDIA driver: {reason}. Install a driver of CUDA 12.0 or later (version 525), or use \
         `Device::cpu()`"
    )]
    NoDriver {
        /// Why the driver cannot be used.
        reason: String,
    },

    /// NVRTC, CUDA's run-time compiler, cannot be opened, or is too old.
    #[error(
        "no usable NVRTC{}: {reason}. Install the CUDA toolkit, or the Python package `nvidia-cuda-nvrtc`. \
         WARPFOLD_NVRTC names the library file if it is not on the library path",
        gpu.as_ref().map(|gpu| format!(" for {gpu}")).unwrap_or_default()
    )]
    NoNvrtc {
        /// Why NVRTC cannot be used. Names the file if one was found or named.
        reason: String,
        /// The GPU that cannot be used without NVRTC, if the call names one.
        gpu: Option<String>,
        /// The error of the loader, if a file could not be opened.
        source: Option<LoaderError>,
    },

    /// The machine has no GPU with this ordinal.
    #[error(
        "no CUDA device {ordinal}: this process sees {count}, from ordinal 0. Choose another ordinal, set \
         CUDA_VISIBLE_DEVICES if it hides the GPU, or use `Device::cpu()`"
    )]
    NoDevice {
        /// The requested device, from 0.
        ordinal: usize,
        /// The number of GPUs.
        count: usize,
    },

    /// The device that `WARPFOLD_DEVICE` names is not available, or the value names no device.
    #[error("WARPFOLD_DEVICE={value}: {reason}. Set WARPFOLD_DEVICE to `cpu` or `cuda:N`, or unset it")]
    DeviceOverride {
        /// The value of the variable.
        value: String,
        /// Why the device is not available.
        reason: String,
        /// The error of the named device, if the value names one.
        source: Option<Box<Error>>,
    },

    /// This version of NVRTC does not compile for the GPU's architecture any more.
    #[error(
        "the GPU's architecture {architecture} is too old for NVRTC {version}, which starts at {oldest}. Install \
         the NVRTC of an earlier CUDA version, and name its file in WARPFOLD_NVRTC"
    )]
    ArchitectureTooOld {
        /// The GPU's architecture.
        architecture: Architecture,
        /// The oldest architecture that this NVRTC supports.
        oldest: Architecture,
        /// NVRTC's version.
        version: String,
    },

    /// NVRTC rejected the operator's CUDA C++.
    #[error(
        "`{operator}` does not compile for {architecture}. Correct the lines marked `>`\n{excerpt}\noptions: \
         {}\nlog:\n{log}",
        options.join(" ")
    )]
    Compilation {
        /// The operator's Rust type.
        operator: &'static str,
        /// The target architecture.
        architecture: Architecture,
        /// NVRTC's options.
        options: Vec<String>,
        /// The numbered source lines around each error.
        excerpt: String,
        /// The complete log of NVRTC.
        log: String,
    },

    /// Rows of 0 columns.
    #[error("rows of 0 columns have no elements. Give the number of elements of a row")]
    NoColumns,

    /// The pitch of rows is less than their columns.
    #[error(
        "rows of {columns} elements overlap if they begin {pitch} elements apart. Give a pitch of at least {columns}"
    )]
    ShortPitch {
        /// Elements from the begin of a row to the begin of the next.
        pitch: usize,
        /// Elements of a row.
        columns: usize,
    },

    /// An input is no whole rows.
    #[error(
        "{length} elements are no whole rows: a row has {columns}, and the next begins {pitch} elements later. Give \
         all elements of the last row, and no more"
    )]
    IncompleteRow {
        /// Elements of the input.
        length: u64,
        /// Elements of a row.
        columns: usize,
        /// Elements from the begin of a row to the begin of the next.
        pitch: usize,
    },

    /// Offsets give a segment that is not a part of the input.
    #[error(
        "segment {segment} is not a part of the {length} elements: its offsets descend, are negative, or lie past \
         the end. Give offsets that ascend from 0 or more to at most {length}"
    )]
    WrongSegment {
        /// The segment, counted from 0. Another one may be wrong, too.
        segment: u64,
        /// Elements of the input.
        length: u64,
    },

    /// There is no offset.
    #[error("there is no offset, and n segments have n + 1. Give one offset for no segments")]
    NoOffsets,

    /// A bitmap ends before the bits that are asked for.
    #[error(
        "a bitmap of {bits} bits has no {length} bits from bit {offset} on. Give it all bytes that hold these bits"
    )]
    BitmapLength {
        /// The number of bits in the bytes.
        bits: u64,
        /// The first bit that is asked for.
        offset: usize,
        /// The number of bits that are asked for.
        length: usize,
    },

    /// Rust and CUDA C++ disagree about the layout of a type: a hand-written `DeviceType` describes
    /// it incorrectly.
    #[error(
        "layout mismatch: {mismatch}. Correct `DeviceType::layout`, or derive it with `#[derive(DeviceType)]`"
    )]
    LayoutMismatch {
        /// The assertion of the rendered source that failed.
        mismatch: String,
    },

    /// `DeviceOperator::state` names a type that is not the operator's own type.
    #[error(
        "`{operator}` declares `{state}` as its state, but the state of an operator is its own type. Write \
         `.state::<Self>()`"
    )]
    ForeignState {
        /// The operator's Rust type.
        operator: &'static str,
        /// The type that it declares.
        state: &'static str,
    },

    /// The operands or the result of the device form have another type than the operator's item.
    #[error(
        "`{operator}` combines `{item}`, but its device form combines another type. Write \
         `DeviceOperator::new::<Self::Item>`"
    )]
    ForeignItem {
        /// The operator's Rust type.
        operator: &'static str,
        /// The Rust type of its item.
        item: &'static str,
    },

    /// A generic body has no CUDA C++ form for the types of this use.
    #[error("{file}:{line}: no CUDA C++ form for these types: {reason}")]
    Untranslatable {
        /// The Rust source file.
        file: &'static str,
        /// The line, from 1.
        line: u32,
        /// The unsupported construct, and the code to write in its place.
        reason: String,
    },

    /// The GPU has too little free memory.
    #[error(
        "out of device memory: {requested} bytes were requested, {free} are free. Free device memory, or pass \
         a smaller input"
    )]
    OutOfMemory {
        /// Bytes that the call requested.
        requested: usize,
        /// Bytes that were free just after the failure.
        free: usize,
    },

    /// The input or the output is in device memory, but the call runs on the CPU.
    #[error(
        "the input or the output is in GPU memory, but the call runs on the CPU. Create it with the GPU's \
         stream or context, or copy the items to host memory"
    )]
    DeviceInputOnCpu,

    /// The input or the output belongs to another CUDA context than the device of the call.
    #[error(
        "the {what} belongs to another CUDA context than the device of the call ({device}). Create the call \
         with the stream or context of the {what}"
    )]
    WrongContext {
        /// Which argument: `input` or `output`.
        what: &'static str,
        /// The device of the call.
        device: String,
    },

    /// A range of indices does not begin with 0.
    #[error(
        "the indices begin with {start}, but an index counts from 0. Pass a range that begins with 0, such as `0..n`, and add {start} in `prepare`"
    )]
    IndexStart {
        /// The begin of the range, or `a negative number`.
        start: String,
    },

    /// Arrays that are read in step have different lengths.
    #[error(
        "array {array} of the input has {length} elements, but array 0 has {expected}. Pass arrays of equal \
         length, or slices of them"
    )]
    UnequalLengths {
        /// The first array of another length, counted from 0.
        array: usize,
        /// Its length, in elements.
        length: usize,
        /// The length of the first array.
        expected: usize,
    },

    /// The output has the wrong length. A reduction writes one item, a scan one for each item of
    /// the input.
    #[error("the output holds {length} items, but the call writes {expected}. Pass exactly {expected} items")]
    OutputLength {
        /// Required length, in items.
        expected: usize,
        /// Actual length, in items.
        length: usize,
    },

    /// The input has more items than one call can process on a GPU.
    #[error("the input has {length} items, but one call takes at most {most} of this type. Split the input")]
    InputLength {
        /// Actual length, in items.
        length: usize,
        /// Largest possible length, in items.
        most: usize,
    },

    /// The stream is recording a CUDA graph.
    ///
    /// The graph could be launched after the memory of the call is freed. So calls that record have
    /// names of their own, and are unsafe.
    #[error(
        "the stream is recording a CUDA graph. Record with `record_into`, `record_inclusive_into` and the \
         like, or use another stream"
    )]
    StreamIsCapturing,

    /// A `record_` call was given a stream that is not recording a CUDA graph.
    #[error(
        "the stream is not recording a CUDA graph. Begin a capture first, or use `run_into` and the like"
    )]
    StreamIsNotCapturing,

    /// A device address is not a multiple of the item's alignment.
    #[error(
        "the address {address:#x} is not a multiple of {align}, the alignment of the items. Pass the address \
         of an item"
    )]
    Misaligned {
        /// The device address.
        address: u64,
        /// The alignment of an item, in bytes.
        align: usize,
    },

    /// No kernel can follow this policy. Only the feature `internals` gives access to policies.
    #[error("invalid policy: {reason}. Correct the policy")]
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    Policy {
        /// The condition that the policy violates.
        reason: String,
    },

    /// A rung of the ladder does not support the call.
    #[cfg(feature = "ladder")]
    #[error("the rung `{rung}` {reason}")]
    Rung {
        /// The rung's name.
        rung: &'static str,
        /// The condition that the call violates.
        reason: &'static str,
    },

    /// A kernel failed: the operator trapped, or another kernel of the context did before.
    #[error(
        "a kernel failed in a call with `{operator}`: {name} ({}). The CUDA context is lost, so every later call \
         in it fails. Correct the operator, or the kernel that ran before it, and start the process again",
        source.0 as u32
    )]
    KernelFailed {
        /// The operator's Rust type.
        operator: &'static str,
        /// The error's name, such as `CUDA_ERROR_LAUNCH_FAILED`.
        name: String,
        /// The error with CUDA's code, `source.0`.
        source: DriverError,
    },

    /// CUDA reported an error.
    #[error(
        "CUDA failed while {call}: {name} ({}), {description}. Look {name} up in CUDA's list of driver errors, \
         which gives the causes",
        source.0 as u32
    )]
    Cuda {
        /// The error's name, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
        name: String,
        /// CUDA's description of the error.
        description: String,
        /// The action that failed.
        call: &'static str,
        /// The error with CUDA's code, `source.0`.
        source: DriverError,
    },

    /// NVRTC reported an error other than a compilation error.
    #[error(
        "NVRTC failed: {name} ({code}). Free host memory, or install another version of NVRTC and name its file \
         in WARPFOLD_NVRTC"
    )]
    Nvrtc {
        /// The error's name, such as `NVRTC_ERROR_OUT_OF_MEMORY`.
        name: String,
        /// NVRTC's code, an `nvrtcResult`.
        code: i32,
    },
}

impl Error {
    /// Names the operator in an error that only a kernel causes. Such an error makes the context
    /// unusable.
    pub(crate) fn of_operator(self, operator: &'static str) -> Self {
        use CUresult::{
            CUDA_ERROR_ASSERT, CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_ADDRESS,
            CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
            CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_MISALIGNED_ADDRESS,
        };
        match self {
            Self::Cuda {
                name,
                source:
                    source @ DriverError(
                        CUDA_ERROR_ASSERT
                        | CUDA_ERROR_HARDWARE_STACK_ERROR
                        | CUDA_ERROR_ILLEGAL_ADDRESS
                        | CUDA_ERROR_ILLEGAL_INSTRUCTION
                        | CUDA_ERROR_INVALID_ADDRESS_SPACE
                        | CUDA_ERROR_INVALID_PC
                        | CUDA_ERROR_LAUNCH_FAILED
                        | CUDA_ERROR_LAUNCH_TIMEOUT
                        | CUDA_ERROR_MISALIGNED_ADDRESS,
                    ),
                ..
            } => Self::KernelFailed { operator, name, source },
            other => other,
        }
    }
}

/// The numbered source lines around each error of a compiler log. The `#line` directives of the
/// rendered source map them to files.
pub(crate) struct Excerpt<'a> {
    pub(crate) source: &'a str,
    pub(crate) log: &'a str,
}

const LINES_AROUND: usize = 2;

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut file = "";
        let mut next = 1;
        // Each source line, with the file and the number that the compiler reports for it.
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
