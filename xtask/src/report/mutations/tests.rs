use super::*;

#[test]
fn a_mutation_is_a_row() {
    let text = "pub const MUTATIONS: &[Mutation] = &[\n    Mutation {\n        name: \"a barrier left out\",\n        \
                file: \"scan/scan.cuh\",\n        right: \"x\",\n        wrong: \"\",\n    },\n];\n";
    let expected = "| mistake | template |\n| --- | --- |\n| a barrier left out | `scan/scan.cuh` |\n";
    assert_eq!(table(text).unwrap(), expected);
}

#[test]
fn a_mutation_without_a_file_is_refused() {
    assert!(table("    Mutation {\n        name: \"a barrier left out\",\n    },\n").is_err());
}
