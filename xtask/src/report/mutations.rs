//! The tables of mutations, read from the test files that define them.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::table::Table;

/// The table of a block. `None` if the name belongs to another block.
pub(super) fn block(name: &str) -> Option<Result<String>> {
    let file = match name {
        "mutations-of-reductions" => "tests/simt/mutations.rs",
        "mutations-of-aggregates" => "tests/aggregates/mutations.rs",
        "mutations-of-rows" => "tests/rows/mutations.rs",
        "mutations-of-scans" => "tests/scan/mutations.rs",
        "mutations-of-the-ladder" => "tests/ladder/mutations.rs",
        _ => return None,
    };
    Some(fs::read_to_string(file).with_context(|| file.to_owned()).and_then(|text| table(&text)))
}

fn table(text: &str) -> Result<String> {
    let mut table = Table::new(&["mistake", "template"], &[]);
    let mutations = text.split("    Mutation {\n").skip(1);
    for mutation in mutations {
        let field = |name: &str| {
            let (_, value) = mutation.split_once(&format!("        {name}: \""))?;
            value.split_once("\",\n").map(|(value, _)| value.to_owned())
        };
        let (name, file) = (field("name"), field("file"));
        let (name, file) = name.zip(file).with_context(|| format!("no mutation: {mutation}"))?;
        ensure!(!name.contains(['|', '\\']), "a table cannot hold this name: {name}");
        table.row([name, format!("`{file}`")]);
    }
    Ok(table.or_nothing())
}

#[cfg(test)]
mod tests;
