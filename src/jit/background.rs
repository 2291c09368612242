//! Compilation that nobody waits for: one thread, one source after another.
//!
//! NVRTC must not be running when a process that ends takes the library apart. So the process waits for the source that is
//! being compiled then; those that were not begun are left. What the library registers for its own end, it does when it is
//! opened and when it compiles for the first time: so that is done before this registers its own, which then comes first.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::{Image, Target, nvrtc};
use crate::Error;
use crate::codegen::Source;

type Compiled = Result<Arc<Image>, Error>;
type Job = Box<dyn FnOnce() + Send>;

/// A source that is compiled in the background, by a thread that does one after another.
///
/// A process that ends meanwhile waits for the one that has begun. The others are left.
#[derive(Debug)]
pub struct Compilation(Arc<OnceLock<Option<Compiled>>>);

impl Compilation {
    /// Lets a source be compiled, as [`compile`](super::compile) does. In a process that has compiled nothing yet, the call
    /// itself does it.
    pub fn begin(source: Arc<Source>, target: Target) -> Self {
        let begun = Arc::new(OnceLock::new());
        let ended = begun.clone();
        // A panic has said why; whoever waits learns of it.
        let compile = move || catch_unwind(AssertUnwindSafe(|| super::compile(&source, target))).ok();
        let job = move || drop(ended.set(compile()));
        match nvrtc::has_compiled() && process_waits() {
            true => enqueue(Box::new(job)),
            false => job(),
        }
        Self(begun)
    }

    /// Whether [`wait`](Self::wait) returns at once.
    pub fn has_ended(&self) -> bool {
        self.0.get().is_some()
    }

    /// The image, when it is there.
    pub fn wait(self) -> Compiled {
        self.0.wait().clone().unwrap_or_else(|| panic!("the thread that compiles has panicked"))
    }
}

/// What is to be done, and the thread that does it: there is one while there is work.
struct Queue {
    jobs: VecDeque<Job>,
    /// Its thread, which has ended or is about to where there is no work.
    thread: Option<JoinHandle<()>>,
    is_working: bool,
    /// In which the thread runs: another one, made by a fork, has none.
    process: u32,
}

static QUEUE: Mutex<Queue> =
    Mutex::new(Queue { jobs: VecDeque::new(), thread: None, is_working: false, process: 0 });

// No job runs, and nothing panics, while it is locked.
fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the process waits, when it ends, for what is being compiled.
fn process_waits() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    // SAFETY: the function does not unwind.
    *REGISTERED.get_or_init(|| unsafe { libc::atexit(finish) } == 0)
}

fn enqueue(job: Job) {
    let mut queue = queue();
    if queue.process != std::process::id() {
        // Those of a process that this one was forked from.
        std::mem::forget(queue.thread.take());
        queue.jobs.clear();
        queue.is_working = false;
    }
    queue.jobs.push_back(job);
    if queue.is_working {
        return;
    }
    // The one before has nothing more to do.
    queue.thread.take().map(JoinHandle::join);
    queue.process = std::process::id();
    match Builder::new().name("warpfold compiler".to_owned()).spawn(work) {
        Ok(thread) => (queue.thread, queue.is_working) = (Some(thread), true),
        Err(_) => {
            // No thread was to be had. Nobody begins one while this does the work.
            queue.is_working = true;
            drop(queue);
            work();
        }
    }
}

/// Does what is to be done, until nothing is left.
fn work() {
    loop {
        let mut queue = queue();
        let Some(job) = queue.jobs.pop_front() else {
            queue.is_working = false;
            return;
        };
        drop(queue);
        job();
    }
}

/// Waits for what is being compiled, and leaves the rest.
extern "C" fn finish() {
    let mut queue = queue();
    queue.jobs.clear();
    let (thread, process) = (queue.thread.take(), queue.process);
    drop(queue);
    if let Some(thread) = thread
        && process == std::process::id()
    {
        let _ = thread.join();
    }
}
