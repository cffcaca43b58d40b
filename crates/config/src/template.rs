//! The files that `init` writes: a commented `tidegate.toml` and a first plan.

use crate::node::toml_string;

/// What was seen in a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Its default branch; `main` when unknown.
    pub default_branch: Option<String>,
    /// How its tests run.
    pub test: Option<TestCommand>,
}

/// A way of running tests, told from a file in the repository's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestCommand {
    /// `Cargo.toml`.
    Cargo,
    /// `package.json`.
    Npm,
    /// `pyproject.toml`, `pytest.ini` or `setup.py`.
    Pytest,
    /// `go.mod`.
    Go,
    /// `Makefile`.
    Make,
}

impl TestCommand {
    /// Tells the command from the names in a repository's root; the first that is there counts.
    pub fn detect<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<Self> {
        let names: Vec<&str> = names.into_iter().collect();
        let has = |name: &str| names.contains(&name);
        if has("Cargo.toml") {
            Some(Self::Cargo)
        } else if has("go.mod") {
            Some(Self::Go)
        } else if has("package.json") {
            Some(Self::Npm)
        } else if has("pyproject.toml") || has("pytest.ini") || has("setup.py") {
            Some(Self::Pytest)
        } else if has("Makefile") || has("makefile") || has("GNUmakefile") {
            Some(Self::Make)
        } else {
            None
        }
    }

    /// The argv.
    pub fn argv(self) -> &'static [&'static str] {
        match self {
            Self::Cargo => &["cargo", "test"],
            Self::Npm => &["npm", "test"],
            Self::Pytest => &["python3", "-m", "pytest"],
            Self::Go => &["go", "test", "./..."],
            Self::Make => &["make", "test"],
        }
    }

    /// Folders worth keeping between two runs of the gate.
    fn cache(self) -> Option<&'static str> {
        match self {
            Self::Cargo => Some("target"),
            Self::Npm => Some("node_modules"),
            Self::Pytest | Self::Go | Self::Make => None,
        }
    }
}

/// The text of a first `tidegate.toml`.
pub fn config_template(facts: &Facts) -> String {
    let target = facts.default_branch.as_deref().unwrap_or("main");
    let gate = match facts.test {
        Some(test) => {
            let words: Vec<String> = test.argv().iter().map(|word| toml_string(word)).collect();
            let cache = test.cache().map_or_else(String::new, |folder| {
                format!(
                    "cache = [{}]        # kept from one run of the gate to the next\n",
                    toml_string(folder)
                )
            });
            format!("[gate.test]\nargv = [{}]\n{cache}", words.join(", "))
        }
        None => {
            "# No test command was found: put the one of this project in the place of `true`.\n\
                 [gate.test]\nrun = \"true\"\n"
                .to_owned()
        }
    };
    format!(
        "\
# How Tidegate works on this repository. `tidegate config show --origin` says what holds and why.

# The branch that finished features land on.
target = {target}

# The coding agent, by a built-in provider: `tidegate providers` lists them. It works in a worktree of its own
# without asking for permissions, as all of them do; `tidegate config show` tells its whole command. Any other
# command is an agent, too: argv = [\"./agent.sh\"] with prompt = \"stdin\", \"argv\" (where argv has {{prompt}})
# or \"file\" (where argv has {{prompt_file}}).
[agent.claude]
provider = \"claude\"
timeout = \"2h\"

# Who builds a feature.
[role.builder]
agent = \"claude\"

# Checks that Tidegate runs on a clean checkout of the exact commit. `argv` runs without a shell;
# `run = \"...\"` is a text for bash.
{gate}
# Who lets a feature land: \"auto\" (its gates) or \"person\".
[review]
policy = \"auto\"

# How it lands: \"merge\" or \"squash\". The merge gates run on the merged tree.
[landing]
strategy = \"merge\"
merge_gates = [\"test\"]

# [limits]
# active_features = 5       # of one run, at once
# max_iterations = 6        # of a feature, until its gates pass
# max_attempts = 3          # of an agent that crashes
# stall_after = \"10m\"       # without output or work: it is said, nothing is ended

# [retry]
# backoff = \"2s\"            # before the second retry; it doubles from one to the next
# max_backoff = \"5m\"

# [worktree]
# setup = [\"npm\", \"ci\"]   # in every new worktree, before an agent comes into it
# ports = 1                 # $TIDEGATE_PORT, for each feature another one

# [env]
# pass = [\"ANTHROPIC_API_KEY\"]   # variables of yours that agents and gates get
",
        target = toml_string(target),
    )
}

/// The text of a first plan in TOML.
pub fn plan_template() -> String {
    "\
# A plan: waves of features. `tidegate plan check FILE` finds mistakes, `tidegate submit FILE` runs it.
title = \"First plan\"

[[wave]]
name = \"foundations\"

  [[wave.feature]]
  id = \"hello\"
  prompt = \"\"\"
Say in README.md what this project is for, in three sentences.
\"\"\"
  paths = [\"README.md\"]
  gates = [\"test\"]

# The next wave starts when every feature of this one has landed.
# [[wave]]
# name = \"surface\"
#
#   [[wave.feature]]
#   id = \"next\"
#   spec = \"specs/next.md\"     # a file instead of a prompt
#   needs = [\"hello\"]
#   gates = [\"test\"]
"
    .to_owned()
}
