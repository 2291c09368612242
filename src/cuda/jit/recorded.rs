//! The version and the architectures of NVRTC, without opening the library.
//!
//! Opening NVRTC takes longer than loading an image. A process whose images are all on disk needs
//! only the version and the architectures. So a process that opens NVRTC stores them in the disk
//! cache, with the library's path, length and time of change. The key is the program and its
//! environment.
//!
//! While the file is unchanged, it is assumed to be the library that would be opened. A process
//! that opens NVRTC asks the library itself.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::compiler::{Compiler, VARIABLE};
use super::disk::{self, Entry};
use super::key::Key;
use crate::types::Architecture;

/// The environment variables that determine where NVRTC is searched for.
const ENVIRONMENT: [&str; 4] = [VARIABLE, "LD_LIBRARY_PATH", "CUDA_PATH", "CUDA_HOME"];

/// The key of the record for this program and environment.
fn key() -> Key {
    let program = std::env::current_exe().unwrap_or_default().into_os_string();
    let values = ENVIRONMENT.map(|name| std::env::var_os(name).unwrap_or_default());
    Key::of(std::iter::once(&program).chain(&values).map(|value| value.as_encoded_bytes()))
}

/// The recorded properties, if the library's file is unchanged.
pub(super) fn recorded() -> Option<Compiler> {
    let text = String::from_utf8(disk::load(&disk::folder()?, Entry::Compiler, key())?).ok()?;
    let (compiler, library) = decode(&text)?;
    let is_unchanged = identity(Path::new(library.1)).is_some_and(|identity| identity == library.0);
    is_unchanged.then_some(compiler)
}

/// Records the properties of the library that was just opened, for later processes.
pub(super) fn record(compiler: &Compiler, path: &Path) {
    if let (Some(folder), Some(identity), Some(path)) = (disk::folder(), identity(path), path.to_str()) {
        disk::store(&folder, Entry::Compiler, key(), encode(compiler, &identity, path).as_bytes());
    }
}

/// The length of a file and the time of its last change. None if there is no such file.
fn identity(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} bytes, {} ns", metadata.len(), changed.as_nanos()))
}

/// Lines: version, architectures, the file's identity, the file's path.
fn encode(compiler: &Compiler, identity: &str, path: &str) -> String {
    let numbers: Vec<String> =
        compiler.architectures.iter().map(|architecture| architecture.number().to_string()).collect();
    format!("{}\n{}\n{identity}\n{path}", compiler.version, numbers.join(" "))
}

/// The compiler, and the identity and path of its file, from the text of [`encode`].
fn decode(text: &str) -> Option<(Compiler, (&str, &str))> {
    let mut lines = text.splitn(4, '\n');
    let version = lines.next()?.to_owned();
    let numbers: Option<Vec<u32>> = lines.next()?.split(' ').map(|number| number.parse().ok()).collect();
    let architectures = numbers?.into_iter().map(Architecture::from_number).collect();
    Some((Compiler { version, architectures }, (lines.next()?, lines.next()?)))
}

#[cfg(test)]
mod tests;
