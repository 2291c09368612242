//! Checks: tests with a hash of everything that determines their outcome.
//!
//! A full run records the hashes that passed (`tests/passed.txt`). A check whose hash is in that
//! file is unchanged. Later runs may take a sample of the unchanged checks, which `selection.rs`
//! chooses. A check that runs never takes its result from a cache.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// Identifies a check and everything that determines its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub u64);

impl Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A check: its kind, the factors that distinguish it within its kind, and the hash of the
/// determinants of its outcome.
#[derive(Clone)]
pub struct Check {
    pub kind: &'static str,
    /// For example the operator, the kernel and the architecture. Checks of one kind have the same
    /// factors.
    pub factors: Vec<(&'static str, String)>,
    /// A run covers each value of these factors, but not each pair with a value of another factor.
    pub single: Vec<(&'static str, String)>,
    /// Hash of some determinants. If it has changed, an everyday run takes this check.
    pub always: Option<Hash>,
    determinants: Sha256,
}

impl Check {
    /// `kind` is a plural noun, for the line that says how many checks ran.
    pub fn of(kind: &'static str) -> Self {
        let (factors, single, determinants) = (Vec::new(), Vec::new(), Sha256::new());
        Self { kind, factors, single, always: None, determinants }.determined_by(kind)
    }

    /// Adds a factor whose value determines the outcome.
    pub fn factor(self, name: &'static str, value: impl Display) -> Self {
        let value = value.to_string();
        self.determined_by(&value).aspect(name, value)
    }

    /// Adds a factor that is not part of the hash. Two checks that differ in it alone are the same
    /// check.
    pub fn aspect(mut self, name: &'static str, value: impl Display) -> Self {
        self.factors.push((name, value.to_string()));
        self
    }

    /// Adds a factor that a run need not pair with the others, such as a part of the inputs.
    pub fn single(mut self, name: &'static str, value: impl Display) -> Self {
        let value = value.to_string();
        self.single.push((name, value.clone()));
        self.determined_by(&value)
    }

    /// Adds something that determines the outcome.
    pub fn determined_by(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.determinants.update((part.len() as u64).to_le_bytes());
        self.determinants.update(part);
        self
    }

    /// Makes an everyday run take this check whenever one of the determinants so far has changed. A
    /// change of a later determinant makes it one of the changed checks.
    pub fn always_when_changed(mut self) -> Self {
        self.always = Some(self.hash());
        self.determined_by("always")
    }

    pub fn hash(&self) -> Hash {
        let digest = self.determinants.clone().finalize();
        Hash(u64::from_be_bytes(std::array::from_fn(|k| digest[k])))
    }
}

/// The root of the repository, if the test runs beside it. A bundle on another machine does not.
fn repository() -> Option<&'static Path> {
    static ROOT: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().ok());
    ROOT.as_deref()
}

/// Digests of files by their paths in the repository. A path names one of these:
///
/// - a file;
/// - a folder with all its files;
/// - the files of a folder that have an extension (`tests/simt/*.h`).
///
/// Lines of comments and empty lines do not count.
pub fn digest(paths: &[&str]) -> String {
    static KNOWN: Mutex<Option<HashMap<String, String>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    let mut of = |path: &&str| {
        let make = || {
            let mut hasher = Sha256::new();
            if let Some(root) = repository() {
                add_files(&mut hasher, &root.join(path));
            }
            format!("{:x}", hasher.finalize())
        };
        known.entry((*path).to_owned()).or_insert_with(make).clone()
    };
    paths.iter().map(&mut of).collect()
}

fn add_files(hasher: &mut Sha256, path: &Path) {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if let (Some(ending), Some(folder)) = (name.strip_prefix("*."), path.parent()) {
        let mut files: Vec<PathBuf> = entries(folder);
        files.retain(|file| file.extension().is_some_and(|of| of == ending));
        files.iter().for_each(|file| add_files(hasher, file));
        return;
    }
    if path.is_dir() {
        // Unit tests determine no other check's outcome.
        let entries = entries(path).into_iter().filter(|entry| !entry.ends_with("tests.rs"));
        entries.for_each(|entry| add_files(hasher, &entry));
        return;
    }
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    hasher.update(name);
    hasher.update(code_of(&text));
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths
}

/// A source without the lines that cannot change its outcome: comments, blank lines, `#line`
/// directives, and its own unit tests, which come last.
pub fn code_of(text: &str) -> String {
    let tests = ["\n#[cfg(test)]\nmod tests;", "\n#[cfg(test)]\nmod tests {"];
    let text = tests.iter().find_map(|tests| text.split_once(tests)).map_or(text, |(code, _)| code);
    let counts = |line: &&str| !(line.is_empty() || line.starts_with("//") || line.starts_with("#line "));
    let lines = text.lines().map(str::trim).filter(counts);
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The record of the last full run.
#[derive(Default)]
pub struct Passed {
    /// The commit that it tested.
    pub commit: String,
    pub hashes: HashSet<Hash>,
    /// The trial that found each mutation. The key is the suite and the mutation. The value is the
    /// number of a program and the number of one of its trials.
    pub finders: HashMap<String, (usize, usize)>,
}

/// Prefixes of the lines that are not a check's hash alone.
const COMMIT: &str = "commit ";
const FINDER: &str = "finder ";
const ALWAYS: &str = "always ";

impl Passed {
    pub fn last() -> &'static Self {
        static LAST: LazyLock<Passed> = LazyLock::new(|| {
            let text = repository().and_then(|root| fs::read_to_string(root.join("tests/passed.txt")).ok());
            Passed::parse(&text.unwrap_or_default())
        });
        &LAST
    }

    fn parse(text: &str) -> Self {
        let mut passed = Self::default();
        for line in text.lines() {
            if let Some(commit) = line.strip_prefix(COMMIT) {
                passed.commit = commit.to_owned();
            } else if let Some(finder) = line.strip_prefix(FINDER) {
                let mut words = finder.splitn(3, ' ');
                let mut number = || words.next().and_then(|word| word.parse().ok());
                if let (Some(program), Some(trial), Some(mutation)) = (number(), number(), words.next()) {
                    passed.finders.insert(mutation.to_owned(), (program, trial));
                }
            } else if let Ok(hash) = u64::from_str_radix(line.strip_prefix(ALWAYS).unwrap_or(line), 16) {
                passed.hashes.insert(Hash(hash));
            }
        }
        passed
    }
}

/// Adds a line to the record if this is a full run. `cargo xtask test --full` merges these files.
fn record(line: impl Display) {
    static FILE: LazyLock<Option<Mutex<fs::File>>> = LazyLock::new(|| {
        let folder = PathBuf::from(std::env::var_os("WARPFOLD_RECORD")?);
        let file = folder.join(format!("{}.txt", std::process::id()));
        Some(Mutex::new(fs::File::create(file).expect("the folder of the record is there")))
    });
    if let Some(file) = &*FILE {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(file, "{line}").expect("a record can be written");
    }
}

/// Records that a check passed.
pub fn record_pass(check: &Check) {
    record(check.hash());
    check.always.iter().for_each(|hash| record(format!("{ALWAYS}{hash}")));
}

/// Records which trial found a mutation.
pub fn record_finder(mutation: &str, (program, trial): (usize, usize)) {
    record(format!("{FINDER}{program} {trial} {mutation}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_of_every_determinant_and_of_where_each_ends() {
        let check = || Check::of("sums").factor("operator", "a");
        assert_eq!(check().determined_by("x").hash(), check().determined_by("x").hash());
        let all = [
            check().determined_by("x"),
            check().determined_by("y"),
            check().determined_by("x").determined_by(""),
            check(),
            Check::of("sums").factor("operator", "b").determined_by("x"),
            Check::of("scans").factor("operator", "a").determined_by("x"),
            Check::of("sums").factor("operator", "ax"),
        ];
        let hashes: HashSet<Hash> = all.iter().map(Check::hash).collect();
        assert_eq!(hashes.len(), all.len());
        assert_eq!(check().aspect("name", 1).hash(), check().aspect("name", 2).hash());
    }

    #[test]
    fn comments_and_line_numbers_are_no_code() {
        let (before, after) =
            ("#line 3 \"a\"\n  x += 1; // why\n", "// a\n\n#line 9 \"a\"\nx += 1; // why\n");
        assert_eq!(code_of(before), code_of(after));
        assert_ne!(code_of(before), code_of("x += 2; // why\n"));
        for tests in ["mod tests;\n", "mod tests {\n    x += 2;\n}\n"] {
            assert_eq!(code_of(&format!("x += 1;\n#[cfg(test)]\n{tests}")), code_of("x += 1;\n"));
        }
        let others = "x += 1;\n#[cfg(test)]\nmod tests_of_x;\nx += 2;\n";
        assert_ne!(code_of(others), code_of("x += 1;\n"));
    }

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let passed = Passed::parse(
            "commit abc1234\nalways 0000000000000001\n00000000000000ff\nfinder 3 1 simt: a missing barrier\n",
        );
        assert_eq!(passed.commit, "abc1234");
        assert_eq!(passed.hashes, HashSet::from([Hash(1), Hash(255)]));
        assert_eq!(passed.finders["simt: a missing barrier"], (3, 1));
        assert_eq!(Hash(255).to_string(), "00000000000000ff");
    }

    #[test]
    fn a_digest_follows_its_files() {
        assert_eq!(digest(&["src/lib.rs"]), digest(&["src/lib.rs"]));
        assert_ne!(digest(&["src/lib.rs"]), digest(&["src/error.rs"]));
        assert_eq!(digest(&["src/plan", "src/error.rs"]), digest(&["src/plan"]) + &digest(&["src/error.rs"]));
    }
}
