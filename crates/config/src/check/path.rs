//! Paths that a user writes: relative to the repository's root, and never out of it.
//!
//! It must not know the file system.

/// Longest accepted path, in bytes.
const PATH_BYTES_MAX: usize = 1_024;

/// Brings a path relative to the root into its shortest form; empty for the root itself.
///
/// # Errors
/// What is wrong with it, to be said after the path.
pub(crate) fn inner_path(text: &str) -> Result<String, &'static str> {
    joined("", text)
}

/// The path of a spec file: from the repository's root, or from the plan's own folder where it
/// starts with `./` or `../`.
///
/// # Errors
/// What is wrong with it, to be said after the path.
pub(crate) fn spec_path(plan: &str, text: &str) -> Result<String, &'static str> {
    let from_plan = text.starts_with("./") || text.starts_with("../");
    if from_plan && plan.starts_with('/') {
        return Err("counts from the plan's folder, which is outside the repository");
    }
    let folder = plan.rsplit_once('/').filter(|_| from_plan).map_or("", |(folder, _)| folder);
    let path = joined(folder, text)?;
    if path.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
        return Err("lies below `.git`: that is git's own, and in no commit");
    }
    Ok(path)
}

fn joined(folder: &str, text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() {
        return Err("is empty");
    }
    if text.len() > PATH_BYTES_MAX {
        return Err("is longer than 1024 bytes");
    }
    if text.chars().any(char::is_control) {
        return Err("has a control character");
    }
    if text.starts_with(['/', '~']) {
        return Err("is absolute; paths count from the root of the repository");
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(text.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err("leads out of the repository");
                }
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{inner_path, spec_path};

    #[test]
    fn path_inside_is_brought_into_its_shortest_form() {
        assert_eq!(inner_path("a/./b//c/../d").as_deref(), Ok("a/b/d"));
        assert_eq!(spec_path("plans/x.toml", "specs/a.md").as_deref(), Ok("specs/a.md"));
        assert_eq!(spec_path("plans/x.toml", "./a.md").as_deref(), Ok("plans/a.md"));
        assert_eq!(spec_path("plans/x.toml", "../a.md").as_deref(), Ok("a.md"));
    }

    #[test]
    fn path_that_leads_out_is_refused() {
        for text in ["", " ", "/etc/passwd", "~/x", "..", "a/../../b", "a\u{1}b", "a\nb"] {
            assert!(inner_path(text).is_err(), "{text:?}");
        }
        assert!(spec_path("plans/x.toml", "../../a.md").is_err());
        assert!(spec_path("/tmp/x.toml", "./a.md").is_err());
    }

    #[test]
    fn spec_below_gits_own_folder_is_refused() {
        for text in [".git/config", "./.git/a.md", "a/.GIT/b", ".git", "x/../.git/HEAD"] {
            assert!(spec_path("x.toml", text).is_err_and(|why| why.contains(".git")), "{text:?}");
        }
        for text in [".github/a.md", "git/a.md", ".gitignore"] {
            assert_eq!(spec_path("x.toml", text).as_deref(), Ok(text));
        }
    }
}
