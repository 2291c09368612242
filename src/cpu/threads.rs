//! Work on the threads of rayon's pool.

/// Runs `work` in up to `most` threads at once, and waits for all. A panic of one is passed on.
///
/// Not generic: otherwise rustc would compile rayon's code for each operator.
pub(super) fn on_threads(most: usize, work: &(dyn Fn() + Sync)) {
    match rayon::current_num_threads().min(most) {
        0 | 1 => work(),
        threads => rayon::scope(|scope| (0..threads).for_each(|_| scope.spawn(|_| work()))),
    }
}
