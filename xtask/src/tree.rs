//! The tested files. Their hash is the seed of a run, and its name in the record.

use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The files of the working tree, whether committed or not.
pub(crate) struct Tree {
    /// Git's hash of the files.
    pub(crate) hash: String,
    /// The short hash of the last commit, with `-dirty` if files differ from it.
    pub(crate) commit: String,
}

impl Tree {
    pub(crate) fn of_working_copy() -> Result<Self> {
        let index = std::env::current_dir()?.join("target/tree-index");
        std::fs::create_dir_all("target")?;
        // A separate index leaves the user's index unchanged.
        let staged = |arguments: &str| git(arguments, Some(&index));
        staged("read-tree HEAD")?;
        staged("add --all")?;
        let hash = staged("write-tree")?;
        let is_committed = hash == git("rev-parse HEAD^{tree}", None)?;
        let commit = git("rev-parse --short HEAD", None)? + if is_committed { "" } else { "-dirty" };
        Ok(Self { hash, commit })
    }

    /// A seed that is derived from the hash.
    pub(crate) fn seed(&self) -> u64 {
        u64::from_str_radix(&self.hash[..16], 16).unwrap_or_default()
    }
}

fn git(arguments: &str, index: Option<&std::path::Path>) -> Result<String> {
    let mut command = Command::new("git");
    command.args(arguments.split(' '));
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    let output = command.output().context("git")?;
    ensure!(output.status.success(), "git {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
