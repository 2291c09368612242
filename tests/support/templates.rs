//! The templates, extracted from rendered sources.

use std::sync::LazyLock;

use warpfold::aggregates::Dot;
use warpfold::ladder::Rung;
use warpfold::operators::Sum;
use warpfold::plan::{Data, Kernel, SegmentPolicy};
use warpfold::source::Source;
use warpfold::{Aggregate, Device, DeviceType, Policy, Reduction, Scan, aggregate};

/// Reads indices, and no array.
#[derive(Clone, Copy, Default)]
struct SumOfIndices;

#[aggregate]
impl Aggregate for SumOfIndices {
    type Input = ();
    type Monoid = Sum<u64>;
    type Output = u64;
    fn prepare(&self, index: u64, _: ()) -> u64 {
        index
    }
    fn present(&self, item: u64, _: u64) -> u64 {
        item
    }
}

/// Name and text of each template that a source includes, in order.
pub fn templates_of(source: &Source) -> Vec<(String, String)> {
    let text = source.text().strip_suffix(source.program()).expect("the program comes last");
    let files = text.split("#line 1 \"warpfold/templates/").skip(1);
    let named = files.map(|file| file.split_once("\"\n").expect("a name in quotes"));
    named.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// Name and text of each template, after the templates that it depends on. The sources have wrapping
/// arithmetic, which needs the templates with Rust's semantics. The first one reads arrays in step.
pub fn templates() -> Vec<(String, String)> {
    static TEMPLATES: LazyLock<Vec<(String, String)>> = LazyLock::new(rendered);
    TEMPLATES.clone()
}

fn rendered() -> Vec<(String, String)> {
    let reduction = Reduction::with(Device::cpu(), Sum::<i32>::new()).source().expect("renders");
    let scan = Scan::with(Device::cpu(), Sum::<i32>::new()).source().expect("renders");
    let policy = Policy::for_item(&i32::layout());
    let baseline = Source::of_reduction::<Sum<i32>>(&policy, Kernel::Baseline).expect("renders");
    let rungs = Rung::ALL.map(|rung| Source::of_rung::<Sum<i32>>(rung, 32, true).expect("renders"));
    let in_step = Reduction::with(Device::cpu(), Dot::<i32>::default()).source().expect("renders");
    let index = Reduction::with(Device::cpu(), SumOfIndices).source().expect("renders");
    let policy = SegmentPolicy::for_data(&Data::of_items(&i32::layout()));
    let segments =
        Kernel::OF_SEGMENTS.map(|kernel| Source::of_segments::<Sum<i32>>(&policy, kernel).expect("renders"));
    let mut all = templates_of(&in_step);
    for source in [index, reduction, baseline, scan].iter().chain(&segments).chain(&rungs) {
        let others = templates_of(source).into_iter().filter(|template| !all.contains(template));
        all.extend(others.collect::<Vec<_>>());
    }
    all
}
