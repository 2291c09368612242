//! What earlier processes left: images, and what NVRTC said of itself.
//!
//! One file an entry, named by its key. A file is a header (a magic line, the key, the payload's length), the payload, and
//! a checksum of all of that; it is written under another name and renamed, so that a reader sees a whole file or none,
//! and of two processes that write the same key one's file is left. Whatever is not exactly such a file (corrupt,
//! truncated, of another key, of another user) is made again and replaced, and never loaded.
//!
//! The cache makes things faster and nothing else: whatever goes wrong with it is logged, and the work goes on.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::key::Key;

const VARIABLE: &str = "WARPFOLD_CACHE_DIR";
/// Of the folder that the variable or the system names, which need not be private: this one is.
const IMAGES: &str = "images";
const MAGIC: &[u8; 16] = b"warpfold cache2\n";
const KEY: usize = MAGIC.len();
const LENGTH: usize = KEY + 32;
const PAYLOAD: usize = LENGTH + 8;
const CHECKSUM: usize = 32;

/// The cache's folder, made if need be; none if the cache is off, or if the folder is not the user's alone.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = match std::env::var_os(VARIABLE) {
        Some(value) if value == "off" => return None,
        Some(value) if !value.is_empty() => PathBuf::from(value),
        _ => dirs::cache_dir()?.join("warpfold"),
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

/// Owned by this user, and nobody else's to use: what is loaded from here runs on the GPU.
#[cfg(unix)]
fn is_private(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o077 == 0
}

// Elsewhere the user's cache folder is private by where it lies.
#[cfg(not(unix))]
fn make_private(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}
#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

/// What an entry is: how its file's name ends.
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

/// The payload of an entry, if there is a whole and private file of it.
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

/// Writes an entry, in place of whatever was there.
pub(super) fn store(folder: &Path, entry: Entry, key: Key, payload: &[u8]) {
    let path = file(folder, entry, key);
    // A temporary file is its owner's alone from the start.
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
