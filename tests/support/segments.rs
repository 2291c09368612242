//! Runs kernels that reduce segments on the executor.

use std::mem::{offset_of, size_of};

use warpfold::plan::{Data, Kernel, OffsetLaunch, SegmentLaunch, SegmentPolicy, Segments};
use warpfold::source::{ArrayInput, OffsetArguments, SegmentArguments, Source, data_of_aggregate};
use warpfold::{DeviceAggregate, DeviceMonoid, Element, Layout, Value};

use super::drawn::Drawn;
use super::input_bytes::{ArrayBytes, InputBytes, NO_ARRAY, bytes, values};
use super::programs::{Case, Kernels, Policies};
use super::simt::{AddressOffsets, Executor, Operands, Request, state};

/// Blocks that the executor holds at once. Few, so that a warp takes several windows or chunks.
const RESIDENT: u32 = 2;

impl Policies for SegmentPolicy {
    const KERNELS: &'static [Kernel] = &Kernel::OF_SEGMENTS;
    fn source<A: DeviceAggregate>(&self, kernel: Kernel) -> Source {
        Source::of_segments::<A>(self, kernel).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// An aggregate: its kernels that read elements, and those that read items.
#[derive(Clone, Copy)]
pub struct SegmentCase<A: DeviceAggregate> {
    pub elements: Case<A, SegmentPolicy>,
    pub items: Case<A::Operator, SegmentPolicy>,
}

impl<A: DeviceAggregate> SegmentCase<A> {
    /// Adds the kernels of an aggregate under policies that `change` makes of the default ones.
    pub fn add(kernels: &mut Kernels, aggregate: A, change: impl Fn(SegmentPolicy) -> SegmentPolicy) -> Self {
        let of = |data: &Data| change(SegmentPolicy::for_data(data));
        let elements = kernels.add(aggregate, of(&data_of_aggregate::<A>()));
        let items = kernels.add(aggregate.operator(), of(&data_of_aggregate::<A::Operator>()));
        Self { elements, items }
    }
}

/// The first parameter of a kernel, and the places of its addresses. Of elements there are as many
/// arrays as `arrays` says; without it, the elements are items.
fn arguments(
    arrays: Option<usize>,
    launch: &SegmentLaunch,
    operands: &Operands,
) -> (Vec<u8>, AddressOffsets) {
    macro_rules! of {
        ($input:ty) => {{
            type Of = SegmentArguments<$input, [u8; 0]>;
            let SegmentLaunch { segments, at_once, lanes_level, run_level, .. } = *launch;
            let Segments { count, length, pitch, stride } = segments;
            // SAFETY: all fields are numbers, for which zeros are valid.
            let none: Of = unsafe { std::mem::zeroed() };
            let fields =
                Of { segments: count, length, pitch, stride, at_once, lanes_level, run_level, ..none };
            // Blocks share no words.
            let places = AddressOffsets {
                input: offset_of!(Of, input) as u32,
                output: offset_of!(Of, output) as u32,
                ..AddressOffsets::default()
            };
            (operands.arguments(bytes(&[fields])[..offset_of!(Of, identity)].to_vec()), places)
        }};
    }
    match arrays {
        None => of!(ArrayInput),
        Some(0) => of!(ArrayInput<u64, [u64; 0]>),
        Some(1) => of!(ArrayInput<u64>),
        Some(2) => of!(ArrayInput<u64, [u64; 2]>),
        Some(3) => of!(ArrayInput<u64, [u64; 3]>),
        Some(8) => of!(ArrayInput<u64, [u64; 8]>),
        Some(count) => panic!("add {count} arrays here"),
    }
}

impl Executor {
    /// Reduces segments by the launches of the policy. Array k lies `misalignment + k` alignments
    /// past an aligned address. The error says what went wrong.
    pub fn segments<A: DeviceAggregate<Input: Drawn>>(
        &mut self,
        case: SegmentCase<A>,
        elements: &[A::Input],
        segments: Segments,
        misalignment: usize,
    ) -> Result<Vec<A::Output>, String> {
        let operator = case.elements.operator.operator();
        let (data, operands) = (data_of_aggregate::<A>(), Operands::of(&operator));
        let launches = case.elements.policy.launches(&case.items.policy, segments);
        let mut input = InputBytes::of_arrays(A::Input::arrays(elements), misalignment);
        for (number, launch) in launches.iter().enumerate() {
            let is_first = number == 0;
            let (policy, kernel) = match is_first {
                true => (&case.elements.policy, case.elements.number(launch.kernel)),
                false => (&case.items.policy, case.items.number(launch.kernel)),
            };
            let data = if is_first { data.clone() } else { data_of_aggregate::<A::Operator>() };
            let (op, size) = match launch.is_final() {
                true => {
                    let last = operator.presenting(Some(segments.length));
                    (state(&last), size_of::<<A::Output as Value>::Stored>())
                }
                false => (state(&operator), data.item.size),
            };
            let (arguments, places) = arguments(is_first.then_some(A::Input::COUNT), launch, &operands);
            let output = launch.values() as usize * size;
            let request = Request {
                kernel,
                blocks: launch.blocks(policy, RESIDENT),
                threads: policy.warps(launch.kernel) * 32,
                places,
                seed: self.seed,
                shared: policy.shared_bytes(launch.kernel, &data) as u64,
                arguments: arguments.len() as u64,
                op: op.len() as u64,
                input: input.bytes.len() as u64,
                output: output as u64,
                early: 1,
                arrays: if input.arrays.is_empty() { NO_ARRAY } else { input.arrays.len() as u64 },
                ..Request::default()
            };
            let request = [bytes(&[request]), bytes(&input.arrays), arguments, op, input.bytes].concat();
            input = InputBytes::of_one(self.ask(&request, output)?);
        }
        // SAFETY: the last kernel wrote whole results, field by field.
        let stored = unsafe { values(&input.bytes, segments.count as usize) };
        Ok(stored.into_iter().map(A::Output::from_stored).collect())
    }
    /// Reduces the segments that offsets give: of both ends, or of begins and of ends. Returns the
    /// results, and the number that the kernel reports of a wrong segment.
    pub fn segments_by_offsets<A: DeviceAggregate<Input: Drawn>>(
        &mut self,
        case: SegmentCase<A>,
        elements: &[A::Input],
        offsets: &GivenOffsets,
        misalignment: usize,
    ) -> Result<(Vec<A::Output>, u64), String> {
        let operator = case.elements.operator.operator();
        let (data, operands) = (data_of_aggregate::<A>(), Operands::of(&operator));
        let result = (state(&operator.presenting(Some(0))), size_of::<<A::Output as Value>::Stored>());
        let partial = (state(&operator), data.item.size);
        let mut arrays = A::Input::arrays(elements);
        let elements_of = arrays.len();
        arrays.extend(offsets.arrays.iter().map(|array| ArrayBytes::Values(array.clone(), offsets.width)));
        let segments = offsets.count as u64;
        let launch = |split_level| OffsetLaunch {
            at_once: offsets.at_once,
            split_level,
            units: segments << split_level,
        };
        let first = Parts {
            kernel: (case.elements.number(Kernel::ByOffsets), case.elements.policy, &data),
            arrays: Some(elements_of),
            input: InputBytes::of_arrays(arrays, misalignment),
            length: elements.len() as u64,
            bounds: offsets.arrays.len() as u64,
            width: offsets.width as u32,
            is_signed: offsets.is_signed,
            has_lengths: false,
        };
        let (results, report) = match offsets.split_level {
            0 => self.launch_by_offsets(first, launch(0), segments, &operands, &result)?,
            split_level => {
                let split = launch(split_level);
                let (written, report) =
                    self.launch_by_offsets(first, split, segments, &operands, &partial)?;
                // The begins, and the ends with the lengths behind them.
                let (at, n) = (split.memory(&data.item).0, 8 * segments);
                let partials = segments * data.item.size as u64 * (1 << split_level);
                let arrays = vec![[0, partials, u64::MAX], [at, n, u64::MAX], [at + n, 2 * n, u64::MAX]];
                let items = data_of_aggregate::<A::Operator>();
                let later = Parts {
                    kernel: (case.items.number(Kernel::ByOffsets), case.items.policy, &items),
                    arrays: None,
                    input: InputBytes { bytes: written, arrays },
                    length: split.units,
                    bounds: 2,
                    width: 8,
                    is_signed: false,
                    has_lengths: true,
                };
                let (results, wrong) =
                    self.launch_by_offsets(later, launch(0), segments, &operands, &result)?;
                assert_eq!(wrong, 0, "partials are reported");
                (results, report)
            }
        };
        // SAFETY: the kernel wrote whole results, field by field.
        let stored = unsafe { values(&results[..offsets.count * result.1], offsets.count) };
        Ok((stored.into_iter().map(A::Output::from_stored).collect(), report))
    }

    /// One launch. Returns its output, with what it writes behind the values, and its report.
    fn launch_by_offsets(
        &mut self,
        parts: Parts<'_>,
        launch: OffsetLaunch,
        segments: u64,
        operands: &Operands,
        (op, size): &(Vec<u8>, usize),
    ) -> Result<(Vec<u8>, u64), String> {
        let (number, policy, data) = parts.kernel;
        let (arguments, places) = offset_arguments(&parts, launch, segments, operands, &data.item);
        let output = match launch.split_level {
            0 => launch.units as usize * size,
            _ => launch.memory(&data.item).0 as usize + 24 * segments as usize,
        };
        let input = parts.input;
        let request = Request {
            kernel: number,
            blocks: RESIDENT,
            threads: policy.warps(Kernel::ByOffsets) * 32,
            places,
            seed: self.seed,
            shared: policy.shared_bytes(Kernel::ByOffsets, data) as u64,
            arguments: arguments.len() as u64,
            op: op.len() as u64,
            input: input.bytes.len() as u64,
            output: output as u64,
            words: 8,
            early: 1,
            arrays: input.arrays.len() as u64,
            bounds: parts.bounds,
            bound_bytes: parts.width.into(),
            // Nothing is written between the partials and the bounds.
            may_have_gaps: (launch.split_level > 0).into(),
            ..Request::default()
        };
        let request =
            [bytes(&[request]), bytes(&input.arrays), arguments, op.clone(), input.bytes, vec![0; 8]]
                .concat();
        let mut answer = self.ask(&request, output + 8)?;
        let report = answer.split_off(output);
        Ok((answer, u64::from_le_bytes(report.try_into().expect("8 bytes"))))
    }
}

/// The segments of a launch.
struct Parts<'a> {
    kernel: (u32, SegmentPolicy, &'a Data),
    /// The number of arrays of elements. None if elements are items.
    arrays: Option<usize>,
    input: InputBytes,
    length: u64,
    /// The number of arrays of offsets.
    bounds: u64,
    width: u32,
    is_signed: bool,
    has_lengths: bool,
}

/// Offsets as the bytes of one array of n + 1, or of two arrays of n.
pub struct GivenOffsets {
    pub arrays: Vec<Vec<u8>>,
    /// The number of segments.
    pub count: usize,
    /// Bytes of an offset.
    pub width: usize,
    pub is_signed: bool,
    /// Segments, or parts of them, that a warp takes at once.
    pub at_once: u32,
    /// The base-2 logarithm of the parts of a segment.
    pub split_level: u32,
}

/// The first parameter of the kernel for offsets, and the places of its addresses.
fn offset_arguments(
    parts: &Parts<'_>,
    launch: OffsetLaunch,
    segments: u64,
    operands: &Operands,
    item: &Layout,
) -> (Vec<u8>, AddressOffsets) {
    macro_rules! of {
        ($input:ty) => {{
            type Of = OffsetArguments<$input, [u8; 0]>;
            // SAFETY: all fields are numbers, for which zeros are valid.
            let none: Of = unsafe { std::mem::zeroed() };
            let fields = Of {
                length: parts.length,
                segments,
                width: parts.width,
                is_signed: parts.is_signed.into(),
                at_once: launch.at_once,
                split_level: launch.split_level,
                has_lengths: parts.has_lengths.into(),
                bounds_at: launch.memory(item).0,
                ..none
            };
            let places = AddressOffsets {
                input: offset_of!(Of, input) as u32,
                output: offset_of!(Of, output) as u32,
                words: offset_of!(Of, wrong) as u32,
                bounds: offset_of!(Of, begins) as u32,
            };
            (operands.arguments(bytes(&[fields])[..offset_of!(Of, identity)].to_vec()), places)
        }};
    }
    match parts.arrays {
        None => of!(ArrayInput),
        Some(0) => of!(ArrayInput<u64, [u64; 0]>),
        Some(1) => of!(ArrayInput<u64>),
        Some(2) => of!(ArrayInput<u64, [u64; 2]>),
        Some(3) => of!(ArrayInput<u64, [u64; 3]>),
        Some(8) => of!(ArrayInput<u64, [u64; 8]>),
        Some(count) => panic!("add {count} arrays here"),
    }
}
