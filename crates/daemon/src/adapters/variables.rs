//! The environment of a job: what was pinned at submit, narrowed and extended by purpose.

use tidegate_core::launcher::LauncherSpec;
use tidegate_core::run::{Feature, Purpose, Run};

/// A variable, as bytes.
pub(super) type Variable = (Vec<u8>, Vec<u8>);

/// Variables of the pinned environment that every agent and gate gets.
const PASSED: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TMPDIR",
    "TZ",
    "SSH_AUTH_SOCK",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "JAVA_HOME",
    "COLORTERM",
];
/// Beginnings of further names that are passed.
const PASSED_PREFIXES: [&str; 2] = ["LC_", "XDG_"];
/// Beginnings of names that no job inherits: they would speak of another run.
const OWN_PREFIX: &str = "TIDEGATE_";

/// Launchers get the whole pinned environment.
pub(super) fn whole(pinned: Vec<Variable>) -> Vec<Variable> {
    pinned.into_iter().filter(|(name, _)| !name.starts_with(OWN_PREFIX.as_bytes())).collect()
}

/// Agents and gates get the allow-list, and what the config names.
pub(super) fn narrowed(pinned: Vec<Variable>, named: &[String]) -> Vec<Variable> {
    let passes = |name: &[u8]| {
        PASSED.iter().any(|passed| passed.as_bytes() == name)
            || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
            || named.iter().any(|named| match named.strip_suffix('*') {
                Some(begin) => name.starts_with(begin.as_bytes()),
                None => named.as_bytes() == name,
            })
    };
    whole(pinned).into_iter().filter(|(name, _)| passes(name)).collect()
}

/// A commit gets what an agent gets, and what tells git whose it is and how it is signed.
pub(super) fn committing(pinned: Vec<Variable>, named: &[String]) -> Vec<Variable> {
    let own = ["GIT_*", "EMAIL", "GNUPGHOME", "GPG_TTY"].map(str::to_owned);
    narrowed(pinned, &[named, &own].concat())
}

/// Sets `name`, replacing what stands there.
pub(super) fn set(variables: &mut Vec<Variable>, name: &str, value: impl Into<Vec<u8>>) {
    variables.retain(|(known, _)| known != name.as_bytes());
    variables.push((name.as_bytes().to_vec(), value.into()));
}

/// What a job with a terminal is told of it: the one that its shim plays, not the one that its user
/// submitted from.
pub(super) fn terminal(variables: &mut Vec<Variable>) {
    let of_another = |name: &[u8]| {
        matches!(name, b"LINES" | b"COLUMNS" | b"TERMCAP" | b"TMUX" | b"TMUX_PANE" | b"STY")
            || [&b"TERM_PROGRAM"[..], b"KITTY_", b"WEZTERM_", b"VTE_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
    };
    variables.retain(|(name, _)| !of_another(name));
    set(variables, "TERM", "xterm-256color");
}

/// What a launcher is told of its selection.
pub(super) fn selection(variables: &mut Vec<Variable>, spec: &LauncherSpec, resume: Option<u32>) {
    let selection = &spec.selection;
    let start = resume.or(selection.start_wave);
    if let Some(wave) = start {
        set(variables, "TIDEGATE_START_WAVE", wave.to_string());
    }
    if let Some(wave) = selection.end_wave {
        set(variables, "TIDEGATE_END_WAVE", wave.to_string());
    }
    if selection.auto_next {
        set(variables, "TIDEGATE_AUTO_NEXT", "1");
    }
    if let Some(wave) = resume {
        set(variables, "TIDEGATE_RESUME", "1");
        set(variables, "TIDEGATE_RESUME_WAVE", wave.to_string());
    }
}

/// What a job of a feature is told of its place.
pub(super) fn place(variables: &mut Vec<Variable>, run: &Run, purpose: &Purpose, attempt: u32) {
    set(variables, "TIDEGATE_RUN_ID", run.id.as_str());
    set(variables, "TIDEGATE_ATTEMPT", attempt.to_string());
    match purpose {
        Purpose::Agent { feature, role, iteration } => {
            set(variables, "TIDEGATE_FEATURE", feature.as_str());
            set(variables, "TIDEGATE_ROLE", role.as_str());
            set(variables, "TIDEGATE_ITERATION", iteration.to_string());
        }
        Purpose::Gate { feature, gate, commit, .. } => {
            set(variables, "TIDEGATE_FEATURE", feature.as_str());
            set(variables, "TIDEGATE_GATE", gate.as_str());
            set(variables, "TIDEGATE_COMMIT", commit.as_str());
        }
        Purpose::Hook { feature, hook, .. } => {
            set(variables, "TIDEGATE_FEATURE", feature.as_str());
            set(variables, "TIDEGATE_HOOK", hook.word());
        }
        Purpose::LauncherAgent { agent, role, .. } => {
            set(variables, "TIDEGATE_AGENT_ID", agent.as_str());
            if let Some(role) = role {
                set(variables, "TIDEGATE_ROLE", role.as_str());
            }
        }
        Purpose::Launcher { .. } => {}
    }
}

/// What a job of a feature is told of its worktree and of the ports that are its own.
pub(super) fn worktree(variables: &mut Vec<Variable>, feature: &Feature) {
    if let Some(path) = &feature.worktree {
        set(variables, "TIDEGATE_WORKTREE", path.as_bytes());
    }
    for (at, port) in feature.furnished.ports.iter().enumerate() {
        if at == 0 {
            set(variables, "TIDEGATE_PORT", port.to_string());
        }
        set(variables, &format!("TIDEGATE_PORT_{}", at + 1), port.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> Variable {
        (name.into(), value.into())
    }

    #[test]
    fn agents_get_the_allow_list_and_what_the_config_names() {
        let pinned = vec![
            pair("PATH", "/bin"),
            pair("LC_ALL", "C"),
            pair("AWS_SECRET_ACCESS_KEY", "x"),
            pair("ANTHROPIC_API_KEY", "k"),
            pair("TIDEGATE_RUN_ID", "another"),
        ];
        let got = narrowed(pinned, &["ANTHROPIC_API_KEY".to_owned()]);
        let names: Vec<_> = got.iter().map(|(n, _)| String::from_utf8_lossy(n)).collect();
        assert_eq!(names, ["PATH", "LC_ALL", "ANTHROPIC_API_KEY"]);
    }

    #[test]
    fn star_at_the_end_of_a_name_takes_all_that_begin_so_but_for_our_own() {
        let pinned =
            vec![pair("NPM_TOKEN", "t"), pair("NPM", "n"), pair("TIDEGATE_TOKEN", "another")];
        let got = narrowed(pinned, &["NPM_*".to_owned(), "TIDEGATE_*".to_owned()]);
        assert_eq!(got, [pair("NPM_TOKEN", "t")]);
    }

    #[test]
    fn setting_a_variable_replaces_it() {
        let mut variables = vec![pair("A", "1"), pair("B", "2")];
        set(&mut variables, "A", "3");
        assert_eq!(variables, vec![pair("B", "2"), pair("A", "3")]);
    }
}
