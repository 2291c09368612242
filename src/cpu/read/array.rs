//! The reader of one array. Its elements are the items.

use std::ops::Range;

use super::elements::Elements;

impl<Item: Sync> Elements<Item> for [Item] {
    fn length(&self) -> usize {
        self.len()
    }

    fn items<'a>(&'a self, range: Range<usize>, _: &'a mut Vec<Item>) -> &'a [Item] {
        &self[range]
    }
}
