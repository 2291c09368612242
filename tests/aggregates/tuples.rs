//! Elements that are tuples, in every arrangement: arrays in step, and one array of tuples. Each result is
//! compared with its definition.

use std::fmt::Debug;

use support::drawn::{Drawn, Stored};
use support::items::items;
use support::tiers::{Suite, Tier, device};
use support::tuples::{Marked, MarkedInStep, MarkedMap};
use warpfold::aggregates::{Count, First, Last};
use warpfold::{
    DeviceAggregate, DeviceMemory, DeviceType, HostMemory, Input, OnDevice, Reduction, Scan, tree,
};

use crate::expected;

/// Compares every call of an input in host memory with what it is defined to be.
fn check_host<A: DeviceAggregate, I: Input<A::Input, Place = HostMemory>>(
    tier: Tier,
    aggregate: A,
    elements: &[A::Input],
    input: impl Fn() -> I,
) where
    A::Output: Debug,
{
    let reduction = Reduction::with(device(tier), aggregate);
    let of = |elements: &[A::Input]| format!("{:?}", expected(&aggregate, elements));
    assert_eq!(format!("{:?}", reduction.run(input()).expect("reduces")), of(elements));
    let columns = 7;
    let rows: Vec<String> = elements.chunks(columns).map(of).collect();
    let results = reduction.rows(input(), columns).expect("reduces");
    assert_eq!(results.iter().map(|result| format!("{result:?}")).collect::<Vec<_>>(), rows);
    let column =
        |column: usize| of(&elements.iter().copied().skip(column).step_by(columns).collect::<Vec<_>>());
    let results = reduction.columns(input(), columns).expect("reduces");
    let of_columns: Vec<String> = (0..columns).map(column).collect();
    assert_eq!(results.iter().map(|result| format!("{result:?}")).collect::<Vec<_>>(), of_columns);
    let offsets = [0, elements.len() / 3, elements.len() / 3, elements.len()];
    let segments: Vec<String> = offsets.windows(2).map(|ends| of(&elements[ends[0]..ends[1]])).collect();
    let results = reduction.segments(input(), &offsets).expect("reduces");
    assert_eq!(results.iter().map(|result| format!("{result:?}")).collect::<Vec<_>>(), segments);
    let scan = Scan::with(device(tier), aggregate);
    let (monoid, mut places) = (aggregate.monoid(), scan.exclusive(input()).expect("scans"));
    let prepare = |(index, &element): (usize, &A::Input)| aggregate.prepare(index as u64, element);
    let prepared: Vec<_> = elements.iter().enumerate().map(prepare).collect();
    let present = |(index, item)| format!("{:?}", aggregate.present(item, index as u64));
    let exclusive = tree::exclusive_scan(&monoid, &prepared).into_iter().enumerate().map(present);
    assert!(places.iter().map(|place| format!("{place:?}")).eq(exclusive));
    scan.inclusive_into(input(), &mut places).expect("scans");
    let inclusive = (1..).zip(tree::inclusive_scan(&monoid, &prepared)).map(present);
    assert!(places.iter().map(|place| format!("{place:?}")).eq(inclusive));
}

/// Compares the results in device memory with those of host memory.
fn check_device<A: DeviceAggregate, I: Input<A::Input, Place = DeviceMemory> + OnDevice<A::Input>>(
    aggregate: A,
    elements: &[A::Input],
    input: impl Fn() -> I,
) where
    A::Output: Debug,
{
    let device = device(Tier::Gpu);
    let reduction = Reduction::with(device.clone(), aggregate);
    let of = |elements: &[A::Input]| format!("{:?}", expected(&aggregate, elements));
    assert_eq!(format!("{:?}", reduction.run(input()).expect("reduces")), of(elements));
    let mut place = device.zeros::<Stored<A>>(1).expect("allocates");
    reduction.run_into(input(), &mut place).expect("reduces");
    let results = device.download::<A::Output>(&place).expect("copies");
    assert_eq!(format!("{:?}", results[0]), of(elements));
    let rows = device.download::<A::Output>(&reduction.rows(input(), 7).expect("reduces")).expect("copies");
    let of_rows: Vec<String> = elements.chunks(7).map(of).collect();
    assert_eq!(rows.iter().map(|result| format!("{result:?}")).collect::<Vec<_>>(), of_rows);
    let offsets = [0, elements.len() / 3, elements.len() / 3, elements.len()];
    let segments = reduction.segments(input(), &offsets).expect("reduces");
    let segments = device.download::<A::Output>(&segments).expect("copies");
    let of_segments: Vec<String> = offsets.windows(2).map(|ends| of(&elements[ends[0]..ends[1]])).collect();
    assert_eq!(segments.iter().map(|result| format!("{result:?}")).collect::<Vec<_>>(), of_segments);
    let columns =
        device.download::<A::Output>(&reduction.columns(input(), 7).expect("reduces")).expect("copies");
    assert_eq!(columns.len(), 7);
    let scanned = Scan::with(device.clone(), aggregate).inclusive(input()).expect("scans");
    let scanned = device.download::<A::Output>(&scanned).expect("copies");
    let last = scanned.last().map(|last| format!("{last:?}"));
    assert_eq!(last.unwrap_or_else(|| of(&[])), of(elements));
}

/// Every arrangement of elements that are drawn. An aggregate of these elements is compared in each.
fn arrangements<A>(tier: Tier, aggregate: A, most: usize)
where
    A: DeviceAggregate<Input: Drawn + DeviceType, Output: Debug>,
{
    let all = items(19, most, A::Input::draw);
    for length in [0, 7, 7 * 143, most / 7 * 7] {
        let elements = &all[..length];
        let host = A::Input::split(elements);
        check_host(tier, aggregate, elements, || A::Input::of_host(&host));
        check_host(tier, aggregate, elements, || elements);
        if tier == Tier::Gpu {
            let tuples = device(tier).upload(elements).expect("copies");
            check_device(aggregate, elements, || &tuples);
        }
    }
}

pub(crate) fn add_to(suite: &mut Suite) {
    for tier in [Tier::Cpu, Tier::Gpu] {
        suite.test(tier, "tuples_that_are_items_in_every_arrangement", move || {
            arrangements(tier, MarkedMap, 40_000);
            arrangements(tier, (MarkedMap, Count::<(u32, u64, u32)>::new(), MarkedMap), 40_000);
        });
        suite.test(tier, "tuples_that_are_prepared_in_every_arrangement", move || {
            arrangements(tier, MarkedInStep, 40_000);
            arrangements(tier, (MarkedInStep, Count::<(u8, u32)>::new()), 40_000);
        });
        suite.test(tier, "generic_aggregates_of_tuples_in_every_arrangement", move || {
            arrangements(tier, (First::<(u8, u32)>::new(), Last::<(u8, u32)>::new()), 40_000);
            arrangements(tier, Marked, 40_000);
        });
    }
}
