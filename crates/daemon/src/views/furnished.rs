//! What a worktree got beside the files of its commit, in lines for people.

use tidegate_core::workplace::Furnished;
use tidegate_protocol::Fact;

use super::explain::fact;

/// Names that are listed in one line; the log has them all.
const NAMED_MAX: usize = 20;

/// The facts of one worktree.
pub(super) fn furnished_facts(furnished: &Furnished) -> Vec<Fact> {
    let mut found = Vec::new();
    let mut list = |what: &str, names: &[String]| {
        if !names.is_empty() {
            found.push(fact("worktree", format!("{what}: {}", listed(names))));
        }
    };
    let ports: Vec<String> = furnished.ports.iter().map(ToString::to_string).collect();
    list("its ports", &ports);
    list("copied from your checkout", &furnished.included);
    let left_out: Vec<String> =
        furnished.left_out.iter().map(|one| format!("{}: {}", one.path, one.why)).collect();
    list("named by .worktreeinclude and not copied", &left_out);
    list("submodules", &furnished.submodules);
    list("empty submodules, as in your repository", &furnished.empty_submodules);
    list("pointers of Git LFS, without their content", &furnished.pointers);
    if furnished.sparse {
        found.push(fact("worktree", "it is sparse, as your checkout is".to_owned()));
    }
    found
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
