//! The results of a scan: its items, or the values that an aggregate presents.

use std::mem::MaybeUninit;

use crate::{DeviceAggregate, Item};

/// The results of a scan.
pub(crate) trait Results<Item>: Sync {
    type Output: Send;

    /// The places of results, if results are the items.
    fn as_places_of_items(places: &mut [MaybeUninit<Self::Output>]) -> Option<&mut [MaybeUninit<Item>]>;

    /// The result that the item of `count` elements becomes.
    fn present(&self, item: Item, count: u64) -> Self::Output;
}

/// The items themselves.
pub(crate) struct Items;

impl<Item: Send> Results<Item> for Items {
    type Output = Item;

    fn as_places_of_items(places: &mut [MaybeUninit<Item>]) -> Option<&mut [MaybeUninit<Item>]> {
        Some(places)
    }

    fn present(&self, item: Item, _: u64) -> Item {
        item
    }
}

/// The values that an aggregate presents.
pub(crate) struct PresentedBy<'a, A>(pub(crate) &'a A);

impl<A: DeviceAggregate> Results<Item<A>> for PresentedBy<'_, A> {
    type Output = A::Output;

    fn as_places_of_items(places: &mut [MaybeUninit<A::Output>]) -> Option<&mut [MaybeUninit<Item<A>>]> {
        A::as_places_of_items(places)
    }

    fn present(&self, item: Item<A>, count: u64) -> A::Output {
        self.0.present(item, count)
    }
}
