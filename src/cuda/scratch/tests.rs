use super::ScratchRequest;

#[test]
fn memory_is_a_power_of_two_but_no_more_than_it_may_be() {
    let bytes =
        |needed: usize, most| ScratchRequest { most, ..ScratchRequest::of(needed << 10) }.bytes() >> 10;
    let most = |most: usize| most << 10;
    assert_eq!([bytes(5, most(64)), bytes(50, most(64)), bytes(64, most(64))], [64; 3]);
    assert_eq!(
        [bytes(65, most(200)), bytes(65, most(80)), bytes(90, most(80)), bytes(5, most(8))],
        [128, 80, 90, 8]
    );
    assert_eq!(ScratchRequest::of(65 << 10).bytes(), 128 << 10);
}
