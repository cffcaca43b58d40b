//! The target at a remote: pushes with a lease, every refusal by its name, rivals and crashes in between.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tidegate_git::{
    Call, DirtyReason, Done, Ending, Exec, FetchOutcome, GitError, Limits, NetworkFailure, Oid,
    PublishOutcome, PublishRequest, PushOutcome, PushRequest, RefusedBy, RemoteBranch, RemoteTip,
    Repo, Standing, StdExec, UpdateOutcome,
};

use crate::dying_exec::{DyingExec, Moment};
use crate::sandbox::{Sandbox, difference, hook, make_executable, write};

const INTO: &str = "refs/tidegate/remote/origin/main";

/// A repository with a bare remote that has its `main`, and a feature to land.
struct Harbour {
    sandbox: Sandbox,
    depot: PathBuf,
    request: PublishRequest,
}

fn branch() -> RemoteBranch {
    RemoteBranch { remote: "origin".into(), refname: "refs/heads/main".into() }
}

impl Harbour {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let depot = sandbox.root().join("depot.git");
        let path = depot.to_str().unwrap();
        sandbox.git(&["init", "-q", "--bare", "-b", "main", path]);
        sandbox.git(&["remote", "add", "origin", path]);
        sandbox.git(&["push", "-q", "-u", "origin", "main"]);
        let tip = sandbox.branch("feat", "main", &[("new.txt", Some("new\n"))]);
        let update = sandbox.merged(&tip);
        let push = PushRequest {
            branch: branch(),
            old: Some(update.old.clone()),
            new: update.new.clone(),
            into: INTO.into(),
        };
        Self { sandbox, depot, request: PublishRequest { update, push } }
    }

    fn repo(&self) -> Repo {
        self.sandbox.repo()
    }

    fn push(&self) -> PushOutcome {
        self.repo().push_target(&self.request.push).unwrap()
    }

    fn publish(&self) -> PublishOutcome {
        self.repo().publish(&self.request).unwrap()
    }

    fn at_remote(&self) -> String {
        self.sandbox.git_in(&self.depot, &["rev-parse", "refs/heads/main"])
    }

    fn local(&self) -> Oid {
        self.sandbox.oid("refs/heads/main")
    }
}

/// Somebody else's clone pushes a commit on top of what is at the remote.
fn rival(sandbox: &Sandbox, depot: &Path) -> Oid {
    let clone = sandbox.root().join("rival");
    if !clone.exists() {
        sandbox.git(&["clone", "-q", depot.to_str().unwrap(), clone.to_str().unwrap()]);
    }
    sandbox.git_in(&clone, &["pull", "-q", "--ff-only"]);
    write(&clone.join("rival.txt"), "rival\n");
    sandbox.git_in(&clone, &["add", "-A"]);
    sandbox.git_in(&clone, &["commit", "-q", "-m", "rival"]);
    sandbox.git_in(&clone, &["push", "-q"]);
    Oid::new(sandbox.git_in(&clone, &["rev-parse", "HEAD"])).unwrap()
}

fn receive_hook(depot: &Path, name: &str, script: &str) {
    let path = depot.join("hooks").join(name);
    write(&path, format!("#!/bin/sh\n{script}\n"));
    make_executable(&path);
}

#[test]
fn push_moves_the_branch_once_and_leaves_the_users_refs_alone() {
    let harbour = Harbour::new();
    let before = harbour.sandbox.picture();
    assert_eq!(harbour.push(), PushOutcome::Pushed);
    assert_eq!(harbour.at_remote(), harbour.request.push.new.as_str());
    assert_eq!(harbour.push(), PushOutcome::AlreadyThere);
    // As any push of the user's, it moves the remote-tracking branch.
    let changed = difference(&before, &harbour.sandbox.picture());
    let tracking = |path: &PathBuf| path.to_str().unwrap().contains("remotes/origin/main");
    assert!(changed.iter().all(tracking), "{changed:?}");
}

#[test]
fn rival_push_is_rejected_with_its_commit_at_hand_and_never_lost() {
    let harbour = Harbour::new();
    let now = rival(&harbour.sandbox, &harbour.depot);
    assert_eq!(harbour.push(), PushOutcome::Rejected { now: now.clone() });
    assert_eq!(harbour.at_remote(), now.as_str());
    let repo = harbour.repo();
    assert_eq!(repo.resolve(INTO).unwrap(), Some(now.clone()));
    assert_eq!(repo.standing(&harbour.local(), &now).unwrap(), Standing::Behind);
    let new = &harbour.request.push.new;
    assert_eq!(repo.standing(new, &now).unwrap(), Standing::Diverged);
}

/// Lets a rival push between the look at the remote and the push.
struct BeforePush<F>(F);

impl<F: Fn() + Send + Sync> Exec for BeforePush<F> {
    fn exec(&self, call: &Call) -> std::io::Result<Done> {
        if call.argv.iter().any(|argument| argument == "push") {
            (self.0)();
        }
        StdExec.exec(call)
    }
}

#[test]
fn rival_between_look_and_push_is_stopped_by_the_lease() {
    let harbour = Harbour::new();
    let (depot, sandbox) = (harbour.depot.clone(), Arc::new(harbour.sandbox));
    let inner = Arc::clone(&sandbox);
    let exec = BeforePush(move || drop(rival(&inner, &depot)));
    let outcome = sandbox.repo_through(Arc::new(exec)).publish(&harbour.request).unwrap();
    let PublishOutcome::NotPushed(PushOutcome::Rejected { now }) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(sandbox.git_in(&harbour.depot, &["rev-parse", "main"]), now.as_str());
    assert_eq!(sandbox.oid("refs/heads/main"), harbour.request.update.old);
}

/// Kills a push before it does anything, or after it has reached the remote.
struct KilledPush {
    reached: bool,
}

impl Exec for KilledPush {
    fn exec(&self, call: &Call) -> std::io::Result<Done> {
        if !call.argv.iter().any(|argument| argument == "push") {
            return StdExec.exec(call);
        }
        if self.reached {
            StdExec.exec(call)?;
        }
        Ok(Done { ending: Ending::Signalled(9), stdout: Vec::new(), stderr: Vec::new() })
    }
}

#[test]
fn push_that_was_killed_is_known_by_where_the_branch_is() {
    for reached in [true, false] {
        let harbour = Harbour::new();
        let repo = harbour.sandbox.repo_through(Arc::new(KilledPush { reached }));
        let outcome = repo.push_target(&harbour.request.push);
        if reached {
            assert_eq!(outcome.unwrap(), PushOutcome::Pushed);
            assert_eq!(harbour.push(), PushOutcome::AlreadyThere);
        } else {
            let error = outcome.unwrap_err();
            assert!(error.is_retryable(), "{error}");
            assert_eq!(harbour.at_remote(), harbour.request.update.old.as_str());
            assert_eq!(harbour.push(), PushOutcome::Pushed);
        }
    }
}

#[test]
fn rewritten_removed_and_never_pushed_branches_have_diverged() {
    let harbour = Harbour::new();
    let old = harbour.request.push.old.clone();
    let tree = harbour.sandbox.git(&["rev-parse", "main^{tree}"]);
    let other = harbour.sandbox.git(&["commit-tree", "-m", "rewritten", &tree]);
    harbour.sandbox.git(&["push", "-q", "--force", "origin", &format!("{other}:main")]);
    let remote = Oid::new(other);
    assert_eq!(harbour.push(), PushOutcome::Diverged { local: old.clone(), remote });
    harbour.sandbox.git_in(&harbour.depot, &["update-ref", "-d", "refs/heads/main"]);
    assert_eq!(harbour.push(), PushOutcome::Diverged { local: old, remote: None });
    assert_eq!(harbour.repo().remote_tip(&branch()).unwrap(), RemoteTip::Absent);
    let fetched = harbour.repo().fetch_branch(&branch(), INTO).unwrap();
    assert_eq!(fetched, FetchOutcome::Absent);
    let mut first = harbour.request.push.clone();
    first.old = None;
    assert_eq!(harbour.repo().push_target(&first).unwrap(), PushOutcome::Pushed);
}

#[test]
fn hooks_of_both_sides_refuse_with_their_words() {
    let harbour = Harbour::new();
    receive_hook(&harbour.depot, "pre-receive", "echo main is protected >&2; exit 1");
    let PushOutcome::Refused { by, output } = harbour.push() else { panic!() };
    assert_eq!(by, RefusedBy::Remote);
    assert!(output.contains("main is protected"), "{output}");
    hook(&harbour.sandbox, "pre-push", "pwd; echo not today >&2; exit 1");
    let PushOutcome::Refused { by, output } = harbour.push() else { panic!() };
    assert_eq!(by, RefusedBy::LocalHook);
    let here = harbour.sandbox.user.to_str().unwrap();
    assert!(output.contains("not today") && output.contains(here), "{output}");
    assert_eq!(harbour.at_remote(), harbour.request.update.old.as_str());
    assert_eq!(harbour.local(), harbour.request.update.old);
}

#[test]
fn remote_that_is_gone_is_unreachable_and_one_that_wants_a_password_says_so() {
    let harbour = Harbour::new();
    fs::rename(&harbour.depot, harbour.sandbox.root().join("moved.git")).unwrap();
    let outcome = harbour.push();
    let unreachable = matches!(outcome, PushOutcome::Failed(NetworkFailure::Unreachable { .. }));
    assert!(unreachable, "{outcome:?}");
    let outcome = harbour.repo().fetch_branch(&branch(), INTO).unwrap();
    let unreachable = matches!(outcome, FetchOutcome::Failed(NetworkFailure::Unreachable { .. }));
    assert!(unreachable, "{outcome:?}");
    // The words of ssh without a key that the server takes.
    let ssh = harbour.sandbox.root().join("bin/ssh");
    write(
        &ssh,
        "#!/bin/sh\necho \"$@\" >&2\necho 'git@h: Permission denied (publickey).' >&2\nexit 255\n",
    );
    make_executable(&ssh);
    harbour.sandbox.git(&["config", "core.sshCommand", ssh.to_str().unwrap()]);
    harbour.sandbox.git(&["remote", "set-url", "origin", "git@h.invalid:x.git"]);
    let PushOutcome::Failed(NetworkFailure::AuthNeeded { output }) = harbour.push() else {
        panic!()
    };
    assert!(output.contains("BatchMode=yes"), "{output}");
}

#[test]
fn remote_that_never_answers_ends_within_the_limit() {
    let harbour = Harbour::new();
    let ssh = harbour.sandbox.root().join("bin/ssh");
    write(&ssh, "#!/bin/sh\nexec tail -f /dev/null\n");
    make_executable(&ssh);
    harbour.sandbox.git(&["config", "core.sshCommand", ssh.to_str().unwrap()]);
    harbour.sandbox.git(&["remote", "set-url", "origin", "git@h.invalid:x.git"]);
    let limits = Limits { network: Duration::from_millis(300), ..Limits::default() };
    let git = harbour.sandbox.handle(Arc::new(StdExec)).with_limits(limits);
    let repo = Repo::open(&git, &harbour.sandbox.user.join(".git")).unwrap();
    let tip = repo.remote_tip(&branch()).unwrap();
    assert!(matches!(tip, RemoteTip::Unknown(NetworkFailure::Unreachable { .. })), "{tip:?}");
}

#[test]
fn local_conditions_come_first_and_a_target_that_became_dirty_follows_later() {
    let harbour = Harbour::new();
    harbour.sandbox.write("a.txt", "busy");
    let PublishOutcome::LocalDirty(dirty) = harbour.publish() else { panic!() };
    assert_eq!(dirty.why, DirtyReason::TrackedChanges);
    assert_eq!(harbour.at_remote(), harbour.request.update.old.as_str());
    // It becomes dirty after the push.
    harbour.sandbox.git(&["checkout", "-q", "a.txt"]);
    assert_eq!(harbour.push(), PushOutcome::Pushed);
    harbour.sandbox.write("a.txt", "busy");
    let PublishOutcome::Landed { pushed, local } = harbour.publish() else { panic!() };
    assert_eq!(pushed, PushOutcome::AlreadyThere);
    assert!(matches!(local, UpdateOutcome::Dirty(_)), "{local:?}");
    harbour.sandbox.git(&["checkout", "-q", "a.txt"]);
    let PublishOutcome::Landed { local, .. } = harbour.publish() else { panic!() };
    assert_eq!(local, UpdateOutcome::Updated);
    assert_eq!(harbour.local(), harbour.request.update.new);
}

#[test]
fn local_commit_in_between_stops_the_push() {
    let harbour = Harbour::new();
    harbour.sandbox.write("mine.txt", "mine");
    let now = harbour.sandbox.commit_all("mine");
    let expected = PublishOutcome::LocalMoved(UpdateOutcome::Moved { now });
    assert_eq!(harbour.publish(), expected);
    assert_eq!(harbour.at_remote(), harbour.request.update.old.as_str());
}

#[test]
fn publishing_converges_from_every_call_and_loses_no_rival() {
    for (with_rival, moment) in [(false, Moment::BeforeCall), (true, Moment::AfterCall)] {
        for at in 0.. {
            let harbour = Harbour::new();
            let exec = Arc::new(DyingExec::new(at, moment));
            let first = harbour.sandbox.repo_through(exec.clone()).publish(&harbour.request);
            assert_eq!(exec.died(), first.is_err(), "{at}");
            let pushed = harbour.at_remote() == harbour.request.push.new.as_str();
            let now = with_rival.then(|| rival(&harbour.sandbox, &harbour.depot));
            let outcome = harbour.publish();
            match (&outcome, &now) {
                (PublishOutcome::Landed { local, .. }, _) => {
                    assert!(pushed || now.is_none());
                    let done =
                        matches!(local, UpdateOutcome::Updated | UpdateOutcome::AlreadyThere);
                    assert!(done, "{at} {outcome:?}");
                    assert_eq!(harbour.local(), harbour.request.update.new);
                }
                (PublishOutcome::NotPushed(PushOutcome::Rejected { now }), Some(rival)) => {
                    assert!(!pushed && now == rival, "{at}");
                    assert_eq!(harbour.local(), harbour.request.update.old);
                }
                _ => panic!("{at} {outcome:?}"),
            }
            if let Some(now) = now {
                assert_eq!(harbour.at_remote(), now.as_str(), "a rival commit is never lost");
            }
            if !exec.died() {
                break;
            }
        }
    }
}

#[test]
fn upstream_is_the_users_configuration() {
    let harbour = Harbour::new();
    let repo = harbour.repo();
    assert_eq!(repo.upstream("refs/heads/main").unwrap(), Some(branch()));
    assert_eq!(repo.upstream("refs/heads/feat").unwrap(), None);
    harbour.sandbox.git(&["branch", "-q", "--track", "local", "main"]);
    assert_eq!(repo.upstream("refs/heads/local").unwrap(), None);
    let error = repo.fetch_branch(&branch(), "refs/heads/main").unwrap_err();
    assert!(matches!(error, GitError::Refused { .. }), "{error}");
}
