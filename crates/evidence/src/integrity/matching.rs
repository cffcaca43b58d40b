//! Which new test is which old one: by name in its file, by name elsewhere, by what it says.

use std::collections::{BTreeMap, BTreeSet};

use super::inventory::{Entry, Inventory};

/// Pairs of indices of old and new entries, and what has no counterpart.
#[derive(Debug, Default)]
pub(super) struct Matching {
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) gone: Vec<usize>,
    pub(super) added: Vec<usize>,
}

pub(super) fn pair_up(inventory: &Inventory) -> Matching {
    let (old, new) = (&inventory.old.entries, &inventory.new.entries);
    let mut pairing = Pairing {
        old,
        new,
        open_old: (0..old.len()).collect(),
        open_new: (0..new.len()).collect(),
        pairs: Vec::new(),
    };
    // What stayed as it was comes first: a new test may have taken over the name of a renamed one.
    let body = |entry: &Entry| Some(entry.block.body.clone()).filter(|body| !body.is_empty());
    pairing.by_key(|entry| Some((entry.file, entry.block.name.clone(), body(entry)?)));
    pairing.by_key(|entry| Some((entry.file, body(entry)?)));
    pairing.by_key(|entry| Some((Some(entry.file), entry.block.name.clone())));
    pairing.by_key(|entry| Some(entry.block.name.clone()));
    // A group was renamed.
    pairing.by_key(|entry| {
        let last = entry.block.name.rsplit([' ', '.']).next()?;
        (last.len() < entry.block.name.len()).then(|| (Some(entry.file), last.to_owned()))
    });
    pairing.by_key(body);
    pairing.by_assertions();
    pairing.by_words();
    let Pairing { pairs, open_old, open_new, .. } = pairing;
    Matching { pairs, gone: open_old.into_iter().collect(), added: open_new.into_iter().collect() }
}

struct Pairing<'a> {
    old: &'a [Entry],
    new: &'a [Entry],
    open_old: BTreeSet<usize>,
    open_new: BTreeSet<usize>,
    pairs: Vec<(usize, usize)>,
}

impl Pairing<'_> {
    fn pair(&mut self, old: usize, new: usize) {
        self.open_old.remove(&old);
        self.open_new.remove(&new);
        self.pairs.push((old, new));
    }

    /// Pairs what has the same key, in order of appearance.
    fn by_key<K: Ord>(&mut self, key: impl Fn(&Entry) -> Option<K>) {
        let mut offers: BTreeMap<(bool, K), Vec<usize>> = BTreeMap::new();
        for index in self.open_new.iter().rev() {
            if let Some(key) = key(&self.new[*index]) {
                offers.entry((self.new[*index].block.is_test, key)).or_default().push(*index);
            }
        }
        for old in self.open_old.clone() {
            let entry = &self.old[old];
            let wanted = key(entry).map(|key| (entry.block.is_test, key));
            let found = wanted.and_then(|wanted| offers.get_mut(&wanted)?.pop());
            if let Some(new) = found {
                self.pair(old, new);
            }
        }
    }

    /// Pairs what shares at least half of the old assertions, the most alike first.
    fn by_assertions(&mut self) {
        let mut where_new: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for index in &self.open_new {
            for assertion in self.new[*index].block.effective() {
                where_new.entry(assertion.text.as_str()).or_default().push(*index);
            }
        }
        let mut likes = Vec::new();
        for old in &self.open_old {
            let block = &self.old[*old].block;
            let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
            for assertion in block.effective() {
                let places = where_new.get(assertion.text.as_str()).into_iter().flatten();
                for new in places.collect::<BTreeSet<_>>() {
                    *shared.entry(*new).or_default() += 1;
                }
            }
            let number = block.effective().count();
            let alike = shared.into_iter().filter(|(new, shared)| {
                *shared * 2 >= number && self.new[*new].block.is_test == block.is_test
            });
            likes.extend(alike.map(|(new, shared)| (shared, *old, new)));
        }
        self.pair_best(likes);
    }

    /// Pairs tests of one file that say nearly the same: renamed with what they expect.
    fn by_words(&mut self) {
        let words = |entry: &Entry| -> BTreeSet<String> {
            entry.block.body.split(' ').map(str::to_owned).collect()
        };
        let tests =
            |open: &BTreeSet<usize>, all: &[Entry]| -> Vec<(usize, usize, BTreeSet<String>)> {
                let tests = open.iter().filter(|index| all[**index].block.is_test);
                tests.map(|index| (*index, all[*index].file, words(&all[*index]))).collect()
            };
        let new = tests(&self.open_new, self.new);
        let mut likes = Vec::new();
        for (old, file, was) in tests(&self.open_old, self.old) {
            for (new, _, is) in new.iter().filter(|(_, other, _)| *other == file) {
                let shared = was.intersection(is).count();
                let all = was.len() + is.len() - shared;
                if shared * 10 >= all * 7 {
                    likes.push((shared * 100 / all.max(1), old, *new));
                }
            }
        }
        self.pair_best(likes);
    }

    /// Pairs the most alike first.
    fn pair_best(&mut self, mut likes: Vec<(usize, usize, usize)>) {
        likes.sort_by_key(|(shared, old, new)| (std::cmp::Reverse(*shared), *old, *new));
        for (_, old, new) in likes {
            if self.open_old.contains(&old) && self.open_new.contains(&new) {
                self.pair(old, new);
            }
        }
    }
}
