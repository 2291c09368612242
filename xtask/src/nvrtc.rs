//! Finds NVRTC for the tests, or installs the Python package `nvidia-cuda-nvrtc` into `target/`.

use std::path::{Path, PathBuf};

use crate::command::{command, run};

/// The versions that the nvrtc tier compiles with: the newest one, and the oldest supported one.
pub(crate) const NEWEST: &str = "13.*";
pub(crate) const OLDEST: &str = "13.0.*";
/// Environment variable with the path of the library that warpfold loads.
pub(crate) const VARIABLE: &str = "WARPFOLD_NVRTC";

/// The path for [`VARIABLE`]. `None`: the system searches for the library.
pub(crate) fn library(version: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    let folder = PathBuf::from(format!("target/nvrtc-{}", version.trim_end_matches(".*")));
    if let Some(library) = find(&folder) {
        return Some(library);
    }
    let package = format!("nvidia-cuda-nvrtc=={version}");
    let mut install =
        command("python3 -m pip install --quiet --no-deps --disable-pip-version-check --target");
    if let Err(error) = run(install.arg(&folder).arg(package)) {
        eprintln!("NVRTC was not fetched ({error:#}); the tests look for an installed one");
    }
    find(&folder)
}

/// The absolute path of the library below a folder.
fn find(folder: &Path) -> Option<PathBuf> {
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let is_library = name.to_string_lossy().starts_with("libnvrtc.so");
        let found = if path.is_dir() { find(&path) } else { is_library.then_some(path) };
        if found.is_some() {
            return found.and_then(|path| path.canonicalize().ok());
        }
    }
    None
}
