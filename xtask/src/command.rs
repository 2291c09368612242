//! Runs other programs and passes their output on.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A command from a line that is split at spaces.
pub(crate) fn command(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// Runs a command. An exit status other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("> {}", shown(command));
    let status = command.status().with_context(|| shown(command))?;
    if !status.success() {
        bail!("{} failed: {status}", shown(command));
    }
    Ok(())
}

/// Runs a command. Returns its standard error, and also passes it on.
pub(crate) fn run_and_listen(command: &mut Command) -> Result<Vec<String>> {
    eprintln!("> {}", shown(command));
    let mut child = command.stderr(Stdio::piped()).spawn().with_context(|| shown(command))?;
    let mut heard = Vec::new();
    if let Some(errors) = child.stderr.take() {
        for line in BufReader::new(errors).lines() {
            let line = line?;
            eprintln!("{line}");
            heard.push(line);
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{} failed: {status}", shown(command));
    }
    Ok(heard)
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Environment for crates outside the workspace. They share the workspace's target folder and the
/// profile of its tests, so that common dependencies are built once.
pub(crate) const SHARED_TARGET: [(&str, &str); 9] = [
    ("CARGO_TARGET_DIR", "target"),
    ("CARGO_PROFILE_DEV_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_DEV_DEBUG", "false"),
    ("CARGO_PROFILE_DEV_LTO", "off"),
    ("CARGO_PROFILE_DEV_OVERFLOW_CHECKS", "false"),
    ("CARGO_PROFILE_TEST_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_TEST_DEBUG", "false"),
    ("CARGO_PROFILE_TEST_LTO", "off"),
    ("CARGO_PROFILE_TEST_OVERFLOW_CHECKS", "false"),
];
