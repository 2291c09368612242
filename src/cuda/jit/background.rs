//! Compilation in the background: one thread compiles one source at a time.
//!
//! A process that ends waits for the source that the thread compiles. Without that wait, NVRTC
//! crashes or never returns while its library is torn down. Sources that are still queued are
//! dropped.
//!
//! NVRTC registers `atexit` functions at its first use of several parts, and the last function
//! registered runs first. The wait must come before all of them:
//!
//! 1. The main thread waits in the destructor of a thread-local value, which runs before every
//!    `atexit` function. The value exists if the main thread has asked for a compilation.
//! 2. Otherwise an `atexit` function of this module waits. It is registered for each compilation.
//!    It may run after a function that NVRTC registers during that compilation.
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

/// The compilation of a source in the background.
///
/// One thread compiles one source at a time. A process that ends waits for the source that is being
/// compiled. Sources that are still queued are dropped.
#[derive(Debug)]
pub struct Compilation(Arc<Task>);

/// A compilation. The first to take it performs it: the background thread, or a caller that waits.
#[derive(Debug)]
struct Task {
    taken: Mutex<Option<(Arc<Source>, Target)>>,
    /// None if the compilation has panicked.
    ended: OnceLock<Option<Compiled>>,
}

impl Task {
    fn run(&self) {
        let Some((source, target)) = lock(&self.taken).take() else { return };
        // The panic has printed its message, and `wait` panics in turn.
        let compiled = catch_unwind(AssertUnwindSafe(|| compile(&source, target))).ok();
        let _ = self.ended.set(compiled);
    }
}

impl Compilation {
    /// Starts to compile a source, as [`compile`](super::compile()) does. In a process that has not
    /// compiled any source yet, this call performs the compilation.
    pub fn begin(source: Arc<Source>, target: Target) -> Self {
        let task = Arc::new(Task { taken: Mutex::new(Some((source, target))), ended: OnceLock::new() });
        match nvrtc::has_compiled() && wait_at_exit() {
            true => enqueue(&task),
            false => task.run(),
        }
        Self(task)
    }

    /// Whether [`wait`](Self::wait) returns at once.
    pub fn has_ended(&self) -> bool {
        self.0.ended.get().is_some()
    }

    /// Waits for the image. If the compilation has not begun, this call performs it.
    ///
    /// # Errors
    ///
    /// The errors of [`compile`](super::compile()).
    ///
    /// # Panics
    ///
    /// If the compilation has panicked.
    pub fn wait(&self) -> Compiled {
        self.0.run();
        self.0.ended.wait().clone().unwrap_or_else(|| panic!("the thread that compiles has panicked"))
    }
}

/// The compilations that have not begun, and their thread. The thread exists only while there is
/// work.
struct Queue {
    tasks: VecDeque<Arc<Task>>,
    /// The thread. If `is_working` is false, it has ended or is about to end.
    thread: Option<JoinHandle<()>>,
    is_working: bool,
    /// Whether the process is ending. If so, no compilation begins.
    is_closed: bool,
}

/// No code compiles or panics while it holds this lock.
static QUEUE: Mutex<Queue> =
    Mutex::new(Queue { tasks: VecDeque::new(), thread: None, is_working: false, is_closed: false });
/// The id of the process that has the thread. After a fork, the child process has no such thread.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Makes the process wait for the current compilation when it ends. Returns whether this succeeded.
fn wait_at_exit() -> bool {
    thread_local!(static LOCAL: Local = const { Local });
    // A thread whose values are gone already is ending, and has waited.
    let _ = LOCAL.try_with(|_| {});
    // SAFETY: the function does not unwind.
    unsafe { libc::atexit(finish) == 0 }
}

/// A thread-local value of each thread that has asked for a compilation.
struct Local;

impl Drop for Local {
    fn drop(&mut self) {
        // Another thread may end long before the process does.
        if is_main_thread() {
            finish();
        }
    }
}

/// Whether this is the thread that the process began with. Only Linux tells.
fn is_main_thread() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: neither call has preconditions.
    let is_main = unsafe { libc::gettid() == libc::getpid() };
    #[cfg(not(target_os = "linux"))]
    let is_main = false;
    is_main
}

fn enqueue(task: &Arc<Task>) {
    let mut queue = lock(&QUEUE);
    if PROCESS.swap(std::process::id(), Ordering::Relaxed) != std::process::id() {
        // After a fork, the thread and the tasks belong to the parent process.
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
    // The previous thread has no work left.
    queue.thread.take().map(JoinHandle::join);
    queue.thread = Builder::new().name("warpfold compiler".to_owned()).spawn(work).ok();
    queue.is_working = queue.thread.is_some();
    if !queue.is_working {
        // The thread could not be started. A later thread finds the task taken, and skips it.
        drop(queue);
        task.run();
    }
}

/// Performs the queued compilations until none is left.
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

/// Waits for the current compilation, and drops the queued ones.
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
        // A thread cannot join itself. A panic of that thread may be the reason why the process
        // ends.
        && thread.thread().id() != std::thread::current().id()
    {
        let _ = thread.join();
    }
}
