//! Chooses the checks of a run.
//!
//! - A full run takes all checks.
//! - An everyday run takes the changed checks pairwise. For any two factors, each pair of values
//!   that occurs among the changed checks occurs among the chosen ones. It also takes every
//!   mutation of a changed template, and a sample of the unchanged checks.
//! - A quick run takes few of the changed checks: each value of each factor, up to a limit.

use std::collections::{HashMap, HashSet};

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

use super::checks::{Check, Hash};

/// How many checks a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Quick,
    Everyday,
    Full,
}

/// A part of a full run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1 to `of`.
    pub number: u64,
    pub of: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub extent: Extent,
    /// Number of factors whose combinations of values an everyday run covers. 2 covers pairs. 1
    /// covers single values, and suffices if another command of the run covers pairs.
    pub strength: usize,
    /// Seed of the random choices. `cargo xtask test` derives it from the working tree, so that a
    /// run can be repeated.
    pub seed: u64,
    pub shard: Shard,
}

/// An everyday run takes one of this many unchanged checks of a kind, and at least
/// `FEWEST_UNCHANGED`.
const UNCHANGED_FOR_ONE: usize = 64;
const FEWEST_UNCHANGED: usize = 3;
/// The most checks of a kind in a quick run.
const MAX_QUICK: usize = 8;

impl Request {
    /// The request that `cargo xtask test` makes by environment variables. Without them it is an
    /// everyday run.
    pub fn of_environment() -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let extent = match variable("WARPFOLD_RUN").as_deref() {
            None | Some("everyday") => Extent::Everyday,
            Some("quick") => Extent::Quick,
            Some("full") => Extent::Full,
            Some(other) => panic!("WARPFOLD_RUN is `quick`, `everyday` or `full`, not `{other}`"),
        };
        let seed = match variable("WARPFOLD_SEED") {
            Some(seed) => seed.parse().expect("WARPFOLD_SEED is a number"),
            None => rand::random(),
        };
        let shard = match variable("WARPFOLD_SHARD") {
            None => Shard { number: 1, of: 1 },
            Some(shard) => {
                let numbers = shard.split_once('/').map(|(number, of)| (number.parse(), of.parse()));
                let Some((Ok(number), Ok(of))) = numbers else {
                    panic!("WARPFOLD_SHARD is I/N, not {shard}")
                };
                Shard { number, of }
            }
        };
        let strength = match variable("WARPFOLD_STRENGTH") {
            Some(strength) => strength.parse().expect("WARPFOLD_STRENGTH is a number"),
            None => 2,
        };
        Self { extent, strength, seed, shard }
    }

    /// Whether tests without a hash run. In a full run of several parts, the first part runs them.
    pub fn takes_tests(&self) -> bool {
        self.shard.number == 1
    }
}

/// The chosen checks of a kind, by their places.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub chosen: HashSet<usize>,
    /// Number of unchanged checks among all checks of the kind.
    pub unchanged: usize,
    /// Number of checks that have the hash of another one, which runs for both.
    pub repeated: usize,
}

/// Chooses among the checks of one kind.
pub fn select(checks: &[&Check], passed: &HashSet<Hash>, request: &Request) -> Selection {
    let hashes: Vec<Hash> = checks.iter().map(|check| check.hash()).collect();
    let mut selection = Selection::default();
    let mut seen = HashSet::new();
    let (mut changed, mut unchanged) = (Vec::new(), Vec::new());
    for (place, hash) in hashes.iter().enumerate() {
        selection.unchanged += usize::from(passed.contains(hash));
        match (seen.insert(hash), passed.contains(hash)) {
            (false, _) => selection.repeated += 1,
            (true, false) => changed.push(place),
            (true, true) => unchanged.push(place),
        }
    }
    let mut random = SmallRng::seed_from_u64(request.seed);
    match request.extent {
        Extent::Full => {
            let mine = |place: &usize| hashes[*place].0 % request.shard.of == request.shard.number - 1;
            selection.chosen = changed.into_iter().chain(unchanged).filter(mine).collect();
        }
        Extent::Everyday => {
            let always = |&place: &usize| checks[place].always.is_some_and(|hash| !passed.contains(&hash));
            let (always, some): (Vec<usize>, Vec<usize>) = changed.into_iter().partition(always);
            selection.chosen = covering(checks, some, request.strength, usize::MAX, &mut random);
            selection.chosen.extend(always);
            let sample = unchanged.len().div_ceil(UNCHANGED_FOR_ONE).max(FEWEST_UNCHANGED);
            unchanged.shuffle(&mut random);
            selection.chosen.extend(unchanged.into_iter().take(sample));
        }
        Extent::Quick => selection.chosen = covering(checks, changed, 1, MAX_QUICK, &mut random),
    }
    selection
}

/// Chooses at most `most` of the checks at `places`. Together they have every combination of the
/// values of any `strength` factors that occurs at `places`.
///
/// The choice is greedy: the check that adds most combinations comes first, and ties are broken at
/// random.
fn covering(
    checks: &[&Check],
    mut places: Vec<usize>,
    strength: usize,
    most: usize,
    random: &mut impl Rng,
) -> HashSet<usize> {
    type Value<'a> = (&'static str, &'a str);
    fn values<'a>(factors: &'a [(&'static str, String)]) -> Vec<Value<'a>> {
        factors.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }
    let combinations = |place: usize| -> Vec<(Value<'_>, Value<'_>)> {
        let (factors, single) = (values(&checks[place].factors), values(&checks[place].single));
        let alone = factors.iter().chain(&single).map(|&value| (value, value));
        let pairs = (0..factors.len())
            .flat_map(|first| (first + 1..factors.len()).map(move |second| (first, second)))
            .map(|(first, second)| (factors[first], factors[second]));
        match strength {
            1 => alone.collect(),
            _ => alone.chain(pairs).collect(),
        }
    };
    places.shuffle(random);
    let of_place: Vec<_> = places.iter().map(|&place| combinations(place)).collect();
    // Places by the number of combinations that they may still add. The number is an upper bound,
    // and is made exact when a place comes up.
    let mut covered = HashSet::new();
    let mut by_gain: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut gain = of_place.iter().map(Vec::len).max().unwrap_or(0);
    for (index, combinations) in of_place.iter().enumerate() {
        by_gain.entry(combinations.len()).or_default().push(index);
    }
    let mut chosen = HashSet::new();
    while gain > 0 && chosen.len() < most {
        let Some(index) = by_gain.get_mut(&gain).and_then(Vec::pop) else {
            gain -= 1;
            continue;
        };
        let now = of_place[index].iter().filter(|combination| !covered.contains(*combination)).count();
        if now < gain {
            by_gain.entry(now).or_default().push(index);
            continue;
        }
        covered.extend(of_place[index].iter().copied());
        chosen.insert(places[index]);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Vec<Check> {
        let values = (0..20).flat_map(|a| (0..5).flat_map(move |b| (0..4).map(move |c| (a, b, c))));
        let check = |(a, b, c): (i32, i32, i32)| {
            Check::of("cases").factor("operator", a).factor("kernel", b).factor("architecture", c)
        };
        values.map(check).collect()
    }

    fn request(extent: Extent) -> Request {
        Request { extent, strength: 2, seed: 7, shard: Shard { number: 1, of: 1 } }
    }

    fn select_of(checks: &[Check], passed: &HashSet<Hash>, request: &Request) -> Selection {
        select(&checks.iter().collect::<Vec<_>>(), passed, request)
    }

    #[test]
    fn changed_checks_are_covered_pairwise() {
        let checks = checks();
        let selection = select_of(&checks, &HashSet::new(), &request(Extent::Everyday));
        // 20 operators by 5 kernels is the minimum.
        assert!((100..140).contains(&selection.chosen.len()), "{}", selection.chosen.len());
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            let pairs = |places: &mut dyn Iterator<Item = usize>| -> HashSet<(String, String)> {
                let pair = |place: usize| {
                    let value = |factor: usize| checks[place].factors[factor].1.clone();
                    (value(first), value(second))
                };
                places.map(pair).collect()
            };
            assert_eq!(pairs(&mut selection.chosen.iter().copied()), pairs(&mut (0..checks.len())));
        }
    }

    #[test]
    fn single_factors_are_covered_and_not_paired() {
        let checks: Vec<Check> = (0..10)
            .map(|part| Check::of("cases").factor("operator", part % 2).single("part", part))
            .collect();
        let few = select_of(&checks, &HashSet::new(), &request(Extent::Everyday));
        assert_eq!(few.chosen.len(), 10);
        let checks: Vec<Check> = (0..20)
            .flat_map(|operator| (0..5).map(move |part| (operator, part)))
            .map(|(operator, part)| Check::of("cases").factor("operator", operator).single("part", part))
            .collect();
        let few = select_of(&checks, &HashSet::new(), &request(Extent::Everyday));
        assert_eq!(few.chosen.len(), 20);
        let single = Request { strength: 1, ..request(Extent::Everyday) };
        assert_eq!(select_of(&self::checks(), &HashSet::new(), &single).chosen.len(), 20);
    }

    #[test]
    fn what_always_runs_runs_when_it_changed() {
        let check = |mutation: usize, template: &str, others: &str| {
            let check = Check::of("mutations").factor("template", mutation % 4);
            let check = check.determined_by(mutation.to_string()).determined_by(template);
            check.always_when_changed().determined_by(others)
        };
        let checks = |template: &str, others: &str| -> Vec<Check> {
            let text = |mutation| if mutation % 4 == 0 { template } else { "as before" };
            (0..20).map(|mutation| check(mutation, text(mutation), others)).collect()
        };
        let before = checks("as before", "as before");
        let passed = before.iter().flat_map(|check| [check.hash(), check.always.expect("set")]).collect();
        let chosen = |checks: &[Check]| select_of(checks, &passed, &request(Extent::Everyday)).chosen;
        assert_eq!(chosen(&before).len(), FEWEST_UNCHANGED);
        assert_eq!(chosen(&checks("as before", "changed")).len(), 4);
        let of_template = chosen(&checks("changed", "changed"));
        assert!((0..20).step_by(4).all(|mutation| of_template.contains(&mutation)));
        assert_eq!(of_template.len(), 5 + 3);
    }

    #[test]
    fn a_changed_check_with_a_value_of_its_own_always_runs() {
        let mut checks = checks();
        let passed: HashSet<Hash> = checks.iter().map(Check::hash).collect();
        checks[33] =
            Check::of("cases").factor("operator", "new").factor("kernel", 1).factor("architecture", 1);
        for extent in [Extent::Quick, Extent::Everyday, Extent::Full] {
            assert!(select_of(&checks, &passed, &request(extent)).chosen.contains(&33), "{extent:?}");
        }
    }

    #[test]
    fn unchanged_checks_are_sampled_by_the_seed() {
        let checks = checks();
        let passed = checks.iter().map(Check::hash).collect();
        let everyday = select_of(&checks, &passed, &request(Extent::Everyday));
        assert_eq!((everyday.chosen.len(), everyday.unchanged), (7, 400));
        assert_eq!(everyday, select_of(&checks, &passed, &request(Extent::Everyday)));
        let other = Request { seed: 8, ..request(Extent::Everyday) };
        assert_ne!(everyday, select_of(&checks, &passed, &other));
        assert!(select_of(&checks, &passed, &request(Extent::Quick)).chosen.is_empty());
    }

    #[test]
    fn the_parts_of_a_full_run_are_the_whole() {
        let checks = checks();
        let mut all = Vec::new();
        for number in 1..=3 {
            let part = Request { shard: Shard { number, of: 3 }, ..request(Extent::Full) };
            all.extend(select_of(&checks, &HashSet::new(), &part).chosen);
        }
        all.sort();
        assert_eq!(all, (0..checks.len()).collect::<Vec<_>>());
    }

    #[test]
    fn checks_of_one_hash_run_once() {
        let twice = [checks().swap_remove(0), checks().swap_remove(0)];
        let selection = select_of(&twice, &HashSet::new(), &request(Extent::Full));
        assert_eq!((selection.chosen.len(), selection.repeated), (1, 1));
    }
}
