//! Tests that types and bodies that cannot run on a GPU are compile errors, at the right place.

#[test]
fn what_has_no_fixed_layout_is_refused_at_its_place() {
    trybuild::TestCases::new().compile_fail("refusals/types/*.rs");
}

#[test]
fn what_has_no_counterpart_in_cpp_is_refused_at_its_token() {
    trybuild::TestCases::new().compile_fail("refusals/bodies/*.rs");
}

#[test]
fn operators_without_a_device_form_are_refused() {
    trybuild::TestCases::new().compile_fail("refusals/operators/*.rs");
}

#[test]
fn common_mistakes_are_refused() {
    trybuild::TestCases::new().compile_fail("refusals/mistakes/*.rs");
}

/// Mistakes for which rustc has an error of its own beside that of the macro.
const TWICE: [&str; 3] = ["question_mark", "wrong_type_of_an_operand", "wrong_type_of_the_result"];
/// Most lines of the errors of all other mistakes.
const MOST_LINES: usize = 29;

#[test]
fn a_common_mistake_has_one_error() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/refusals/mistakes");
    let files = std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path());
    let mut mistakes = 0;
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "stderr")) {
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let errors = text.lines().filter(|line| line.starts_with("error")).count();
        let lines = text.lines().take_while(|line| !line.starts_with("warning")).count();
        mistakes += 1;
        assert_eq!(errors > 1, TWICE.contains(&name), "{name}: {errors} errors");
        assert!(lines <= MOST_LINES || errors > 1, "{name}: {lines} lines");
    }
    assert!(mistakes >= 40, "{mistakes} mistakes");
}
