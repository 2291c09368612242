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
