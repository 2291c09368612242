//! loom's types in place of those of the standard library, for `model.rs`.

use std::sync::atomic::Ordering;

use loom::cell::UnsafeCell;
pub(super) use loom::hint::spin_loop;
use loom::sync::atomic::AtomicBool;
pub(super) use loom::sync::{Mutex, atomic::AtomicUsize};
pub(super) use loom::thread::yield_now;

/// The part of `std::sync::OnceLock` that the scan uses. At most one thread initialises it.
pub(super) struct OnceLock<T> {
    is_set: AtomicBool,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written once, before `is_set`, and only read after it. loom checks this.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    pub(super) fn new() -> Self {
        Self { is_set: AtomicBool::new(false), value: UnsafeCell::new(None) }
    }

    pub(super) fn get(&self) -> Option<&T> {
        let is_set = self.is_set.load(Ordering::Acquire);
        // SAFETY: nothing writes the value after `is_set`.
        is_set.then(|| self.value.with(|value| unsafe { (*value).as_ref() })).flatten()
    }

    pub(super) fn get_or_init(&self, value: impl FnOnce() -> T) {
        assert!(self.get().is_none(), "two threads initialise it");
        // SAFETY: one thread initialises it, and the others wait for `is_set`.
        self.value.with_mut(|place| unsafe { *place = Some(value()) });
        self.is_set.store(true, Ordering::Release);
    }
}
