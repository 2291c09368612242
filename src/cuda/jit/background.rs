//! Compilation that nobody waits for: one thread, one source after another.
//!
//! NVRTC must not be running when a process that ends takes the library apart: it was seen to crash then, and to run
//! forever. So the process waits for the source that is being compiled; those that were not begun are left. NVRTC registers
//! functions for the end of the process (`atexit`) whenever it needs something for the first time, and the last one
//! registered comes first. What is local to the main thread ends before all of them, so the process waits there. Where the
//! main thread has never asked for a compilation, a function of this module waits, which is registered for each compilation:
//! it may come after functions that NVRTC registers in that compilation.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{Builder, JoinHandle};

use super::compile::compile;
use super::image::Image;
use super::nvrtc;
use super::target::Target;
use crate::Error;
use crate::cuda::lock::lock;
use crate::source::Source;

type Compiled = Result<Arc<Image>, Error>;

/// A source that is compiled in the background, by a thread that does one after another.
///
/// A process that ends meanwhile waits for the one that has begun. The others are left.
#[derive(Debug)]
pub struct Compilation(Arc<Task>);

/// What is compiled by whoever takes it first: the thread, or who waits for it.
#[derive(Debug)]
struct Task {
    taken: Mutex<Option<(Arc<Source>, Target)>>,
    /// None if that has panicked.
    ended: OnceLock<Option<Compiled>>,
}

impl Task {
    fn run(&self) {
        let Some((source, target)) = lock(&self.taken).take() else { return };
        // A panic has said why; whoever waits learns of it.
        let compiled = catch_unwind(AssertUnwindSafe(|| compile(&source, target))).ok();
        let _ = self.ended.set(compiled);
    }
}

impl Compilation {
    /// Lets a source be compiled, as [`compile`](super::compile()) does. In a process that has compiled nothing yet, the call
    /// itself does it.
    pub fn begin(source: Arc<Source>, target: Target) -> Self {
        let task = Arc::new(Task { taken: Mutex::new(Some((source, target))), ended: OnceLock::new() });
        match nvrtc::has_compiled() && await_at_exit() {
            true => enqueue(&task),
            false => task.run(),
        }
        Self(task)
    }

    /// Whether [`wait`](Self::wait) returns at once.
    pub fn has_ended(&self) -> bool {
        self.0.ended.get().is_some()
    }

    /// The image, when it is there. If nobody has begun to compile it, the call itself does.
    pub fn wait(&self) -> Compiled {
        self.0.run();
        self.0.ended.wait().clone().unwrap_or_else(|| panic!("the thread that compiles has panicked"))
    }
}

/// What is to be done, and the thread that does it: there is one while there is work.
struct Queue {
    tasks: VecDeque<Arc<Task>>,
    /// Its thread, which has ended or is about to where there is no work.
    thread: Option<JoinHandle<()>>,
    is_working: bool,
    /// The process ends: nothing is begun any more.
    is_closed: bool,
}

/// Nothing is compiled, and nothing panics, while it is locked.
static QUEUE: Mutex<Queue> =
    Mutex::new(Queue { tasks: VecDeque::new(), thread: None, is_working: false, is_closed: false });
/// In which the thread runs: another one, made by a fork, has none.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Makes the process wait, when it ends, for what is being compiled; whether it will.
fn await_at_exit() -> bool {
    thread_local!(static LOCAL: Local = const { Local });
    LOCAL.with(|_| {});
    // SAFETY: the function does not unwind.
    unsafe { libc::atexit(finish) == 0 }
}

/// What a thread has that has asked for a compilation.
struct Local;

impl Drop for Local {
    fn drop(&mut self) {
        // Another thread may end long before the process does.
        // SAFETY: neither call has any preconditions.
        if unsafe { libc::gettid() == libc::getpid() } {
            finish();
        }
    }
}

fn enqueue(task: &Arc<Task>) {
    let mut queue = lock(&QUEUE);
    if PROCESS.swap(std::process::id(), Ordering::Relaxed) != std::process::id() {
        // Those of a process that this one was forked from.
        std::mem::forget(queue.thread.take());
        queue.tasks.clear();
        queue.is_working = false;
    }
    if queue.is_closed {
        return;
    }
    queue.tasks.push_back(task.clone());
    if queue.is_working {
        return;
    }
    // The one before has nothing more to do.
    queue.thread.take().map(JoinHandle::join);
    queue.thread = Builder::new().name("warpfold compiler".to_owned()).spawn(work).ok();
    queue.is_working = queue.thread.is_some();
    if !queue.is_working {
        // No thread was to be had. Another one will find that the task is taken.
        drop(queue);
        task.run();
    }
}

/// Does what is to be done, until nothing is left.
fn work() {
    loop {
        let mut queue = lock(&QUEUE);
        let Some(task) = queue.tasks.pop_front() else {
            queue.is_working = false;
            return;
        };
        drop(queue);
        task.run();
    }
}

/// Waits for what is being compiled, and leaves the rest.
extern "C" fn finish() {
    if PROCESS.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    let mut queue = lock(&QUEUE);
    queue.tasks.clear();
    queue.is_closed = true;
    let thread = queue.thread.take();
    drop(queue);
    if let Some(thread) = thread
        // Whose panic may be what ends the process.
        && thread.thread().id() != std::thread::current().id()
    {
        let _ = thread.join();
    }
}
