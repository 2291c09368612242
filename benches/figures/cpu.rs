//! The CPU: warpfold beside rayon, the standard library, and loops that only read.

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use warpfold::aggregates::{ArgMax, Dot, Histogram, Mean, MinMax, TopK, Variance};
use warpfold::operators::{Matrix2Product, Max, Min, Number, Sum};
use warpfold::{Device, DeviceAggregate, DeviceMonoid, DeviceType, Reduction, Scan, tree};

use super::ceiling::{copy, copy_ahead, read, read_ahead};
use super::operators::MaxByNorm;
use super::{Subject, hexadecimal, row};

pub struct Cpu<'a, W> {
    pub out: &'a mut W,
    /// Bytes of every input.
    pub bytes: usize,
    /// Names of operators or items to measure. Empty: all.
    pub only: &'a [String],
}

impl<W: Write> Cpu<'_, W> {
    pub fn all(&mut self) -> Result<()> {
        self.numbers::<f32>("f32", |i| sign(i) as f32)?;
        self.numbers::<f64>("f64", |i| f64::from(sign(i)))?;
        self.numbers::<i32>("i32", |i| mix(i) as i32)?;
        self.numbers::<u8>("u8", |i| mix(i) as u8)?;
        self.measure::<MaxByNorm>("max-by-norm", "f32x3", |i| [0, 1, 2].map(|l| uniform(3 * i + l)))?;
        self.measure::<Matrix2Product<u32>>("matrix-product", "u32x4", |i| {
            let bits = |l| mix(4 * i + l) as u32;
            [[bits(0) | 1, bits(1) & !1], [bits(2) & !1, bits(3) | 1]]
        })?;
        self.measure::<Matrix2Product<f32>>("matrix-product", "f32x4", |i| {
            // Products of rotations neither grow nor vanish.
            let (sin, cos) = uniform(i).sin_cos();
            [[cos, -sin], [sin, cos]]
        })?;
        self.aggregate("mean", "f32", uniform, Mean::<f32>::new())?;
        self.aggregate("min and max", "f32", uniform, MinMax::<f32>::new())?;
        self.aggregate("argmax", "f32", uniform, ArgMax::<f32>::new())?;
        self.aggregate("variance", "f32", uniform, Variance::<f32>::new())?;
        self.aggregate("histogram of 16", "f32", uniform, Histogram::<f32, 16>::new(-1.0, 1.0))?;
        self.aggregate("top 8", "f32", uniform, TopK::<f32, 8>::new())?;
        self.pairs("dot product", "f32", uniform, Dot::<f32>::new())?;
        self.rows()
    }

    /// Measures an aggregate beside a loop that only reads.
    fn aggregate<A: DeviceAggregate<Input: DeviceType>>(
        &mut self,
        name: &str,
        item: &str,
        fill: fn(u64) -> A::Input,
        aggregate: A,
    ) -> Result<()> {
        if !self.wants(name, item) {
            return Ok(());
        }
        let (bytes, item_bytes) = (self.bytes, size_of::<A::Input>());
        let elements: Vec<A::Input> = (0..(bytes / item_bytes) as u64).into_par_iter().map(fill).collect();
        let subject = Subject { operator: name, item, item_bytes, bytes, offset: 0, result: "-".to_owned() };
        let reduction = Reduction::with(Device::cpu(), aggregate);
        self.in_turn(
            &subject,
            &mut [
                ("warpfold-cpu", "-", &mut || _ = black_box(reduction.run(&elements).is_ok())),
                ("read-cpu", "-", &mut || _ = black_box(read(&elements))),
            ],
        )
    }

    /// Measures sums of rows, columns and segments into given memory.
    fn rows(&mut self) -> Result<()> {
        if !self.wants("rows", "f32") {
            return Ok(());
        }
        let elements: Vec<f32> = (0..(self.bytes / 4) as u64).into_par_iter().map(uniform).collect();
        let sum = Reduction::<Sum<f32>>::new(Device::cpu());
        for columns in [2, 4, 8, 32, 100, 1024, 1 << 20] {
            let matrix = &elements[..elements.len() / columns * columns];
            let rows = matrix.len() / columns;
            let mut places = vec![0.0; rows.max(columns)];
            let offsets: Vec<u32> = (0..=rows as u32).map(|row| row * columns as u32).collect();
            for name in ["rows", "columns", "segments"] {
                let operator = &format!("sum by {name} of {columns}");
                let bytes = size_of_val(matrix);
                let subject = Subject {
                    operator,
                    item: "f32",
                    item_bytes: 4,
                    bytes,
                    offset: 0,
                    result: "-".to_owned(),
                };
                let mut call = || {
                    let reduced = match name {
                        "rows" => sum.rows_into(matrix, columns, &mut places[..rows]),
                        "columns" => sum.columns_into(matrix, columns, &mut places[..columns]),
                        _ => sum.segments_into(matrix, &offsets, &mut places[..rows]),
                    };
                    assert!(black_box(reduced).is_ok());
                };
                self.in_turn(
                    &subject,
                    &mut [
                        ("warpfold-cpu", "-", &mut call),
                        ("read-cpu", "-", &mut || _ = black_box(read(matrix))),
                    ],
                )?;
            }
        }
        Ok(())
    }

    /// Measures an aggregate of two arrays, each half of the bytes.
    fn pairs<T: DeviceType, A: DeviceAggregate<Input = (T, T)>>(
        &mut self,
        name: &str,
        item: &str,
        fill: fn(u64) -> T,
        aggregate: A,
    ) -> Result<()> {
        if !self.wants(name, item) {
            return Ok(());
        }
        let (bytes, item_bytes) = (self.bytes, size_of::<T>());
        let elements: Vec<T> = (0..(bytes / item_bytes) as u64).into_par_iter().map(fill).collect();
        let (left, right) = elements.split_at(elements.len() / 2);
        let subject = Subject { operator: name, item, item_bytes, bytes, offset: 0, result: "-".to_owned() };
        let reduction = Reduction::with(Device::cpu(), aggregate);
        self.in_turn(
            &subject,
            &mut [
                ("warpfold-cpu", "-", &mut || _ = black_box(reduction.run((left, right)).is_ok())),
                ("read-cpu", "-", &mut || _ = black_box(read(&elements))),
            ],
        )
    }

    fn wants(&self, operator: &str, item: &str) -> bool {
        super::operators::is_asked(self.only, operator, item)
    }

    fn numbers<T: Number + std::iter::Sum>(&mut self, item: &str, fill: fn(u64) -> T) -> Result<()>
    where
        Sum<T>: DeviceMonoid<Item = T>,
        Min<T>: DeviceMonoid<Item = T>,
        Max<T>: DeviceMonoid<Item = T>,
    {
        self.measure::<Sum<T>>("sum", item, fill)?;
        if self.wants("sum", item) {
            self.sums(item, fill)?;
        }
        self.measure::<Min<T>>("min", item, fill)?;
        self.measure::<Max<T>>("max", item, fill)
    }

    fn measure<M: DeviceMonoid + Default>(
        &mut self,
        operator: &str,
        item: &str,
        fill: fn(u64) -> M::Item,
    ) -> Result<()> {
        if !self.wants(operator, item) {
            return Ok(());
        }
        let (bytes, item_bytes) = (self.bytes, size_of::<M::Item>());
        let items: Vec<M::Item> = (0..(bytes / item_bytes) as u64).into_par_iter().map(fill).collect();
        let expected = tree::bracket(&M::default(), &items);
        let mut subject =
            Subject { operator, item, item_bytes, bytes, offset: 0, result: hexadecimal(&expected) };

        let reduction = Reduction::<M>::new(Device::cpu());
        let same = |result: &M::Item| M::Item::same_bits(result, &expected);
        ensure!(same(&reduction.run(&items)?), "{operator} of {item}, {bytes} bytes: not the bracket");
        // Calls alternate, because the memory bandwidth of a machine varies by an eighth within
        // seconds.
        self.in_turn(
            &subject,
            &mut [
                ("warpfold-cpu", &hexadecimal(&expected), &mut || _ = black_box(reduction.run(&items))),
                ("read-cpu", "-", &mut || _ = black_box(read(&items))),
                ("read-ahead-cpu", "-", &mut || _ = black_box(read_ahead(&items))),
            ],
        )?;

        let reduce = || items.par_iter().copied().reduce_with(|a, b| M::default().combine(a, b));
        let result = reduce().context("there are items")?;
        // Products of rotations are rounded, and rayon's tree differs at every run.
        ensure!(same(&result) || item == "f32x4", "{operator} of {item}, {bytes} bytes: not rayon's result");
        self.row(&subject, "rayon", reduce)?;

        subject.result = "-".to_owned();
        self.scans::<M>(subject, &items)
    }

    /// Measures the inclusive scan, copies in parts of two sizes, and a copy with prefetch and
    /// non-temporal stores.
    fn scans<M: DeviceMonoid + Default>(&mut self, mut subject: Subject, items: &[M::Item]) -> Result<()> {
        let mut places = items.to_vec();
        for (who, part) in [("copy-cpu", 64 << 10), ("copy-large-cpu", 64 << 20)] {
            self.row(&subject, who, || copy(items, &mut places, part))?;
        }
        places.fill(M::default().identity());
        self.row(&subject, "copy-ahead-cpu", || copy_ahead(items, &mut places))?;
        let is_copy = std::iter::zip(&places, items).all(|(place, item)| M::Item::same_bits(place, item));
        ensure!(is_copy, "{} of {}: not a copy", subject.operator, subject.item);
        let scan = Scan::<M>::new(Device::cpu());
        scan.inclusive_into(items, &mut places)?;
        let (first, expected) = (
            items.len().min(1 << 16),
            tree::inclusive_scan(&M::default(), &items[..items.len().min(1 << 16)]),
        );
        let same = std::iter::zip(&places[..first], &expected)
            .all(|(got, expected)| M::Item::same_bits(got, expected));
        ensure!(same, "{} of {}: not the scan", subject.operator, subject.item);
        subject.result = places.last().map(hexadecimal).unwrap_or_default();
        self.row(&subject, "warpfold-scan-cpu", || scan.inclusive_into(items, &mut places).is_ok())
    }

    /// Measures the sums of rayon and of the standard library. Sums of signs are exact in any
    /// order, and integers wrap in a release build.
    fn sums<T: Number + std::iter::Sum>(&mut self, item: &str, fill: fn(u64) -> T) -> Result<()>
    where
        Sum<T>: DeviceMonoid<Item = T>,
    {
        let (bytes, item_bytes) = (self.bytes, size_of::<T>());
        let items: Vec<T> = (0..(bytes / item_bytes) as u64).into_par_iter().map(fill).collect();
        let expected = Reduction::<Sum<T>>::new(Device::cpu()).run(&items)?;
        let subject =
            Subject { operator: "sum", item, item_bytes, bytes, offset: 0, result: hexadecimal(&expected) };
        let (parallel, serial) =
            (|| items.par_iter().copied().sum::<T>(), || items.iter().copied().sum::<T>());
        let same = T::same_bits(&parallel(), &expected) && T::same_bits(&serial(), &expected);
        ensure!(same, "sum of {item}, {bytes} bytes: not the standard library's result");
        self.row(&subject, "rayon-sum", parallel)?;
        self.row(&subject, "std-sum", serial)
    }

    fn row<R>(&mut self, subject: &Subject, who: &str, mut call: impl FnMut() -> R) -> Result<()> {
        let result = subject.result.clone();
        self.in_turn(subject, &mut [(who, &result, &mut || _ = black_box(call()))])
    }

    /// Writes a row for each call, with its result. The calls alternate until there are samples for
    /// about a second a call. The first round is a warm-up.
    fn in_turn(&mut self, subject: &Subject, calls: &mut [(&str, &str, &mut dyn FnMut())]) -> Result<()> {
        calls.iter_mut().for_each(|(.., call)| call());
        let mut times = vec![Vec::new(); calls.len()];
        let begin = Instant::now();
        let most = Duration::from_secs(calls.len() as u64);
        while times[0].len() < 9 || (times[0].len() < 101 && begin.elapsed() < most) {
            for ((.., call), times) in calls.iter_mut().zip(&mut times) {
                let start = Instant::now();
                call();
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
        for ((who, result, _), times) in calls.iter().zip(times) {
            let subject = Subject { result: (*result).to_owned(), ..*subject };
            row(self.out, who, &subject, "cpu", times)?;
        }
        Ok(())
    }
}

// Numbers from indices, by the formulas of `items.cu`.

fn mix(k: u64) -> u64 {
    let z = (k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn sign(k: u64) -> i32 {
    (mix(k) >> 40) as i32 % 3 - 1
}

fn uniform(k: u64) -> f32 {
    (mix(k) >> 40) as f32 / (1 << 23) as f32 - 1.0
}
