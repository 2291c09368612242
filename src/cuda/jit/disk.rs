//! The disk cache: images, and the properties of NVRTC, for later processes.
//!
//! Each entry is a file that is named by its key. A file consists of these parts:
//!
//! 1. A header: a magic line, the key, and the payload's length.
//! 2. The payload.
//! 3. A checksum of header and payload.
//!
//! A file is written under a temporary name and then renamed. So a reader sees a complete file or
//! none. If two processes write the same key, the later file stays.
//!
//! A file that is corrupt, truncated, or of another key or user is not loaded, but replaced.
//!
//! Errors of the cache are logged, and the call continues without it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};
use sha2::{Digest, Sha256};

use super::key::Key;

const VARIABLE: &str = "WARPFOLD_CACHE_DIR";
/// The subfolder for the entries. Its parent need not be private, but this folder must be.
const IMAGES: &str = "images";
const MAGIC: &[u8; 16] = b"warpfold cache2\n";
const KEY: usize = MAGIC.len();
const LENGTH: usize = KEY + 32;
const PAYLOAD: usize = LENGTH + 8;
const CHECKSUM: usize = 32;

/// The cache's folder, which is created if necessary. None if the cache is off, or if other users
/// can access the folder.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = match std::env::var_os(VARIABLE) {
        Some(value) if value == "off" => return None,
        Some(value) if !value.is_empty() => PathBuf::from(value),
        _ => choose_base_strategy().ok()?.cache_dir().join("warpfold"),
    }
    .join(IMAGES);
    let checked = make_private(&folder).and_then(|()| fs::metadata(&folder));
    match checked {
        Ok(metadata) if is_private(&metadata) => Some(folder),
        Ok(_) => {
            log::warn!("no disk cache: {} is not a folder that only you can use", folder.display());
            None
        }
        Err(error) => {
            log::warn!("no disk cache in {}: {error}", folder.display());
            None
        }
    }
}

#[cfg(unix)]
fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Whether only this user owns and can access the file. Required, because images run on the GPU.
#[cfg(unix)]
fn is_private(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: the call has no preconditions.
    metadata.uid() == unsafe { libc::geteuid() } && metadata.mode() & 0o077 == 0
}

// On other systems the user's cache folder is private because of its location.
#[cfg(not(unix))]
fn make_private(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}
#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

/// The kind of an entry, which determines the file's extension.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    Image,
    Compiler,
}

fn file(folder: &Path, entry: Entry, key: Key) -> PathBuf {
    let ending = match entry {
        Entry::Image => "image",
        Entry::Compiler => "nvrtc",
    };
    folder.join(format!("{key}.{ending}"))
}

/// The payload of an entry, if its file is complete and private.
pub(super) fn load(folder: &Path, entry: Entry, key: Key) -> Option<Vec<u8>> {
    let path = file(folder, entry, key);
    let metadata = fs::symlink_metadata(&path).ok()?;
    if !metadata.is_file() || !is_private(&metadata) {
        log::warn!("{} is not a file that only you can use: made again", path.display());
        return None;
    }
    let payload = fs::read(&path).ok().and_then(|bytes| decode(&bytes, key));
    if payload.is_none() {
        log::warn!("{} is corrupt: made again", path.display());
    }
    payload
}

/// Writes an entry, and replaces an existing file.
pub(super) fn store(folder: &Path, entry: Entry, key: Key, payload: &[u8]) {
    let path = file(folder, entry, key);
    // Only the owner can access a temporary file, from its creation on.
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(&encode(payload, key))?;
        file.persist(&path).map_err(|error| error.error)
    });
    if let Err(error) = written {
        log::warn!("{} was not written: {error}", path.display());
    }
}

fn encode(payload: &[u8], key: Key) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(key.0);
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(payload);
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    bytes
}

fn decode(bytes: &[u8], key: Key) -> Option<Vec<u8>> {
    let (content, checksum) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM)?)?;
    if Sha256::digest(content)[..] != *checksum {
        return None;
    }
    let payload = content.get(PAYLOAD..)?;
    let length = u64::from_le_bytes(content[LENGTH..PAYLOAD].try_into().ok()?);
    let is_whole =
        content[..KEY] == *MAGIC && content[KEY..LENGTH] == key.0 && length == payload.len() as u64;
    is_whole.then(|| payload.to_vec())
}

#[cfg(all(test, unix))]
mod tests;
