use super::*;
use crate::cpu::rows::In;

/// Whole lines are stored, at any offset within a line. Nothing else is written.
#[test]
fn lines_are_stored_and_nothing_else() {
    type Output<'a> = super::Output<'a, In<u32, 16>, 0>;
    const WORDS: usize = 256;
    for skipped in [0, 1, 4, 15] {
        for tiles in 0..5 {
            let mut places = vec![MaybeUninit::new(In(0)); 16 + 15 + WORDS * tiles + 16];
            let first = places.as_ptr().align_offset(LINE) + skipped;
            let mut lines = Vec::new();
            let registers = Registers::detected().expect("every processor has what is portable");
            let mut output =
                Output::new(registers, &mut places[first..][..WORDS * tiles], WORDS, true, &mut lines);
            for tile in 0..tiles {
                // SAFETY: all words are set.
                unsafe {
                    output.next(|words| {
                        for (i, word) in words.iter_mut().enumerate() {
                            word.write(In((1 + tile * WORDS + i) as u32));
                        }
                    });
                }
            }
            drop(output);
            for (i, place) in places.iter().enumerate() {
                let word = (i + 1).saturating_sub(first);
                let expected = if word <= WORDS * tiles { word } else { 0 };
                // SAFETY: all places were set.
                assert_eq!(unsafe { place.assume_init() }, In(expected as u32), "place {i}");
            }
        }
    }
}
