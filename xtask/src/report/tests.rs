use super::*;

fn named(document: &str) -> Result<String> {
    filled(document, |name| Ok(format!("[{name}]\n")))
}

#[test]
fn what_is_between_markers_is_replaced_and_nothing_else() {
    let document = "a\n<!-- report: x -->\nold\n<!-- end -->\nb\n<!-- report: y --><!-- end -->\n";
    let expected =
        "a\n<!-- report: x -->\n\n[x]\n\n<!-- end -->\nb\n<!-- report: y -->\n\n[y]\n\n<!-- end -->\n";
    assert_eq!(named(document).unwrap(), expected);
    assert_eq!(named(expected).unwrap(), expected);
}

#[test]
fn a_marker_without_an_end_is_refused() {
    for document in
        ["<!-- report: x", "<!-- report: x -->", "<!-- report: x --><!-- report: y --><!-- end -->"]
    {
        assert!(named(document).is_err(), "{document}");
    }
}
