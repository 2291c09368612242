//! The images of this process.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::{Image, disk};
use crate::Error;

/// What an image depends on, hashed: source, options (the architecture among them) and compiler version.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key(pub(super) [u8; 32]);

impl Key {
    pub(super) fn of(source: &str, options: &[String], version: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [source, version].into_iter().chain(options.iter().map(String::as_str)) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

static IMAGES: LazyLock<Mutex<HashMap<Key, Arc<Image>>>> = LazyLock::new(Mutex::default);

/// The image of a key: from this process, from the disk, or compiled now and left in both.
pub(super) fn image(key: Key, compile: impl FnOnce() -> Result<Image, Error>) -> Result<Arc<Image>, Error> {
    // A map of finished images is whole even where a thread panicked beside it.
    let images = || IMAGES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(image) = images().get(&key) {
        return Ok(image.clone());
    }
    // Not under the lock: two threads that compile the same operator at once waste work, not correctness.
    let folder = disk::folder();
    let image = match folder.as_ref().and_then(|folder| disk::load(folder, key)) {
        Some(image) => {
            log::debug!("image {key}: from the disk");
            image
        }
        None => {
            log::debug!("image {key}: compiling");
            let image = compile()?;
            if let Some(folder) = &folder {
                disk::store(folder, key, &image);
            }
            image
        }
    };
    Ok(images().entry(key).or_insert_with(|| Arc::new(image)).clone())
}
