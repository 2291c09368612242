use super::*;

#[test]
fn identifiers_are_valid_in_cpp_and_readable() {
    for (rust, cpp) in [
        ("x", "x"),
        ("new", "new_"),
        ("0", "_0"),
        ("größe", "gru00f6u00dfe"),
        ("__x", "_u_x"),
        ("_X", "u_X"),
        ("linux", "linux_"),
    ] {
        assert_eq!(identifier(rust), cpp);
    }
    assert_eq!(type_identifier("demo::shapes::Point"), "Point");
    assert_eq!(type_identifier("demo::Pair<demo::Point, [f32; 4]>"), "Pair_Point_f32_4");
    assert_eq!(type_identifier("demo::class"), "class_");
}

#[test]
fn a_scope_never_gives_a_name_twice() {
    let mut scope = Scope::default();
    assert_eq!(scope.claim("Point".into()), "Point");
    assert_eq!(scope.claim("Point_2".into()), "Point_2");
    assert_eq!(scope.claim("Point".into()), "Point_3");
}
