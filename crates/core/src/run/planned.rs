//! What a planner says before anything is changed, and whether two such plans meet.

use crate::ids::GateName;

/// What a planner says that is to change, before anything is changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlannedChange {
    /// In a few sentences.
    pub summary: String,
    /// Paths that may change, as globs. Empty: not said.
    pub allowed: Vec<String>,
    /// Paths that may not, as globs.
    pub forbidden: Vec<String>,
    /// Files to create.
    pub create: Vec<String>,
    /// Files to modify.
    pub modify: Vec<String>,
    /// Files to delete.
    pub delete: Vec<String>,
    /// Names of contracts that others rely on and that change.
    pub contracts: Vec<String>,
    /// What must hold afterwards, a sentence each.
    pub criteria: Vec<String>,
    /// Gates that it must pass beside those of the plan.
    pub gates: Vec<GateName>,
}

impl PlannedChange {
    /// Its paths that meet one of `other`'s: the same file, or one area within another.
    pub fn meets(&self, other: &Self) -> Vec<String> {
        let own = self.paths().filter(|path| other.paths().any(|other| meet(path, other)));
        let contracts = self.contracts.iter().filter(|name| other.contracts.contains(name));
        own.map(str::to_owned).chain(contracts.map(|name| format!("contract {name}"))).collect()
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        let files = self.create.iter().chain(&self.modify).chain(&self.delete);
        // Who names its files is held to them; else its areas count.
        let named = files.clone().next().is_some();
        files.chain(self.allowed.iter().filter(move |_| !named)).map(String::as_str)
    }
}

/// Whether two paths or globs may name one file: their parts before a wildcard agree.
fn meet(one: &str, other: &str) -> bool {
    let fixed = |glob: &str| -> (String, bool) {
        match glob.find(['*', '?', '[', '{']) {
            Some(at) => (glob[..at].to_owned(), true),
            None => (glob.to_owned(), glob.ends_with('/')),
        }
    };
    let ((one, one_open), (other, other_open)) = (fixed(one), fixed(other));
    match (one_open, other_open) {
        (false, false) => one == other,
        (true, false) => other.starts_with(&one),
        (false, true) => one.starts_with(&other),
        (true, true) => one.starts_with(&other) || other.starts_with(&one),
    }
}
