use super::*;

#[test]
fn parts_are_numbers_from_one() {
    assert_eq!("2/3".parse::<Shard>().unwrap(), Shard { number: 2, of: 3 });
    assert!(["0/3", "4/3", "2", "a/b", "/", "1/0"].iter().all(|text| text.parse::<Shard>().is_err()));
}

#[test]
fn a_record_has_each_line_once() {
    let mut record = Record { seconds: 60, ..Record::default() };
    record.add("00ff\nalways 0002\nfinder 1 2 a: b\n");
    record.add("00ff\n0001\n");
    let tree = Tree { hash: "abc".to_owned(), commit: "1234567".to_owned() };
    assert_eq!(record.passed(&tree), "commit 1234567\nalways 0002\nfinder 1 2 a: b\n0001\n00ff\n");
    assert_eq!(record.row(&tree, "2026-11-28"), "2026-11-28,abc,1234567,60,2,1\n");
}
