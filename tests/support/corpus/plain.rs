//! One operator for each construct of the translated subset.

use std::cmp::Ordering;

use num_traits::AsPrimitive;
use num_traits::Zero;
use warpfold::{Monoid, math, monoid};

use super::helpers::*;
use super::{Edge, Visitor};

type Word = u64;
type Long = i64;
type Real = f32;

corpus! { plain:
    add_i32: i32 = |a, b| { a + b }
    subtract_i32: i32 = |a, b| { a - b }
    multiply_i32: i32 = |a, b| { a * b }
    arithmetic_i8: [i8; 4] = |a, b| { [a[0] + b[0], a[1] - b[1], a[2] * b[2], -a[3]] }
    arithmetic_u8: [u8; 4] = |a, b| { [a[0] + b[0], a[1] - b[1], a[2] * b[2], !a[3]] }
    arithmetic_i16: [i16; 4] = |a, b| { [a[0] + b[0], a[1] - b[1], a[2] * b[2], -b[3] + !a[3]] }
    arithmetic_u16: [u16; 4] = |a, b| { [a[0] + b[0] * a[1], a[1] - b[1], a[2] * b[2] * b[2], !a[3] / 3] }
    arithmetic_u32: [u32; 4] = |a, b| { [a[0] + b[0] * 3, a[1] - b[1] - 1, a[2] * b[2], !a[3] % 1000] }
    arithmetic_i64: [i64; 4] = |a, b| { [a[0] + b[0], a[1] - b[1], a[2] * b[2], -a[3]] }
    arithmetic_u64: [u64; 4] = |a, b| { [a[0] + b[0], a[1] - (b[1] - a[2]), a[2] * b[2], !a[3]] }
    arithmetic_usize: [usize; 2] = |a, b| { [a[0] + b[0] * 5, a[1] - b[1]] }
    arithmetic_f32: [f32; 5] = |a, b| {
        [a[0] + b[0], a[1] - b[1], a[2] * b[2] + a[3], a[3] / b[3], -a[4] - -b[4]]
    }
    arithmetic_f64: [f64; 5] = |a, b| {
        [a[0] + b[0], a[1] - b[1], a[2] * b[2] - a[3] * b[3], a[3] / b[3], -(a[4] * 0.1)]
    }
    elements_of_arrays: [i32; 6] = |a, b| {
        let mut sums = [0; 6];
        let mut k = 0;
        'rows: for x in a {
            for y in [b[0], b[5], x] {
                if y == 3 {
                    continue 'rows;
                }
                sums[k] += x * y;
            }
            if x == 7 {
                break;
            }
            k += 1;
        }
        for [x, y] in [[a[0], b[1]], [a[2], b[3]]] {
            sums[5] += x - y;
        }
        sums
    }
    matched: [u32; 4] = |a, b| {
        let third = matches!((a[2], b[2]), (x, y) if x > y);
        [
            u32::from(matches!(a[0], 1 | 3..=7)),
            u32::from(matches!(b[1], n if n > a[1])),
            if third { a[2] } else { b[2] },
            u32::from(!matches!(a[3] == 1, true)),
        ]
    }
    swapped: [i32; 4] = |a, b| {
        let (mut pair, mut other) = ((a[0], a[1]), (b[0], b[1]));
        debug_assert!(pair.0 == a[0], "the first is {}", pair.0);
        if a[2] < b[2] {
            core::mem::swap(&mut pair, &mut other);
        }
        debug_assert_ne!(a.len(), 5);
        std::mem::swap(&mut pair.0, &mut other.1);
        debug_assert_eq!(a.len(), 4);
        [pair.0, pair.1, other.0, other.1]
    }
    remainder_of_floats: [f32; 2] = |a, b| { [a[0] % b[0], a[1] % 2.5] }
    remainder_of_doubles: [f64; 2] = |a, b| { [a[0] % b[0], a[1] % 0.1] }
    divide_i32: [i32; 4] = |a, b| {
        let by = if b[0] == 0 || (a[0] == i32::MIN && b[0] == -1) { 7 } else { b[0] };
        [a[0] / by, a[0] % by, a[1] / 10, a[1] % -3]
    }
    divide_small: [i8; 4] = |a, b| {
        let by = if b[0] == 0 || b[0] == -1 { 3 } else { b[0] };
        [a[0] / by, a[0] % by, a[1] / 5, a[1] % 5]
    }
    divide_unsigned: [u16; 3] = |a, b| { [a[0] / (b[0] | 1), a[1] % (b[1] | 1), a[2] / 7] }
    divide_long: [u64; 3] = |a, b| { [a[0] / (b[0] | 1), a[1] % (b[1] | 1), a[2] % 1_000_000_007] }
    bits_i8: [i8; 4] = |a, b| { [a[0] & b[0], a[1] | b[1], a[2] ^ b[2], !(a[3] & !b[3])] }
    bits_u32: [u32; 4] = |a, b| { [a[0] & b[0] | a[1] ^ b[1], (a[1] | b[1]) & 0xff00, a[2] ^ 0x5555, !b[3]] }
    bits_u64: u64 = |a, b| { (a & 0xffff_ffff) << 32 | b >> 32 }
    bits_bool: [bool; 6] = |a, b| { [a[0] & b[0], a[1] | b[1], a[2] ^ b[2], !a[3], a[4] == b[4], a[5] < b[5]] }
    logic: [bool; 3] = |a, b| { [a[0] && b[0] || a[1], (a[1] || b[1]) && !a[2], a[0] != (b[1] && a[2])] }
    shifts_u32: [u32; 4] = |a, b| { [a[0] << (b[0] % 32), a[1] >> (b[1] & 31), a[2] << 31, a[3] >> 1] }
    shifts_i64: [i64; 4] = |a, b| { [a[0] << (b[0] & 63), a[1] >> (b[1] & 63), a[2] << 3, a[3] >> 63] }
    shifts_small: [i8; 4] = |a, b| { [a[0] << (b[0] & 7), a[1] >> (b[1] & 7), a[2] << 4u8, a[3] >> 2i64] }
    shifts_beyond: [u8; 4] = |a, b| {
        [a[0].wrapping_shl(b[0] as u32), a[1].wrapping_shr(b[1] as u32), a[2].rotate_left(b[2] as u32), a[3].rotate_right(b[3] as u32)]
    }
    compare_integers: [bool; 6] = |a, b| {
        let (x, y) = (a[0] as i32 - b[1] as i32 + a[2] as i32, b[0] as i32);
        [x < y, x <= y, x > y, x >= y, x == y, x != y]
    }
    compare_floats: [f32; 6] = |a, b| {
        [
            (a[0] < b[0]) as u8 as f32,
            if a[1] <= b[1] { 1.0 } else { 0.0 },
            (a[2] > b[2]) as i32 as f32,
            if a[3] >= b[3] { a[3] } else { b[3] },
            if a[4] == b[4] { 1.0 } else { 2.0 },
            if a[5] != b[5] { 1.0 } else { 2.0 },
        ]
    }
    literals: [f64; 4] = |a, b| { [a[0] + 0.1, b[1] * 1e-310, a[2] - 123456.789e3, b[3] + 1f64] }
    literals_f32: [f32; 4] = |a, b| { [a[0] + 0.1, b[1] * 1e-40, a[2] * 3.402_823_5e38, b[3] + 16_777_217.0] }
    literals_wide: [u64; 3] = |a, b| { [a[0] ^ 0xdead_beef_cafe_f00d, b[1] + 0b1010_1010, a[2] + b'z' as u64 + 0o17] }
    least: [i64; 2] = |a, b| { [a[0] ^ -9223372036854775808, b[1] + i64::MIN + 5] }
    inferred_literals: [u16; 3] = |a, b| {
        let mut s = 0;
        let t = 65_535;
        s += a[0];
        s = s * 2 + b[1] + t;
        let n = 3;
        [s, t, (n + b[2] as i8) as u16]
    }
    // A literal under a cast has the type of the cast: also with an alias, in a block, and after
    // `!` and `-`.
    casts_of_literals: [u64; 6] = |a, b| {
        [
            (a[0] ^ b[0]) & (0xffff_ffff as Word),
            a[1] ^ !0xffff_ffff as u64,
            a[2] ^ ({ 3_000_000_000 }) as u64,
            a[3] + (-(-1) as i64) as u64,
            a[4] & (!(0x1_0000_0000) as Word),
            a[5] + (-3_000_000_000 as Long) as u64,
        ]
    }
    casts_of_real_literals: [f32; 3] = |a, b| {
        [a[0] + (16777217.000000000001 as Real), b[1] * 3 as Real, a[2] - -(0.1) as Real]
    }
    members_with_names_of_types: segment = |a, b| {
        segment { point: b.to, to: a.point, points: [a.points[1], point { x: b.to.x, y: a.to.y }] }
    }
    casts_to_i8: [f32; 2] = |a, b| { [a[0] as i8 as f32, b[1] as u8 as f32] }
    casts_to_i32: [f32; 2] = |a, b| { [a[0] as i32 as f32, b[1] as u32 as f32] }
    casts_to_i64: [f64; 3] = |a, b| { [a[0] as i64 as f64, b[1] as u64 as f64, a[2] as i16 as f64] }
    casts_to_u16: [f64; 3] = |a, b| { [a[0] as u16 as f64, b[1] as usize as f64, a[2] as f32 as f64] }
    casts_of_integers: [i64; 8] = |a, b| {
        [
            a[0] as i8 as i64, a[1] as u8 as i64, a[2] as i16 as i64, a[3] as u32 as i64, b[4] as f32 as i64,
            b[5] as f64 as i64, b[6] as u64 as i64, (b[7] as u64 as f32) as i64,
        ]
    }
    casts_of_bools: [u8; 3] = |a, b| { [(a[0] > b[0]) as u8, (a[1] == 0) as i64 as u8, u8::from(a[2] < b[2])] }
    conversions: [i64; 3] = |a, b| {
        [i64::from(a[0] as i8), i64::from(b[1] as u32), f64::from(a[2] as i32) as i64 + i64::from(b[2] > 3)]
    }
    if_as_value: i32 = |a, b| {
        let sign = if a < 0 { -1 } else if a == 0 { 0 } else { 1 };
        sign * (if b > LIMIT { LIMIT } else { b }) + { let c = a / 2; c - b }
    }
    nested_blocks: i32 = |a, b| {
        let mut x = a;
        let y = x + { x += b; x * 2 } + x;
        let z = { let x = y ^ x; x & 0xff } + x;
        z
    }
    short_circuits: i32 = |a, b| {
        let mut calls = 0;
        let both = a > 0 && { calls += 1; b > 0 } && { calls += 10; a > b };
        let either = a < 0 || { calls += 100; b < 0 } || { calls += 1000; a == b };
        calls + both as i32 * 10_000 + either as i32 * 20_000
    }
    matches_i32: i32 = |a, b| {
        match a % 10 {
            0 => b,
            1 | 2 => b + 1,
            3..=5 if b > 0 => b * 2,
            x if x < 0 => x - b,
            LIMIT => 5,
            n @ 6..8 => n * b,
            _ => match b { i32::MIN..=-1 => -b, 0 => 7, 1.. => a },
        }
    }
    matches_bool: [bool; 2] = |a, b| {
        let first = match a[0] { true => b[0], false => !b[1] };
        let second = match (a[1], b[1]) { (true, false) | (false, true) => true, (x, _) if x => b[0], _ => false };
        [first, second]
    }
    matches_with_statements: u32 = |a, b| {
        let mut rest = a;
        let mut steps = 0;
        loop {
            match rest & 3 {
                0 if rest == 0 => break,
                0 => { rest >>= 2; steps += 1; continue; }
                1 => { rest -= 1; }
                k => { rest = rest.wrapping_sub(k); steps += k; if steps > 50 { return b; } }
            }
            steps += 100;
        }
        steps ^ b
    }
    matches_guard_with_a_block: i32 = |a, b| {
        match b {
            x if { let y = x / 2; y > a } => x,
            0 => 1,
            x if { let mut n = 0; while n < 5 { n += 2; } n > 5 && a > 0 } => x + 1,
            _ => a,
        }
    }
    while_loops: u64 = |a, b| {
        let (mut x, mut count) = (a % 1000, 0u64);
        while { x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 }; x > 1 } && count < 200 {
            count += 1;
        }
        count * 1000 + gcd(a, b)
    }
    for_loops: [i32; 6] = |a, b| {
        let mut out = [0; 6];
        for k in 0..6 {
            out[k] = a[k] - b[5 - k];
        }
        for k in (1..=3).rev() {
            out[k] += k as i32;
            if out[k] % 2 == 0 { continue; }
            out[0] ^= out[k];
        }
        for mut k in 0u8..4 {
            k += 1;
            out[4] = out[4] * 3 + k as i32;
        }
        for _ in 250u8..=255 {
            out[5] += 1;
        }
        for k in (0..b[0] % 5).rev() {
            if k == 1 { break; }
            out[1] -= k;
        }
        out
    }
    loops_with_values: i32 = |a, b| {
        let mut k = 0;
        let found = loop {
            k += 1;
            if k * k > b % 5000 { break k; }
            if k > 100 { break -1; }
        };
        found + a
    }
    labels: u32 = |a, b| {
        let mut total = 0;
        'rows: for row in 0..8u32 {
            let shifted = a >> row;
            for column in 0..8 {
                if (b >> column) & 1 == 0 { continue 'rows; }
                if shifted & 7 == 7 { break 'rows; }
                total += row * 8 + column;
            }
            total += 1000;
        }
        let last = 'out: loop {
            let mut n = total;
            while n > 10 {
                n /= 3;
                if n == 7 { break 'out n; }
            }
            break n + 1;
        };
        total + last
    }
    loops_in_conditions: u32 = |a, b| {
        let mut left = a;
        'out: while left > 0 && {
            let mut n = left ^ b;
            'halves: loop {
                for k in 0..3u32 {
                    if n < k { break 'halves; }
                    if (n >> k) & 1 == 1 { n >>= 1; continue 'halves; }
                }
                n /= 7;
            }
            n < 2
        } {
            left /= 5;
            if left == b { break 'out; }
        }
        left
    }
    early_return: f32 = |a, b| {
        if a.is_nan() { return b; }
        if b.is_nan() { return a; }
        let difference = a - b;
        if difference.abs() < constants::DEEP { return 0.0; }
        difference
    }
    shadowing: i64 = |a, b| {
        let x = a;
        let x = x ^ b;
        let a = x as i32;
        { let x = a; let a = x + 1; let _ = a; }
        let x = x + a as i64;
        x
    }
    deferred: i16 = |a, b| {
        let least;
        let mut most: i16;
        if a < b { least = a; most = b; } else { least = b; most = a; }
        most -= 1;
        helpers::least_of_three(least, most, 77) + most
    }
    tuples: [f64; 2] = |a, b| {
        let (sum, error) = two_sum(a[0], b[0]);
        let t = (a[1], b[1], true);
        let (x, (y, flag)) = (t.0, (t.1, t.2));
        let (mut low, mut high) = (x, y);
        if flag & (low > high) { (low, high) = (high, low); }
        [sum + low, error + high]
    }
    destructuring: [[i32; 2]; 2] = |a, b| {
        let [[p, q], [r, s]] = a;
        let [first, [t, _]] = b;
        [[p + first[0], q * t], [r - first[1], s]]
    }
    structs: Mixed = |a, b| {
        let Mixed { flag, small, pair: Pair(count, mean), .. } = a;
        let mut list = b.list;
        list[2] += small as i16;
        let base = Mixed { float: b.float * 0.5, ..b };
        Mixed { pair: Pair(count + base.pair.0, mean * b.pair.1), flag: flag ^ b.flag, list, ..base }
    }
    nested_places: Mixed = |a, b| {
        let mut c = a;
        c.pair.0 = b.pair.0;
        c.pair.1 += 1.0;
        c.list[(b.long % 3) as usize] -= c.list[0];
        c.list[1] |= 0x10;
        c.small ^= b.small;
        c.flag &= b.flag;
        c.long <<= 3;
        c.float *= -2.0;
        c
    }
    run_time_indices: [u8; 8] = |a, b| {
        let mut sorted = a;
        let mut k = 1;
        while k < 8 {
            let mut j = k;
            while j > 0 && sorted[j - 1] > sorted[j] {
                (sorted[j - 1], sorted[j]) = (sorted[j], sorted[j - 1]);
                j -= 1;
            }
            k += 1;
        }
        sorted[(b[0] % 8) as usize] = TABLE[(b[1] & 3) as usize] as u8;
        sorted
    }
    constants_of_all_kinds: [f32; 6] = |a, b| {
        const HALF: f32 = 0.5;
        use std::f32::consts::PI;
        [
            a[0] + PI, if b[1] > f32::MAX / 2.0 { f32::INFINITY } else { f32::NEG_INFINITY }, a[2] * HALF,
            ORIGIN.1 as f32 + TABLE[1] as f32, std::f32::EPSILON + constants::DEEP, f32::NAN,
        ]
    }
    wrapping_i16: [i16; 8] = |a, b| {
        [
            a[0].wrapping_add(b[0]), a[1].wrapping_sub(b[1]), a[2].wrapping_mul(b[2]), a[3].wrapping_neg(),
            a[4].wrapping_abs(), a[5].wrapping_pow(b[5] as u32 % 9), a[6].wrapping_shl(3), a[7].wrapping_div(b[7] | 1),
        ]
    }
    wrapping_i64: [i64; 4] = |a, b| {
        [a[0].wrapping_rem(b[0] | 1), a[1].wrapping_div(b[1] | 1), a[2].wrapping_pow(5), a[3].wrapping_shr(b[3] as u32)]
    }
    saturating_i8: [i8; 4] = |a, b| {
        [a[0].saturating_add(b[0]), a[1].saturating_sub(b[1]), a[2].saturating_mul(b[2]), a[3].saturating_neg()]
    }
    saturating_i64: [i64; 3] = |a, b| {
        [a[0].saturating_add(b[0]), a[1].saturating_sub(b[1]), a[2].saturating_mul(b[2])]
    }
    saturating_u16: [u16; 3] = |a, b| {
        [a[0].saturating_add(b[0]), a[1].saturating_sub(b[1]), a[2].saturating_mul(b[2])]
    }
    counts_u8: [u8; 7] = |a, b| {
        [
            a[0].count_ones() as u8, a[1].count_zeros() as u8, a[2].leading_zeros() as u8, a[3].trailing_zeros() as u8,
            b[4].leading_ones() as u8, b[5].trailing_ones() as u8, b[6].reverse_bits(),
        ]
    }
    counts_i32: [i32; 6] = |a, b| {
        [
            a[0].count_ones() as i32, a[1].leading_zeros() as i32, a[2].trailing_zeros() as i32, b[3].swap_bytes(),
            b[4].reverse_bits(), b[5].rotate_left(a[5] as u32),
        ]
    }
    counts_u64: [u64; 6] = |a, b| {
        [
            a[0].count_ones() as u64, u64::from(a[1].leading_zeros()), a[2].trailing_zeros() as u64,
            b[3].swap_bytes(), b[4].rotate_right(b[5] as u32), a[5].reverse_bits(),
        ]
    }
    order_of_integers: [i32; 8] = |a, b| {
        [
            a[0].min(b[0]), a[1].max(b[1]), a[2].clamp(-100, 100), a[3].signum(), a[4].wrapping_abs(),
            a[5].abs_diff(b[5]) as i32, a[6].unsigned_abs() as i32, a[7].cmp(&b[7]).is_lt() as i32,
        ]
    }
    euclid: [i32; 4] = |a, b| {
        let by = if b[0] == 0 || b[0] == -1 { 1 } else { b[0] };
        [a[0].rem_euclid(by), a[1].div_euclid(by), a[2].rem_euclid(10), a[3].div_euclid(-7)]
    }
    powers: [u32; 6] = |a, b| {
        [
            (a[0] % 16).pow(b[0] % 8), a[1].is_power_of_two() as u32, (a[2] >> 2).next_power_of_two(),
            (a[3] | 1).ilog2(), a[4].isqrt(), a[5].div_ceil(b[5] | 1),
        ]
    }
    signs: [i16; 4] = |a, b| {
        [a[0].is_negative() as i16, b[1].is_positive() as i16, a[2].signum() * b[2], (a[3] >> 1).abs()]
    }
    rounding_f32: [f32; 8] = |a, b| {
        [
            a[0].floor(), a[1].ceil(), a[2].trunc(), a[3].round(), b[4].round_ties_even(), b[5].fract(), b[6].abs(),
            b[7].signum(),
        ]
    }
    rounding_f64: [f64; 8] = |a, b| {
        [
            a[0].floor(), a[1].ceil(), a[2].trunc(), a[3].round(), b[4].round_ties_even(), b[5].fract(), b[6].abs(),
            b[7].signum(),
        ]
    }
    exact_f32: [f32; 5] = |a, b| {
        [a[0].sqrt(), a[1].mul_add(b[1], a[2]), a[2].recip(), a[3].copysign(b[3]), a[4].rem_euclid(b[4])]
    }
    exact_f64: [f64; 6] = |a, b| {
        [
            a[0].sqrt(), a[1].mul_add(b[1], a[2]), a[2].recip(), a[3].copysign(b[3]), a[4].rem_euclid(b[4]),
            f64::sqrt(b[5]),
        ]
    }
    kinds_of_floats: [f32; 6] = |a, b| {
        [
            a[0].is_nan() as u8 as f32, a[1].is_finite() as u8 as f32, a[2].is_infinite() as u8 as f32,
            a[3].is_sign_negative() as u8 as f32, a[4].is_sign_positive() as u8 as f32, b[5].div_euclid(2.0),
        ]
    }
    bits_of_floats: [f32; 3] = |a, b| {
        // The sign and the payload of a NaN are not specified.
        let kept = if a[0].is_nan() { 0 } else { a[0].to_bits() };
        [f32::from_bits(kept ^ 0x8000_0000), f32::from_bits((b[1].to_bits() >> 9) + 1), f32::from_bits(7)]
    }
    bits_of_doubles: [f64; 2] = |a, b| {
        let kept = if a[0].is_nan() { 1 } else { a[0].to_bits() };
        [f64::from_bits(kept & !(1 << 63)), f64::from_bits(b[1].to_bits() >> 12)]
    }
    total_order: [f32; 4] = |a, b| {
        // The sign of a NaN is not specified.
        let (x, y) = (if a[0].is_nan() { 1.0 } else { a[0] }, if b[0].is_nan() { 2.0 } else { b[0] });
        let order = x.total_cmp(&y);
        let other = match order.then(a[1].is_nan().cmp(&b[1].is_nan())) {
            Ordering::Less => -1.0,
            Ordering::Equal => 0.0,
            Ordering::Greater => 1.0,
        };
        [
            if order.is_le() { x } else { y },
            if order.reverse() == Ordering::Less { x } else { y },
            other,
            order as i8 as f32,
        ]
    }
    ieee_minimum: [f32; 4] = |a, b| {
        [
            math::minimum(a[0], b[0]), math::maximum(a[1], b[1]), math::minimum_number(a[2], b[2]),
            warpfold::math::maximum_number(a[3], b[3]),
        ]
    }
    ieee_minimum_of_doubles: [f64; 4] = |a, b| {
        [
            math::minimum(a[0], b[0]), math::maximum(a[1], b[1]), math::minimum_number(a[2], b[2]),
            math::maximum_number(a[3], b[3]),
        ]
    }
    generic_helpers: [f64; 3] = |a, b| {
        [larger(a[0], b[0]), square(a[1]), larger::<f32>(a[2] as f32, b[2] as f32) as f64]
    }
    const_generic_helpers: [i32; 4] = |a, b| { scaled(a, b[0]) }
    helpers_in_conditions: u64 = |a, b| { if gcd(a | 1, b | 1) == 1 && gcd(a, 6) > 1 { a } else { b } }
    reserved_names: i32 = |class, new| {
        let int = class;
        let r#struct = new;
        let delete = int + r#struct;
        #[allow(non_snake_case)]
        let Arguments = delete;
        let value = Arguments * 2;
        let operand = if value > 0 { value } else { { let auto = new; auto - 1 } };
        operand + { let switch = class; switch }
    }
    literals_under_as: [u64; 3] = |a, b| {
        [a[0] & 0xFFFF_FFFF as u64, b[1] ^ (3_000_000_000) as u64, (a[2] as f32 * (0.1 as f32)) as u64 + (-1 as i64) as u64]
    }
    comparisons_as_methods: [bool; 6] = |a, b| {
        [a[0].eq(&b[0]), a[1].ne(&b[1]), a[2].lt(&b[2]), a[3].le(&b[3]), a[4].gt(&b[4]), a[5].ge(&b[5])]
    }
    orders: [i32; 6] = |a, b| {
        [
            a[0].cmp(&b[0]).is_eq() as i32, a[1].cmp(&b[1]).is_ne() as i32, a[2].cmp(&b[2]).is_gt() as i32,
            a[3].cmp(&b[3]).is_ge() as i32, std::cmp::max(a[4], b[4]), Ord::min(a[5], b[5]) + size_of::<Pair>() as i32,
        ]
    }
    names_of_functions: i32 = |a, b| { combine(a, sqrt(b)) }
    mutable_parameters: i32 = |first, second| {
        let (mut first, second) = (first, second);
        first += second;
        first
    }
    rest_patterns: [i32; 5] = |a, b| {
        let [first, .., last] = a;
        let (one, .., three) = (b[0], b[1], first);
        let [.., fourth, _] = b;
        match (a[0], b[1], last) {
            (0, ..) => [0; 5],
            (.., 1) => [one, three, last, fourth, 1],
            (x, .., y) => [x, y, one ^ three, last, fourth],
        }
    }
    assigned_to_nobody: [f64; 2] = |a, b| {
        let sum;
        let error;
        (sum, _) = two_sum(a[0], b[0]);
        (_, error) = two_sum(a[1], b[1]);
        _ = sum;
        [sum, error]
    }
    lengths: [usize; 3] = |a, b| {
        let mut total = a.len() + TABLE.len();
        for k in 0..a.len() { total += a[k] * b[b.len() - 1 - k]; }
        [total, a[0] % a.len(), b.len()]
    }
    more_saturating: [i8; 4] = |a, b| {
        [
            a[0].saturating_pow(b[0] as u32 % 12), a[1].saturating_div(if b[1] == 0 { -1 } else { b[1] }),
            a[2].saturating_abs(), a[3].wrapping_add_unsigned(b[3] as u8).wrapping_sub_unsigned(7),
        ]
    }
    more_saturating_u32: [u32; 4] = |a, b| {
        [
            a[0].saturating_pow(b[0] % 9), a[1].saturating_div(b[1] | 1), a[2].wrapping_add_signed(b[2] as i32),
            a[3].saturating_add_signed(b[3] as i32),
        ]
    }
    more_saturating_i64: [i64; 2] = |a, b| { [a[0].saturating_pow(b[0] as u32 % 40), a[1].saturating_div(b[1] | 1)] }
    more_euclid: [i16; 4] = |a, b| {
        [
            a[0].wrapping_div_euclid(b[0] | 1), a[1].wrapping_rem_euclid(b[1] | 1), a[2].midpoint(b[2]),
            a[3].unbounded_shl(b[3] as u32 % 40),
        ]
    }
    more_of_unsigned: [u32; 6] = |a, b| {
        [
            a[0].midpoint(b[0]), (a[1] >> 8).next_multiple_of(b[1] % 1000 + 1), a[2].is_multiple_of(b[2]) as u32,
            (a[3] | 1).ilog10(), a[4].unbounded_shr(b[4] % 40), a[5].is_zero() as u32,
        ]
    }
    more_of_i64: [i64; 3] = |a, b| { [a[0].midpoint(b[0]), a[1].unbounded_shr(b[1] as u32 % 80), (a[2] | i64::MAX / 3).abs().max(1).ilog10() as i64] }
    kinds_of_small_floats: [f32; 4] = |a, b| {
        [a[0].is_normal() as u8 as f32, a[1].is_subnormal() as u8 as f32, b[2].is_zero() as u8 as f32, num_traits::One::is_one(&a[3]) as u8 as f32]
    }
    kinds_of_small_doubles: [f64; 2] = |a, b| { [a[0].is_normal() as u8 as f64, b[1].is_subnormal() as u8 as f64] }
    inferred_conversions: [f64; 3] = |a, b| {
        let narrow: u8 = a[0].as_();
        let wide: i64 = narrow.into();
        let half: f32 = b[1].as_();
        [wide as f64, half.into(), (a[2] > b[2]).into()]
    }
    arrays_of_arrays: [[i16; 3]; 2] = |a, b| {
        let mut out = [[0; 3]; 2];
        for row in 0..2 {
            for column in 0..3 {
                out[row][column] = a[row][2 - column] - b[1 - row][column];
                out[1 - row][0] ^= out[row][column];
            }
        }
        let [[_, middle, _], last] = out;
        out[0] = last;
        out[1][1] = middle;
        out
    }
    unit_statements: i32 = |a, b| {
        let mut c = a;
        if b > 0 { c += 1; }
        if b > 1 { c -= 2 } else if b < -1 { c *= 3 } else { }
        match b { 5 => c = 0, _ => {} }
        { c ^= 1; }
        let _ = a + b;
        c
    }
}
