//! Which files are tests, snapshots, CI, hooks, locks and configuration of checks, by pattern.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// A pattern that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no pattern of paths: {why}")]
pub struct InvalidConvention {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

/// Patterns by what they mean.
#[derive(Debug, Clone)]
pub struct Conventions {
    tests: GlobSet,
    snapshots: GlobSet,
    ci: GlobSet,
    hooks: GlobSet,
    locks: GlobSet,
    configs: GlobSet,
}

const TESTS: &[&str] = &[
    "**/{test,tests,__tests__,spec,specs,testing}/**",
    "**/src/test/**",
    "**/{test_*,*_test,*_tests,conftest}.py",
    "**/*.{test,spec,cy,e2e}.{js,jsx,ts,tsx,mjs,cjs,mts,cts}",
    "**/*_test.go",
    "**/{*Test,*Tests,*IT,*Spec,Test*}.{java,kt,kts,cs,scala,groovy}",
    "**/*_{spec,test}.rb",
    "**/test_*.rb",
    "**/*.bats",
    "**/{test_*,*_test,test}.{sh,bash}",
    "**/{tests,test,*_test,*_tests}.rs",
];
const SNAPSHOTS: &[&str] = &[
    "**/*.{snap,snapshot,golden,approved}",
    "**/*.{golden,approved,expected}.*",
    "**/{__snapshots__,snapshots,golden,goldens,__image_snapshots__}/**",
    "**/*.{approved,verified}.txt",
];
const CI: &[&str] = &[
    ".github/{workflows,actions}/**",
    ".{gitlab-ci,travis,drone,appveyor,cirrus}.{yml,yaml}",
    "{appveyor,azure-pipelines,bitbucket-pipelines,cloudbuild,.woodpecker}.{yml,yaml}",
    ".{circleci,buildkite,ci,gitlab,woodpecker,teamcity}/**",
    "{azure-pipelines,ci}/**",
    "**/Jenkinsfile*",
];
const HOOKS: &[&str] = &[
    "**/.{husky,githooks,lefthook,git-hooks}/**",
    "**/{.,}lefthook*.{yml,yaml,toml,json}",
    "**/.pre-commit-{config,hooks}.{yml,yaml}",
    "**/{githooks,git-hooks}/**",
    "**/hooks/{pre-commit,pre-push,commit-msg,pre-receive,update,post-merge}",
    "**/{.lintstagedrc*,lint-staged.config.*,.overcommit.yml}",
];
const LOCKS: &[&str] = &[
    "**/{Cargo,poetry,uv,pdm,Pipfile,Gemfile,composer,flake,yarn,bun,Podfile}.lock",
    "**/{package-lock.json,npm-shrinkwrap.json,pnpm-lock.yaml,go.sum,bun.lockb,gradle.lockfile}",
];
const CONFIGS: &[&str] = &[
    "**/{jest,vitest,playwright,cypress,karma,ava,wdio,stryker,eslint,mocha}.{config,conf}.*",
    "**/{jest,vitest}.{setup,workspace}.*",
    "**/.{mocharc,nycrc,c8rc,eslintrc,eslintignore,taprc,swcrc}*",
    "**/{pytest.ini,.pytest.ini,tox.ini,noxfile.py,.coveragerc,.flake8,mypy.ini,.mypy.ini,ruff.toml}",
    "**/{.,}codecov.{yml,yaml}",
    "**/.cargo/config{,.toml}",
    "**/.config/nextest.toml",
    "**/{tarpaulin,.tarpaulin,clippy,.clippy,deny,nextest}.toml",
    "**/.golangci.{yml,yaml,toml}",
    "**/{.rubocop.yml,.rspec,.simplecov,phpunit.xml*,.bats}",
    "**/{junit-platform.properties,testng.xml}",
];

impl Default for Conventions {
    fn default() -> Self {
        let set = |patterns: &[&str]| {
            // The patterns above are constants that a test builds; an empty set is not reached.
            build(patterns).unwrap_or_default()
        };
        Self {
            tests: set(TESTS),
            snapshots: set(SNAPSHOTS),
            ci: set(CI),
            hooks: set(HOOKS),
            locks: set(LOCKS),
            configs: set(CONFIGS),
        }
    }
}

impl Conventions {
    /// The same with the project's own patterns of tests.
    ///
    /// # Errors
    /// A pattern that is none.
    pub fn with_tests(self, patterns: &[String]) -> Result<Self, InvalidConvention> {
        Ok(Self { tests: extended(TESTS, patterns)?, ..self })
    }

    /// The same with the project's own patterns of snapshots.
    ///
    /// # Errors
    /// A pattern that is none.
    pub fn with_snapshots(self, patterns: &[String]) -> Result<Self, InvalidConvention> {
        Ok(Self { snapshots: extended(SNAPSHOTS, patterns)?, ..self })
    }

    /// The same with the project's own patterns of CI files.
    ///
    /// # Errors
    /// A pattern that is none.
    pub fn with_ci(self, patterns: &[String]) -> Result<Self, InvalidConvention> {
        Ok(Self { ci: extended(CI, patterns)?, ..self })
    }

    /// The same with the project's own patterns of configuration of checks.
    ///
    /// # Errors
    /// A pattern that is none.
    pub fn with_configs(self, patterns: &[String]) -> Result<Self, InvalidConvention> {
        Ok(Self { configs: extended(CONFIGS, patterns)?, ..self })
    }

    /// Whether a file belongs to the tests.
    pub fn is_test(&self, path: &str) -> bool {
        self.tests.is_match(path)
    }

    /// Whether a file is a recorded expectation.
    pub fn is_snapshot(&self, path: &str) -> bool {
        self.snapshots.is_match(path)
    }

    pub(super) fn is_ci(&self, path: &str) -> bool {
        self.ci.is_match(path)
    }

    pub(super) fn is_hook(&self, path: &str) -> bool {
        self.hooks.is_match(path)
    }

    pub(super) fn is_lock(&self, path: &str) -> bool {
        self.locks.is_match(path)
    }

    pub(super) fn is_config(&self, path: &str) -> bool {
        self.configs.is_match(path)
    }
}

fn extended(base: &[&str], more: &[String]) -> Result<GlobSet, InvalidConvention> {
    let all: Vec<&str> = base.iter().copied().chain(more.iter().map(String::as_str)).collect();
    build(&all)
}

/// A set of patterns in which `*` does not cross a `/`.
pub(super) fn build(patterns: &[&str]) -> Result<GlobSet, InvalidConvention> {
    let mut set = GlobSetBuilder::new();
    let invalid = |pattern: &str, error: &globset::Error| InvalidConvention {
        pattern: pattern.to_owned(),
        why: error.kind().to_string(),
    };
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).empty_alternates(true).build();
        set.add(glob.map_err(|error| invalid(pattern, &error))?);
    }
    set.build().map_err(|error| invalid(&patterns.join(" "), &error))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::{CI, CONFIGS, Conventions, HOOKS, LOCKS, SNAPSHOTS, TESTS, build};

    #[test]
    fn every_default_pattern_is_one() {
        for patterns in [TESTS, SNAPSHOTS, CI, HOOKS, LOCKS, CONFIGS] {
            assert_eq!(build(patterns).unwrap().len(), patterns.len());
        }
    }

    #[test]
    fn files_are_told_apart_by_their_paths() {
        let conventions = Conventions::default();
        let tests = [
            "tests/a.rs",
            "crates/x/src/tests.rs",
            "pkg/test_a.py",
            "a_test.go",
            "ui/a.test.tsx",
            "src/test/java/A.java",
            "AppTest.kt",
            "spec/a_spec.rb",
            "t/a.bats",
            "conftest.py",
        ];
        for path in tests {
            assert!(conventions.is_test(path), "{path}");
        }
        for path in ["src/latest.rs", "src/attest.py", "contest.go", "src/spectrum.ts", "README.md"]
        {
            assert!(!conventions.is_test(path), "{path}");
        }
        assert!(conventions.is_snapshot("ui/__snapshots__/a.test.ts.snap"));
        assert!(conventions.is_ci(".github/workflows/ci.yml") && conventions.is_ci(".ci/run"));
        assert!(
            conventions.is_hook(".husky/pre-commit") && !conventions.is_hook("src/hooks/use.ts")
        );
        assert!(conventions.is_config("web/vitest.config.ts"));
        assert!(conventions.is_lock("Cargo.lock") && !conventions.is_lock("src/lock.rs"));
    }

    #[test]
    fn own_patterns_come_on_top() {
        let own = Conventions::default().with_tests(&["checks/**".to_owned()]).unwrap();
        assert!(own.is_test("checks/a/b.py") && own.is_test("tests/a.py"));
        assert!(Conventions::default().with_ci(&["{".to_owned()]).is_err());
    }
}
