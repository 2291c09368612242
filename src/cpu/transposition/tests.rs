use super::*;
use crate::cpu::rows::{In, Rows};
use crate::cpu::vectors::{self, PORTABLE};

type Transpose<'a, W> = &'a dyn Fn(&[W], &mut [Row<W>]);
type Restore<'a, W> = &'a dyn Fn(&[Row<W>], &mut [MaybeUninit<W>]);

fn is_the_transpose<T, W: Word + PartialEq + std::fmt::Debug>(word: fn(usize) -> W) {
    let words = RUN * size_of::<T>() / size_of::<W>();
    let runs: Vec<W> = (0..W::LANES * words).map(word).collect();
    let check = |transpose: Transpose<W>, restore: Restore<W>| {
        let mut rows = Rows::<W, 128>::new();
        let rows = rows.first(words);
        transpose(&runs, rows);
        let mut restored = Vec::with_capacity(runs.len());
        restore(rows, &mut restored.spare_capacity_mut()[..runs.len()]);
        // SAFETY: all words were written.
        unsafe { restored.set_len(runs.len()) };
        assert_eq!(restored, runs);
        for (i, row) in rows.iter().enumerate() {
            let expected: Vec<W> = (0..W::LANES).map(|lane| runs[lane * words + i]).collect();
            // SAFETY: all words of the row were set.
            let got = unsafe { std::slice::from_raw_parts(row.words(), W::LANES) };
            assert_eq!(got, expected, "word {i} of {words}");
        }
    };
    macro_rules! check {
        ($bytes:expr) => {
            if let Some(registers) = Registers::<{ $bytes }>::detected() {
                check(
                    &|runs, rows| {
                        // SAFETY: the rows are the first ones of `Rows`.
                        unsafe { transpose::<T, W, { $bytes }>(registers, runs, rows) }
                    },
                    &|rows, runs| {
                        // SAFETY: the rows are in `Rows`, and were set by `transpose`.
                        unsafe { restore::<T, W, { $bytes }>(registers, rows, runs) }
                    },
                );
            }
        };
    }
    check!(PORTABLE);
    #[cfg(target_arch = "x86_64")]
    {
        check!(vectors::AVX2);
        check!(vectors::AVX512);
    }
}

fn of_every_size<W: Word + PartialEq + std::fmt::Debug>(word: fn(usize) -> W) {
    is_the_transpose::<W, W>(word);
    is_the_transpose::<[W; 2], W>(word);
    is_the_transpose::<[W; 3], W>(word);
    is_the_transpose::<[W; 4], W>(word);
    is_the_transpose::<[W; 5], W>(word);
    is_the_transpose::<[W; 6], W>(word);
    is_the_transpose::<[u64; 4], W>(word);
}

#[test]
fn a_row_has_one_word_of_every_run() {
    fn byte(index: usize) -> u8 {
        (index as u32).wrapping_mul(0x9e37_79b9).to_be_bytes()[0]
    }
    of_every_size(|i| In::<_, 64>(byte(i)));
    of_every_size(|i| In::<_, 32>(byte(i)));
    of_every_size(|i| In::<_, 32>(i as u16));
    of_every_size(|i| In::<_, 32>(i as u32));
    of_every_size(|i| In::<_, 16>(i as u32));
    of_every_size(|i| In::<_, 16>(i as u64));
}
