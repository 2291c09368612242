//! Runs kernels that reduce segments on the executor.

use std::mem::{offset_of, size_of};

use warpfold::plan::{Data, Kernel, SegmentLaunch, SegmentPolicy, Segments};
use warpfold::source::{ArrayInput, OffsetArguments, SegmentArguments, Source, data_of_aggregate};
use warpfold::{DeviceAggregate, DeviceMonoid, Element, Value};

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
        let (kernel, policy) = (Kernel::ByOffsets, &case.elements.policy);
        let size = size_of::<<A::Output as Value>::Stored>();
        let mut arrays = A::Input::arrays(elements);
        let elements_of = arrays.len();
        arrays.extend(offsets.arrays.iter().map(|array| ArrayBytes::Values(array.clone(), offsets.width)));
        let input = InputBytes::of_arrays(arrays, misalignment);
        let (arguments, places) = offset_arguments(elements_of, elements.len() as u64, offsets, &operands);
        let op = state(&operator.presenting(Some(0)));
        let output = offsets.count * size;
        let request = Request {
            kernel: case.elements.number(kernel),
            blocks: RESIDENT,
            threads: policy.warps(kernel) * 32,
            places,
            seed: self.seed,
            shared: policy.shared_bytes(kernel, &data) as u64,
            arguments: arguments.len() as u64,
            op: op.len() as u64,
            input: input.bytes.len() as u64,
            output: output as u64,
            words: 8,
            early: 1,
            arrays: input.arrays.len() as u64,
            bounds: offsets.arrays.len() as u64,
            bound_bytes: offsets.width as u64,
            ..Request::default()
        };
        let request =
            [bytes(&[request]), bytes(&input.arrays), arguments, op, input.bytes, vec![0; 8]].concat();
        let mut answer = self.ask(&request, output + 8)?;
        let report = answer.split_off(output);
        // SAFETY: the kernel wrote whole results, field by field.
        let stored = unsafe { values(&answer, offsets.count) };
        let results = stored.into_iter().map(A::Output::from_stored).collect();
        Ok((results, u64::from_le_bytes(report.try_into().expect("8 bytes"))))
    }
}

/// Offsets as the bytes of one array of n + 1, or of two arrays of n.
pub struct GivenOffsets {
    pub arrays: Vec<Vec<u8>>,
    /// The number of segments.
    pub count: usize,
    /// Bytes of an offset.
    pub width: usize,
    pub is_signed: bool,
    /// Segments that a warp takes at once.
    pub at_once: u32,
}

/// The first parameter of the kernel for offsets, and the places of its addresses.
fn offset_arguments(
    arrays: usize,
    length: u64,
    offsets: &GivenOffsets,
    operands: &Operands,
) -> (Vec<u8>, AddressOffsets) {
    macro_rules! of {
        ($input:ty) => {{
            type Of = OffsetArguments<$input, [u8; 0]>;
            // SAFETY: all fields are numbers, for which zeros are valid.
            let none: Of = unsafe { std::mem::zeroed() };
            let (segments, width, is_signed) =
                (offsets.count as u64, offsets.width as u32, offsets.is_signed.into());
            let at_once = offsets.at_once;
            let fields = Of { length, segments, width, is_signed, at_once, ..none };
            let places = AddressOffsets {
                input: offset_of!(Of, input) as u32,
                output: offset_of!(Of, output) as u32,
                words: offset_of!(Of, wrong) as u32,
                bounds: offset_of!(Of, begins) as u32,
            };
            (operands.arguments(bytes(&[fields])[..offset_of!(Of, identity)].to_vec()), places)
        }};
    }
    match arrays {
        0 => of!(ArrayInput<u64, [u64; 0]>),
        1 => of!(ArrayInput<u64>),
        2 => of!(ArrayInput<u64, [u64; 2]>),
        3 => of!(ArrayInput<u64, [u64; 3]>),
        8 => of!(ArrayInput<u64, [u64; 8]>),
        count => panic!("add {count} arrays here"),
    }
}
