//! What is no device type is refused when the program is compiled, with a message at the place.

#[test]
fn what_has_no_fixed_layout_is_refused_at_its_place() {
    trybuild::TestCases::new().compile_fail("tests/refusals/*.rs");
}
