//! Runs kernels that reduce segments on the executor.

use std::mem::{offset_of, size_of};

use warpfold::plan::{Data, Kernel, OffsetPlan, SegmentLaunch, SegmentPolicy, Segments, Stage};
use warpfold::source::{ArrayInput, OffsetArguments, SegmentArguments, Source, data_of_aggregate};
use warpfold::{DeviceAggregate, DeviceMonoid, Value};

use super::drawn::{Drawn, arrays_of};
use super::input_bytes::{ArrayBytes, InputBytes, NO_ARRAY, bytes, values};
use super::programs::{Case, Kernels, PartialPolicies, Policies};
use super::simt::{AddressOffsets, Executor, Operands, Request, state};

/// Blocks that the executor holds at once. Few, so that a warp takes several windows or chunks.
const RESIDENT: u32 = 2;

impl Policies for SegmentPolicy {
    const KERNELS: &'static [Kernel] = &Kernel::OF_SEGMENTS;
    fn source<A: DeviceAggregate>(&self, kernel: Kernel) -> Source {
        Source::of_segments::<A>(self, kernel).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl PartialPolicies for SegmentPolicy {
    fn source_of_partials<M: DeviceMonoid>(&self, kernel: Kernel) -> Source {
        Source::of_segments_of_partials::<M>(self, kernel).unwrap_or_else(|error| panic!("{error}"))
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
        let data = data_of_aggregate::<A>();
        let elements = kernels.add(aggregate, of(&data));
        let items = kernels.add_partials(aggregate.operator(), of(&Data::of_items(&data.item)));
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
        let mut input = InputBytes::of_arrays(arrays_of::<A>(elements), misalignment);
        for (number, launch) in launches.iter().enumerate() {
            let is_first = number == 0;
            let (policy, kernel) = match is_first {
                true => (&case.elements.policy, case.elements.number(launch.kernel)),
                false => (&case.items.policy, case.items.number(launch.kernel)),
            };
            let data = if is_first { data.clone() } else { Data::of_items(&data.item) };
            let (op, size) = match launch.is_final() {
                true => {
                    let last = operator.presenting(Some(segments.length));
                    (state(&last), size_of::<<A::Output as Value>::Stored>())
                }
                false => (state(&operator), data.item.size),
            };
            let (arguments, places) = arguments(is_first.then_some(data.elements.len()), launch, &operands);
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
        let operands = Operands::of(&operator);
        let data = data_of_aggregate::<A>();
        let items = Data::of_items(&data.item);
        let result = (state(&operator.presenting(Some(0))), size_of::<<A::Output as Value>::Stored>());
        let plan = offsets.plan;
        let mut arrays = arrays_of::<A>(elements);
        let elements_of = arrays.len();
        arrays.extend(offsets.arrays.iter().map(|array| ArrayBytes::Values(array.clone(), offsets.width)));
        let input = InputBytes::of_arrays(arrays, misalignment);
        let of_elements = (case.elements.number(Kernel::ByOffsets), case.elements.policy, &data);
        let of_items = (case.items.number(Kernel::ByOffsets), case.items.policy, &items);
        let mut launch = OffsetStage {
            stage: Stage::Segments,
            kernel: of_elements,
            arrays: Some(elements_of),
            length: elements.len() as u64,
            places: plan.segments as usize,
            of_output: &result,
        };
        // The report, and then the lists.
        let mut words = vec![0; 8 + plan.list_bytes() as usize];
        let mut results = self.offset_stage(&launch, offsets, &operands, &input, &mut words)?;
        let split = split_segments(&plan, &words[8..]);
        if plan.most_parts > 0 {
            let partial = (state(&operator), data.item.size);
            launch = OffsetStage {
                stage: Stage::Parts,
                places: plan.most_parts as usize,
                of_output: &partial,
                ..launch
            };
            let partials = self.offset_stage(&launch, offsets, &operands, &input, &mut words)?;
            launch = OffsetStage {
                stage: Stage::Partials,
                kernel: of_items,
                arrays: None,
                length: plan.most_parts,
                places: plan.segments as usize,
                of_output: &result,
            };
            let partials = InputBytes::of_one(partials);
            let of_split = self.offset_stage(&launch, offsets, &operands, &partials, &mut words)?;
            for segment in split {
                let place = segment * result.1..(segment + 1) * result.1;
                results[place.clone()].copy_from_slice(&of_split[place]);
            }
            if words[8..16] != [0; 8] {
                return Err("the next call finds listed segments".to_owned());
            }
        }
        let report = u64::from_le_bytes(words[..8].try_into().expect("8 bytes"));
        // SAFETY: the kernels wrote whole results, field by field.
        let stored = unsafe { values(&results, offsets.plan.segments as usize) };
        Ok((stored.into_iter().map(A::Output::from_stored).collect(), report))
    }
}

/// The segments that are listed as split: see `Lists` in `templates/segments/by_offsets.cuh`.
fn split_segments(plan: &OffsetPlan, lists: &[u8]) -> Vec<usize> {
    let word = |at: u64| u64::from_le_bytes(lists[at as usize..][..8].try_into().expect("8 bytes"));
    let split = |number| plan.list_bytes() - 32 * (plan.most_parts / 2 - number);
    let numbers = 0..(word(0) >> 32).min(plan.most_parts / 2);
    let is_taken = |number: &u64| word(split(*number)) != u64::MAX;
    numbers.filter(is_taken).map(|number| word(split(number) + 16) as usize).collect()
}

/// One launch of a reduction by offsets.
#[derive(Clone, Copy)]
struct OffsetStage<'a> {
    stage: Stage,
    kernel: (u32, SegmentPolicy, &'a Data),
    /// The number of arrays of elements. None if elements are items.
    arrays: Option<usize>,
    length: u64,
    /// How many values the output has room for.
    places: usize,
    /// The operator in bytes, and the size of a value.
    of_output: &'a (Vec<u8>, usize),
}

/// Offsets as the bytes of one array of n + 1, or of two arrays of n.
pub struct GivenOffsets {
    pub arrays: Vec<Vec<u8>>,
    /// Bytes of an offset.
    pub width: usize,
    pub is_signed: bool,
    pub plan: OffsetPlan,
}

impl Executor {
    /// Returns the output. The words that blocks share begin with the report.
    fn offset_stage(
        &mut self,
        launch: &OffsetStage<'_>,
        offsets: &GivenOffsets,
        operands: &Operands,
        input: &InputBytes,
        words: &mut [u8],
    ) -> Result<Vec<u8>, String> {
        let (number, policy, data) = launch.kernel;
        let (arguments, places) = offset_arguments(launch, offsets, operands);
        let (op, size) = launch.of_output;
        let output = launch.places * size;
        // Only the first launch reads offsets, which are the last arrays of the input.
        let bounds = if launch.stage == Stage::Partials { 0 } else { offsets.arrays.len() as u64 };
        let request = Request {
            kernel: number,
            blocks: offsets.plan.blocks(launch.stage, &policy, RESIDENT),
            threads: policy.warps(Kernel::ByOffsets) * 32,
            places,
            seed: self.seed,
            shared: policy.shared_bytes(Kernel::ByOffsets, data) as u64,
            arguments: arguments.len() as u64,
            op: op.len() as u64,
            input: input.bytes.len() as u64,
            output: output as u64,
            words: words.len() as u64,
            early: 1,
            arrays: input.arrays.len() as u64,
            bounds,
            bound_bytes: offsets.width as u64,
            // Other launches write the values of split segments.
            may_have_gaps: (offsets.plan.most_parts > 0).into(),
            ..Request::default()
        };
        let head = [bytes(&[request]), bytes(&input.arrays), arguments, op.clone()].concat();
        let mut answer = self.ask(&[&head[..], &input.bytes, words].concat(), output + words.len())?;
        words.copy_from_slice(&answer.split_off(output));
        Ok(answer)
    }
}

/// The first parameter of the kernel for offsets, and the places of its addresses.
fn offset_arguments(
    launch: &OffsetStage<'_>,
    offsets: &GivenOffsets,
    operands: &Operands,
) -> (Vec<u8>, AddressOffsets) {
    let OffsetPlan { segments, part_level, most_parts_level, most_parts } = offsets.plan;
    macro_rules! of {
        ($input:ty) => {{
            type Of = OffsetArguments<$input, [u8; 0]>;
            // SAFETY: all fields are numbers, for which zeros are valid.
            let none: Of = unsafe { std::mem::zeroed() };
            let fields = Of {
                length: launch.length,
                segments,
                most_parts,
                width: offsets.width as u32,
                is_signed: offsets.is_signed.into(),
                stage: launch.stage as u32,
                part_level,
                most_parts_level,
                ..none
            };
            let places = AddressOffsets {
                input: offset_of!(Of, input) as u32,
                output: offset_of!(Of, output) as u32,
                words: offset_of!(Of, wrong) as u32,
                bounds: offset_of!(Of, begins) as u32,
                second_word: if most_parts > 0 { offset_of!(Of, lists) as u32 } else { 0 },
            };
            (operands.arguments(bytes(&[fields])[..offset_of!(Of, identity)].to_vec()), places)
        }};
    }
    match launch.arrays {
        None => of!(ArrayInput),
        Some(0) => of!(ArrayInput<u64, [u64; 0]>),
        Some(1) => of!(ArrayInput<u64>),
        Some(2) => of!(ArrayInput<u64, [u64; 2]>),
        Some(3) => of!(ArrayInput<u64, [u64; 3]>),
        Some(8) => of!(ArrayInput<u64, [u64; 8]>),
        Some(count) => panic!("add {count} arrays here"),
    }
}
