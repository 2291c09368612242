use super::*;

#[test]
fn a_record_is_read_back() {
    let architectures = vec![Architecture::new(7, 5), Architecture::new(12, 0)];
    let compiler = Compiler { version: "13.0".to_owned(), architectures };
    let text = encode(&compiler, "1 bytes, 2 ns", "/opt/odd\nname/libnvrtc.so.13");
    assert_eq!(decode(&text), Some((compiler, ("1 bytes, 2 ns", "/opt/odd\nname/libnvrtc.so.13"))));
    assert_eq!(decode("13.0\n75 x\n\n"), None);
    assert_eq!(decode("13.0\n75"), None);
}

#[test]
fn versions_are_numbers() {
    let number = |version: &str| Compiler { version: version.to_owned(), architectures: vec![] }.number();
    assert!(number("12.4") < number("12.10") && number("12.10") < number("13.0"));
    assert_eq!(number("newest"), (0, 0));
}

#[test]
fn a_file_that_was_written_again_is_another() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let before = identity(file.path()).unwrap();
    assert_eq!(identity(file.path()).unwrap(), before);
    fs::write(file.path(), "longer").unwrap();
    assert_ne!(identity(file.path()).unwrap(), before);
    assert_eq!(identity(Path::new("/nowhere/libnvrtc.so")), None);
}
