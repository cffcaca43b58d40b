//! Where the target is at a remote: asking, and fetching it into a ref of ours. It must not know landings.

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::network::{NetworkFailure, network_failure, unreachable_in_time};
use crate::repo::Repo;

/// A branch at a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteBranch {
    /// Name or address of the remote.
    pub remote: String,
    /// Full name of the branch over there, `refs/heads/...`.
    pub refname: String,
}

/// Where a branch is at its remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteTip {
    /// At this commit, which need not be here.
    At(Oid),
    /// There is no such branch.
    Absent,
    /// It could not be found out.
    Unknown(NetworkFailure),
}

/// How a fetch ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The branch and its history are here, and the ref of ours leads to it.
    Fetched {
        /// Where the branch is.
        tip: Oid,
    },
    /// There is no such branch.
    Absent,
    /// The remote gave no answer.
    Failed(NetworkFailure),
}

/// How the target stands to its branch at the remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// At the same commit.
    Same,
    /// The target has commits that the remote has not.
    Ahead,
    /// The remote has commits that the target has not.
    Behind,
    /// Each has commits that the other has not.
    Diverged,
}

impl Repo {
    /// The branch that the user configured as the upstream of a local one (full name); `None` for none, or a local one.
    ///
    /// # Errors
    /// What a call can give.
    pub fn upstream(&self, target: &str) -> Result<Option<RemoteBranch>> {
        let text = self
            .read("reading an upstream")
            .args(["for-each-ref", "--format=%(upstream:remotename)%09%(upstream:remoteref)"])
            .args(["--", target])
            .text()?;
        let line = text.lines().next().and_then(|line| line.split_once('\t'));
        let known = line.filter(|(remote, refname)| {
            !remote.is_empty() && *remote != "." && refname.starts_with("refs/heads/")
        });
        Ok(known.map(|(remote, refname)| RemoteBranch {
            remote: remote.to_owned(),
            refname: refname.to_owned(),
        }))
    }

    /// Asks the remote. Writes nothing.
    ///
    /// # Errors
    /// What a call can give; a remote that gives no answer is [`RemoteTip::Unknown`].
    pub fn remote_tip(&self, branch: &RemoteBranch) -> Result<RemoteTip> {
        let doing = "asking a remote";
        let call = self.on_network(self.read(doing), self.git().limits().network)?;
        let call = call.args(["ls-remote", "--quiet", "--", &branch.remote, &branch.refname]);
        let done = match unreachable_in_time(call.done())? {
            Ok(done) => done,
            Err(failure) => return Ok(RemoteTip::Unknown(failure)),
        };
        if !done.success() {
            return network_failure(&call, &done).map(RemoteTip::Unknown);
        }
        let text = String::from_utf8_lossy(&done.stdout);
        // The name is a pattern for git, which matches the ends of longer ones too.
        let exact = text.lines().filter_map(|line| line.split_once('\t'));
        match exact.into_iter().find(|(_, name)| *name == branch.refname) {
            Some((oid, _)) => {
                Oid::new(oid).map(RemoteTip::At).ok_or(GitError::Unparsable { doing })
            }
            None => Ok(RemoteTip::Absent),
        }
    }

    /// Fetches the branch into `into`, a ref below `refs/tidegate/`. The user's remote-tracking refs stay as they are.
    ///
    /// # Errors
    /// [`GitError::Refused`] for a ref that is not ours; what a call can give.
    pub fn fetch_branch(&self, branch: &RemoteBranch, into: &str) -> Result<FetchOutcome> {
        if !into.starts_with("refs/tidegate/") {
            let stderr = format!("{into} is not a ref of Tidegate");
            return Err(GitError::Refused { doing: "fetching", stderr });
        }
        let call = self.on_network(self.write("fetching"), self.git().limits().network)?;
        let call = call
            .args(["fetch", "--quiet", "--no-tags", "--no-prune", "--no-write-fetch-head"])
            .args(["--no-recurse-submodules", "--no-auto-maintenance", "--refmap=", "--"])
            .arg(&branch.remote)
            .arg(format!("+{}:{into}", branch.refname));
        fail::fail_point!("git.remote.before_fetch");
        let outcome = match call.done() {
            Err(GitError::LockBusy { .. }) if self.reclaim_ref_lock(into)? => call.done(),
            other => other,
        };
        fail::fail_point!("git.remote.after_fetch");
        let done = match unreachable_in_time(outcome)? {
            Ok(done) => done,
            Err(failure) => return Ok(FetchOutcome::Failed(failure)),
        };
        if done.success() {
            let tip = self.resolve(into)?;
            let tip = tip.ok_or_else(|| GitError::Missing { what: into.to_owned() })?;
            return Ok(FetchOutcome::Fetched { tip });
        }
        if String::from_utf8_lossy(&done.stderr).contains("couldn't find remote ref") {
            return Ok(FetchOutcome::Absent);
        }
        network_failure(&call, &done).map(FetchOutcome::Failed)
    }

    /// How a local commit stands to one that was fetched.
    ///
    /// # Errors
    /// [`GitError::Refused`] when one of them does not exist here.
    pub fn standing(&self, local: &Oid, remote: &Oid) -> Result<Standing> {
        if local == remote {
            return Ok(Standing::Same);
        }
        if self.is_ancestor(remote, local)? {
            return Ok(Standing::Ahead);
        }
        let behind = self.is_ancestor(local, remote)?;
        Ok(if behind { Standing::Behind } else { Standing::Diverged })
    }
}
