use std::os::unix::fs::PermissionsExt;

use rand::{Rng, SeedableRng};

use super::*;

const KEYS: [Key; 2] = [Key([1; 32]), Key([2; 32])];

const PAYLOAD: &[u8] = b"the machine code";

fn load(folder: &Path, key: Key) -> Option<Vec<u8>> {
    super::load(folder, Entry::Image, key)
}

fn store(folder: &Path, key: Key) {
    super::store(folder, Entry::Image, key, PAYLOAD);
}

fn file(folder: &Path, key: Key) -> PathBuf {
    super::file(folder, Entry::Image, key)
}

#[test]
fn an_entry_comes_back_as_it_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(load(folder.path(), KEYS[0]), None);
    store(folder.path(), KEYS[0]);
    assert_eq!(load(folder.path(), KEYS[0]), Some(PAYLOAD.to_vec()));
    assert_eq!(load(folder.path(), KEYS[1]), None);
    assert_eq!(super::load(folder.path(), Entry::Compiler, KEYS[0]), None);
}

#[test]
fn no_changed_or_cut_byte_is_ever_loaded() {
    let whole = encode(PAYLOAD, KEYS[0]);
    assert_eq!(decode(&whole, KEYS[0]), Some(PAYLOAD.to_vec()));
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        assert_eq!(decode(&changed, KEYS[0]), None, "byte {at}");
        assert_eq!(decode(&whole[..at], KEYS[0]), None, "cut at {at}");
    }
    assert_eq!(decode(&[whole, vec![0]].concat(), KEYS[0]), None);
}

#[test]
fn a_file_of_another_key_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), KEYS[0]);
    fs::copy(file(folder.path(), KEYS[0]), file(folder.path(), KEYS[1])).unwrap();
    assert_eq!(load(folder.path(), KEYS[1]), None);
}

#[test]
fn a_file_that_others_can_use_is_not_loaded_but_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), KEYS[0]);
    for mode in [0o666, 0o644, 0o602] {
        store(folder.path(), KEYS[0]);
        assert_eq!(load(folder.path(), KEYS[0]), Some(PAYLOAD.to_vec()));
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(load(folder.path(), KEYS[0]), None);
    }
    store(folder.path(), KEYS[0]);
    assert_eq!(load(folder.path(), KEYS[0]), Some(PAYLOAD.to_vec()));
}

/// Random bytes, and files with random changes. The parser does not panic, and loads complete files
/// only.
/// `WARPFOLD_FUZZ_SECONDS` sets the time.
#[test]
fn fuzzed_files_are_loaded_if_they_are_complete() {
    let seconds = std::env::var("WARPFOLD_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let time = std::time::Duration::from_secs_f64(seconds.unwrap_or(0.1));
    let (start, mut count) = (std::time::Instant::now(), 0_u64);
    let seed = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64);
    let mut random = rand::rngs::SmallRng::seed_from_u64(seed);
    let whole = encode(&[PAYLOAD; 20].concat(), KEYS[0]);
    while start.elapsed() < time {
        let mut bytes = whole.clone();
        match random.random_range(0..4) {
            0 => bytes = (0..random.random_range(0..200)).map(|_| random.random()).collect(),
            1 => bytes.truncate(random.random_range(0..whole.len())),
            2 => (0..random.random_range(1..9)).for_each(|_| {
                let at = random.random_range(0..bytes.len());
                bytes[at] = random.random();
            }),
            _ => {
                // A consistent checksum, so that the parser sees the rest of the file.
                bytes.truncate(random.random_range(0..bytes.len() - CHECKSUM));
                (0..random.random_range(0..9)).for_each(|_| {
                    let at = random.random_range(0..=bytes.len());
                    bytes.insert(at, random.random());
                });
                let checksum = Sha256::digest(&bytes);
                bytes.extend(checksum);
            }
        }
        // Only a file that `encode` could have written is loaded.
        if let Some(payload) = decode(&bytes, KEYS[0]) {
            assert_eq!(encode(&payload, KEYS[0]), bytes, "seed {seed}");
        }
        count += 1;
    }
    println!("{count} files");
}
