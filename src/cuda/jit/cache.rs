//! The cache of images: in memory, and on disk.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use super::disk::{self, Entry};
use super::image::{Image, ImageFormat};
use super::key::Key;
use crate::Error;
use crate::cuda::lock::lock;

static IMAGES: LazyLock<Mutex<HashMap<Key, Arc<Image>>>> = LazyLock::new(Mutex::default);

fn keep(key: Key, image: Image) -> Arc<Image> {
    lock(&IMAGES).entry(key).or_insert_with(|| Arc::new(image)).clone()
}

/// The image of a key, from memory or from the disk.
pub(super) fn find(key: Key) -> Option<Arc<Image>> {
    if let Some(image) = lock(&IMAGES).get(&key) {
        return Some(image.clone());
    }
    let image = decode(disk::load(&disk::folder()?, Entry::Image, key)?)?;
    log::debug!("image {key}: from the disk");
    Some(keep(key, image))
}

/// Compiles the image of a key, and stores it in memory and on disk.
///
/// No lock is held meanwhile. If two threads compile the same source at once, one compilation is
/// wasted, and both threads get a correct image.
pub(super) fn make(key: Key, compile: impl FnOnce() -> Result<Image, Error>) -> Result<Arc<Image>, Error> {
    log::debug!("image {key}: compiling");
    let image = compile()?;
    if let Some(folder) = disk::folder() {
        disk::store(&folder, Entry::Image, key, &encode(&image));
    }
    Ok(keep(key, image))
}

/// One byte for the format, then the bytes of the image.
fn encode(image: &Image) -> Vec<u8> {
    let format = match image.format {
        ImageFormat::Cubin => 0,
        ImageFormat::Ptx => 1,
    };
    std::iter::once(format).chain(image.bytes.iter().copied()).collect()
}

fn decode(mut payload: Vec<u8>) -> Option<Image> {
    let format = match payload.first()? {
        0 => ImageFormat::Cubin,
        1 => ImageFormat::Ptx,
        _ => return None,
    };
    payload.remove(0);
    Some(Image { format, bytes: payload })
}

#[cfg(test)]
mod tests;
