//! Tests the corpus on a GPU. The feature `every-operator` enables it, because launches are
//! compiled for each operator.

use support::edges::{Edge, PAIRS, assert_same, pairs};
use support::tiers::{Tier, device};
use warpfold::{DeviceMonoid, DeviceType, Policy, Reduction, Value};

/// Asserts Rust's bits for reductions of two items. Each reduction is one combination.
pub fn combines_as_rust<M: DeviceMonoid>(operator: M)
where
    M::Item: Edge,
{
    let device = device(Tier::Gpu);
    let pairs = pairs::<M::Item>(PAIRS);
    let both: Vec<M::Item> = pairs.iter().flat_map(|&(left, right)| [left, right]).collect();
    let items = device.upload(&both).expect("room for the items");
    let default = Policy::for_item(&M::Item::layout());
    for policy in [default, default.baseline_only()] {
        let reduction = Reduction::with(device.clone(), operator).with_policy(policy);
        reduction.compile().unwrap_or_else(|error| panic!("{error}"));
        let mut results =
            device.zeros::<<M::Item as Value>::Stored>(pairs.len()).expect("room for the results");
        for pair in 0..pairs.len() {
            // `run` would also compile the CPU's loops for each operator.
            let (input, mut output) = (items.slice(2 * pair..2 * pair + 2), results.slice_mut(pair..=pair));
            reduction.run_into(&input, &mut output).unwrap_or_else(|error| panic!("{error}"));
        }
        let results = device.download::<M::Item>(&results).expect("copies");
        for (got, &(left, right)) in results.into_iter().zip(&pairs) {
            assert_same(got, operator.combine(left, right), left, right);
        }
    }
}
