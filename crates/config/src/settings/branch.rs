//! Names of branches, by the rules that git has for refs.

/// The full ref of a branch that is given as `main` or `refs/heads/main`.
///
/// # Errors
/// What git would not accept about it.
pub fn branch_ref(text: &str) -> Result<String, &'static str> {
    let name = text.strip_prefix("refs/heads/").unwrap_or(text);
    if name.is_empty() {
        return Err("a branch has a name");
    }
    if name.len() > 200 {
        return Err("a branch name has at most 200 bytes");
    }
    if name.starts_with("refs/") {
        return Err("a target is a branch, `NAME` or `refs/heads/NAME`");
    }
    if name == "HEAD" || name == "@" {
        return Err("a target is the name of a branch");
    }
    let bad =
        |c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    if name.chars().any(bad) {
        return Err("a branch name has no blanks, control characters or any of ~^:?*[\\");
    }
    if name.contains("..") || name.contains("@{") || name.contains("//") {
        return Err("a branch name has no `..`, `@{` or `//`");
    }
    let part_bad = |part: &str| {
        part.is_empty()
            || part.starts_with(['.', '-'])
            || part.ends_with('.')
            || part.to_ascii_lowercase().ends_with(".lock")
    };
    if name.split('/').any(part_bad) {
        return Err(
            "a part of a branch name does not start with `.` or `-` or end in `.` or `.lock`",
        );
    }
    Ok(format!("refs/heads/{name}"))
}

#[cfg(test)]
mod tests {
    use super::branch_ref;

    #[test]
    fn branch_in_either_form_gives_the_full_ref() {
        assert_eq!(branch_ref("main").as_deref(), Ok("refs/heads/main"));
        assert_eq!(branch_ref("refs/heads/a/b").as_deref(), Ok("refs/heads/a/b"));
    }

    #[test]
    fn branch_that_git_refuses_is_refused() {
        let long = "x".repeat(201);
        for text in [
            "",
            "refs/tags/x",
            "a b",
            "a..b",
            "-a",
            "a/.b",
            "a.lock",
            "a//b",
            "/a",
            "a/",
            "HEAD",
            "a\u{7}",
            "a@{1}",
            "a:b",
            "@",
            &long,
        ] {
            assert!(branch_ref(text).is_err(), "{text:?}");
        }
    }
}
