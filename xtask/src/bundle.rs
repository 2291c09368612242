//! `cargo xtask bundle`: a folder, and an archive of it, for a GPU machine without a Rust
//! toolchain. It holds all tests, benches and examples that the machine runs.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use cargo_metadata::{Message, TargetKind};

use crate::command::command;

const FOLDER: &str = "bundle";
const ARCHIVE: &str = "bundle.tar.gz";
/// Most bytes of the archive, so that it is quick to copy.
const MOST_BYTES: u64 = 60 << 20;
/// Tests that need a Rust toolchain or the repository.
const NOT_BUNDLED: [(&str, &str); 5] = [
    ("test", "refusals"),
    ("test", "rendering"),
    ("test", "farthest_point"),
    ("test", "simt"),
    ("unit", "support"),
];

pub(crate) fn run() -> Result<()> {
    if Path::new(FOLDER).exists() {
        fs::remove_dir_all(FOLDER)?;
    }
    fs::create_dir_all(FOLDER)?;
    let mut names = Vec::new();
    let packages = "--package warpfold --package warpfold-tests --package warpfold-benches";
    for targets in ["test --no-run --lib --tests --benches", "build --examples"] {
        let options = "--features warpfold-tests/every-operator --profile bundle";
        let line = format!("cargo {targets} {packages} {options} --message-format json-render-diagnostics");
        eprintln!("> {line}");
        let mut build = command(&line).stdout(Stdio::piped()).spawn()?;
        let output = build.stdout.take().context("no output")?;
        for message in Message::parse_stream(std::io::BufReader::new(output)) {
            let Message::CompilerArtifact(artifact) = message? else {
                continue;
            };
            let Some(executable) = artifact.executable else {
                continue;
            };
            let kind = match artifact.target.kind.first() {
                Some(TargetKind::Test) => "test",
                Some(TargetKind::Bench) => "bench",
                Some(TargetKind::Example) => "example",
                _ => "unit",
            };
            if NOT_BUNDLED.contains(&(kind, artifact.target.name.as_str())) {
                continue;
            }
            let name = format!("{kind}-{}", artifact.target.name);
            fs::copy(&executable, Path::new(FOLDER).join(&name)).with_context(|| executable.to_string())?;
            names.push(name);
        }
        ensure!(build.wait()?.success(), "{line} failed");
    }
    let folder = Path::new(FOLDER);
    fs::create_dir(folder.join("peers"))?;
    for (from, to) in [("xtask/run-gpu-tests", ""), ("xtask/summary.awk", ""), ("benches/peers", "peers")] {
        copy(Path::new(from), &folder.join(to)).context(from)?;
    }
    // The commit of later measurements. `-dirty` is appended if the working tree differs from it.
    let commit = command("git describe --always --dirty --exclude *").output().context("git describe")?;
    ensure!(commit.status.success(), "git describe: {}", String::from_utf8_lossy(&commit.stderr));
    fs::write(folder.join("commit"), commit.stdout)?;
    crate::command::run(&mut command(&format!("tar czf {ARCHIVE} {FOLDER}")))?;
    let bytes = fs::metadata(ARCHIVE)?.len();
    println!("{FOLDER}/: {} binaries; {ARCHIVE}: {:.1} MiB", names.len(), bytes as f64 / f64::from(1 << 20));
    ensure!(bytes < MOST_BYTES, "{ARCHIVE} weighs more than {} MiB", MOST_BYTES >> 20);
    Ok(())
}

/// Copies a file, or all files of a folder, into a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        return fs::read_dir(from)?.try_for_each(|entry| copy(&entry?.path(), to));
    }
    fs::copy(from, to.join(from.file_name().context("a file name")?))?;
    Ok(())
}
