//! Runs kernels that reduce segments on the executor.

use std::mem::{offset_of, size_of};

use warpfold::plan::{Data, Kernel, SegmentLaunch, SegmentPolicy, Segments};
use warpfold::source::{ArrayInput, SegmentArguments, Source, data_of_aggregate};
use warpfold::{DeviceAggregate, DeviceMonoid, Element, Value};

use super::drawn::Drawn;
use super::input_bytes::{InputBytes, NO_ARRAY, bytes, values};
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
                words: 0,
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
}
