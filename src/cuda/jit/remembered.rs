//! What the NVRTC at hand is, without opening it.
//!
//! To open that library takes longer than to load an image, and a process whose images are all on the disk needs nothing
//! else of it than its version and the architectures that it knows. So whoever opens it leaves those in the cache, with
//! the library's path, length and time, for this program and the environment that it was found in. As long as the file is
//! as it was, it is believed to be the one that would be opened; whoever must open it in the end asks the library itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::compiler::{Compiler, VARIABLE};
use super::disk::{self, Entry};
use super::key::Key;
use crate::types::Architecture;

/// Where NVRTC is looked for depends on these.
const ENVIRONMENT: [&str; 4] = [VARIABLE, "LD_LIBRARY_PATH", "CUDA_PATH", "CUDA_HOME"];

/// Where what was found in this environment is kept.
fn key() -> Key {
    let program = std::env::current_exe().unwrap_or_default().into_os_string();
    let values = ENVIRONMENT.map(|name| std::env::var_os(name).unwrap_or_default());
    Key::of(std::iter::once(&program).chain(&values).map(|value| value.as_encoded_bytes()))
}

/// What was found last time, if the library is as it was.
pub(super) fn remembered() -> Option<Compiler> {
    let text = String::from_utf8(disk::load(&disk::folder()?, Entry::Compiler, key())?).ok()?;
    let (compiler, library) = decode(&text)?;
    let is_there = identity(Path::new(library.1)).is_some_and(|identity| identity == library.0);
    is_there.then_some(compiler)
}

/// Leaves what the library that was just opened says for the next process.
pub(super) fn remember(compiler: &Compiler) {
    let library = loaded_from().and_then(|path| Some((identity(&path)?, path)));
    if let (Some(folder), Some((identity, path))) = (disk::folder(), library)
        && let Some(path) = path.to_str()
    {
        disk::store(&folder, Entry::Compiler, key(), encode(compiler, &identity, path).as_bytes());
    }
}

/// A file's length and the time of its last change, which change with the file.
fn identity(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} bytes, {} ns", metadata.len(), changed.as_nanos()))
}

/// The file of the library that this process has open, if the system tells, and if there is only one.
fn loaded_from() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let mut paths: Vec<&str> = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .filter(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with("libnvrtc.so")))
        .collect();
    paths.dedup();
    match paths[..] {
        [path] => Some(path.into()),
        _ => None,
    }
}

/// Lines: the version, the architectures, what identifies the file, and its path.
fn encode(compiler: &Compiler, identity: &str, path: &str) -> String {
    let numbers: Vec<String> =
        compiler.architectures.iter().map(|architecture| architecture.number().to_string()).collect();
    format!("{}\n{}\n{identity}\n{path}", compiler.version, numbers.join(" "))
}

/// What [`encode`] wrote: of the library its identity and its path.
fn decode(text: &str) -> Option<(Compiler, (&str, &str))> {
    let mut lines = text.splitn(4, '\n');
    let version = lines.next()?.to_owned();
    let numbers: Option<Vec<u32>> = lines.next()?.split(' ').map(|number| number.parse().ok()).collect();
    let architectures = numbers?.into_iter().map(Architecture::from_number).collect();
    Some((Compiler { version, architectures }, (lines.next()?, lines.next()?)))
}

#[cfg(test)]
mod tests;
