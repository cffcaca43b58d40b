//! What lcov 2 added to the format: versions, functions by index, ends of functions, branches by
//! text or of exceptions, conditions.

use std::collections::BTreeMap;

use crate::error::Problem;

use super::file::{BranchId, FileCoverage, add};

/// Records that carry nothing that is counted here: versions and conditions (MC/DC).
pub(super) fn is_passed_over(content: &str) -> bool {
    ["VER:", "MCDC:", "MCF:", "MCH:"].iter().any(|kind| content.starts_with(kind))
}

/// An entry that only lcov 2 writes.
pub(super) enum Entry {
    /// `FNL:index,start[,end]`
    Function,
    /// `FNA:index,hits,name`
    Alias { index: u32, count: u64, name: String },
    /// `BRDA:line,[e]block,branch,taken` where block or branch is no number.
    Branch(BranchId, u64),
}

/// Reads an entry that the format did not have before.
pub(super) fn entry(content: &str) -> Result<Option<Entry>, Problem> {
    if let Some(body) = content.strip_prefix("FNL:") {
        number(body.split(',').next().unwrap_or_default(), content)?;
        return Ok(Some(Entry::Function));
    }
    if let Some(body) = content.strip_prefix("FNA:") {
        let mut fields = body.splitn(3, ',');
        let (index, count) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
        let name = fields.next().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| malformed(content, "no name"))?.to_owned();
        let count = count.parse().map_err(|_| malformed(content, "hits is no number"))?;
        return Ok(Some(Entry::Alias { index: number(index, content)?, count, name }));
    }
    content.strip_prefix("BRDA:").map_or(Ok(None), |body| branch(body, content))
}

fn branch(body: &str, content: &str) -> Result<Option<Entry>, Problem> {
    // The branch may be an expression with commas, so the fields are taken from both ends.
    let (line, rest) = body.split_once(',').ok_or_else(|| malformed(content, "no block"))?;
    let (block, rest) = rest.split_once(',').ok_or_else(|| malformed(content, "no branch"))?;
    let (branch, taken) = rest.rsplit_once(',').ok_or_else(|| malformed(content, "no count"))?;
    if block.parse::<u32>().is_ok() && branch.parse::<u32>().is_ok() {
        return Ok(None);
    }
    let plain = block.strip_prefix('e').unwrap_or(block);
    number(plain, content)?;
    if branch.is_empty() {
        return Err(malformed(content, "no branch"));
    }
    let count = match taken {
        "-" => 0,
        taken => taken.parse().map_err(|_| malformed(content, "taken is no number"))?,
    };
    let (block, branch) = (block.to_owned(), branch.to_owned());
    let id = BranchId { line: number(line, content)?, block, branch };
    Ok(Some(Entry::Branch(id, count)))
}

/// Names of functions by index: aliases of one function are one function.
#[derive(Default)]
pub(super) struct Names(BTreeMap<u32, String>);

impl Names {
    pub(super) fn take(&mut self, entry: Entry, file: &mut FileCoverage) {
        match entry {
            // Counted by its alias, which every function has.
            Entry::Function => {}
            Entry::Alias { index, count, name } => {
                let name = self.0.entry(index).or_insert(name).clone();
                add(file.functions.entry(name).or_default(), count);
            }
            Entry::Branch(id, count) => add(file.branches.entry(id).or_default(), count),
        }
    }
}

/// `FN:start,end,name` of lcov 2: the name alone.
pub(super) fn without_end_line(name: &str) -> String {
    match name.split_once(',') {
        Some((end, rest)) if !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit()) => {
            rest.to_owned()
        }
        _ => name.to_owned(),
    }
}

fn number(text: &str, content: &str) -> Result<u32, Problem> {
    text.parse().map_err(|_| malformed(content, "a field is no number"))
}

fn malformed(content: &str, why: &str) -> Problem {
    let excerpt: String = content.chars().take(60).collect();
    Problem::Malformed(format!("`{excerpt}`: {why}"))
}
