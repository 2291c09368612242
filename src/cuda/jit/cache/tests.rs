use super::*;

#[test]
fn an_image_comes_back_in_its_form() {
    for format in [ImageFormat::Cubin, ImageFormat::Ptx] {
        let image = Image { format, bytes: b"the machine code".to_vec() };
        assert_eq!(decode(encode(&image)), Some(image));
    }
    assert_eq!(decode(vec![7, 1]), None);
    assert_eq!(decode(Vec::new()), None);
}

#[test]
fn parts_of_a_key_are_kept_apart() {
    let key = |parts: &[&str]| Key::of(parts.iter().map(|part| part.as_bytes())).to_string();
    assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
    assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
}
