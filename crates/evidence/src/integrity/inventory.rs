//! All tests of a change, before and after.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, ChangedFile, Side};
use super::conventions::Conventions;
use super::language::Language;
use super::outline::{Block, Module, Outline, outline};

/// A test or a helper, with the file that holds it.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Index of the file in the change.
    pub(super) file: usize,
    pub(super) path: String,
    pub(super) block: Block,
}

/// One side of a change.
#[derive(Debug, Default)]
pub(super) struct Half {
    pub(super) entries: Vec<Entry>,
    /// Declared modules, with the index of their file.
    pub(super) modules: Vec<(usize, Module)>,
}

impl Half {
    /// How many assertions each helper has.
    pub(super) fn helpers(&self) -> BTreeMap<&str, usize> {
        let helpers = self.entries.iter().filter(|entry| !entry.block.is_test);
        let mut weights = BTreeMap::new();
        for entry in helpers {
            let weight: &mut usize = weights.entry(entry.block.short_name()).or_default();
            *weight = entry.block.effective().count().max(*weight);
        }
        weights
    }

    /// Helpers that assert nothing.
    pub(super) fn hollow(&self) -> BTreeSet<&str> {
        self.helpers()
            .into_iter()
            .filter(|(_, weight)| *weight == 0)
            .map(|(name, _)| name)
            .collect()
    }
}

/// Both sides.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    pub(super) old: Half,
    pub(super) new: Half,
}

impl Inventory {
    pub(super) fn of(change: &Change, conventions: &Conventions) -> Self {
        let mut inventory = Self::default();
        for (index, file) in change.files.iter().enumerate() {
            add(&mut inventory.old, index, file.old.as_ref(), conventions);
            add(&mut inventory.new, index, file.new.as_ref(), conventions);
        }
        inventory
    }
}

fn add(half: &mut Half, file: usize, side: Option<&Side>, conventions: &Conventions) {
    let Some(side) = side else { return };
    let Some(outline) = outline_of(side, conventions) else { return };
    let Outline { mut blocks, modules } = outline;
    if !conventions.is_test(&side.path) {
        // Code with its tests below it: assertions above them are the product's own.
        let tests_from = modules.iter().filter(|module| module.for_tests).map(|module| module.line);
        let tests_from = tests_from.min().unwrap_or(u32::MAX);
        blocks.retain(|block| block.is_test || block.line > tests_from);
    }
    let entry = |block| Entry { file, path: side.path.clone(), block };
    half.entries.extend(blocks.into_iter().map(entry));
    half.modules.extend(modules.into_iter().map(|module| (file, module)));
}

fn outline_of(side: &Side, conventions: &Conventions) -> Option<Outline> {
    let text = side.content.as_deref()?;
    let language = Language::of(&side.path, text)?;
    let built = |part| matches!(part, "src" | "tests" | "benches" | "examples");
    let runs = match language {
        Language::Rust => side.path.split('/').any(built) || conventions.is_test(&side.path),
        Language::Go => side.path.ends_with("_test.go"),
        Language::Script | Language::Python | Language::Java | Language::Ruby | Language::Shell => {
            conventions.is_test(&side.path)
        }
    };
    runs.then(|| outline(text, language))
}

/// Whether a file was a file of tests and is none any more.
pub(super) fn left_tests(file: &ChangedFile, conventions: &Conventions) -> bool {
    let is_test =
        |side: &Option<Side>| side.as_ref().is_some_and(|side| conventions.is_test(&side.path));
    is_test(&file.old) && !is_test(&file.new)
}
