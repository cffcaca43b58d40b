//! What a caller may do. Agents run as the user, so the process tree decides, whatever they present:
//! a process inside a job has that job's scope, everybody else of the same user has the user's.

use tidegate_core::ids::{JobId, QueueKey, RunId};
use tidegate_process::peer::{Origin, origin};
use tidegate_protocol::{ErrorCode, Problem};

use super::app::App;
use super::peer::Caller;

/// What a caller may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everything: the user, outside of any job.
    User {
        /// The user's id.
        uid: u32,
    },
    /// Little: a process inside this job.
    Job(JobId),
}

/// Finds out what `caller` may do; kept for its connection.
pub(super) fn scope_of(app: &App, caller: &Caller) -> Result<Scope, Problem> {
    if let Some(scope) = caller.scope.get() {
        return Ok(scope.clone());
    }
    let scope = find(app, caller)?;
    Ok(caller.scope.get_or_init(|| scope).clone())
}

fn find(app: &App, caller: &Caller) -> Result<Scope, Problem> {
    let unknown = || forbidden("it cannot be told who asks");
    let peer = caller.peer.as_ref().ok_or_else(unknown)?;
    if peer.uid != rustix::process::geteuid().as_raw() {
        return Err(forbidden("the home belongs to another user"));
    }
    let process = peer.identity.as_ref().ok_or_else(unknown)?;
    let shims = app.shims()?;
    let found = origin(process, &app.site.home_id, &shims)
        .inspect_err(|error| tracing::warn!(%error, "cannot tell where a caller comes from"));
    match found {
        Ok(Origin::Outside) => Ok(Scope::User { uid: peer.uid }),
        Ok(Origin::Job(job)) => JobId::parse(&job).map(Scope::Job).map_err(|_| unknown()),
        Ok(Origin::Unknown) | Err(_) => Err(unknown()),
    }
}

impl Scope {
    /// Who that is, for keys and records.
    pub(super) fn actor(&self) -> String {
        match self {
            Self::User { uid } => user_name(*uid),
            Self::Job(job) => format!("job:{job}"),
        }
    }

    /// Only the user may.
    pub(super) fn require_user(&self) -> Result<(), Problem> {
        match self {
            Self::User { .. } => Ok(()),
            Self::Job(_) => Err(forbidden("a process inside a job may not do this")),
        }
    }

    /// The user may, and a job may for its own run.
    pub(super) fn require_own(&self, run: &RunId) -> Result<(), Problem> {
        match self {
            Self::Job(job) if job.run() != run => {
                Err(forbidden("a process inside a job may do this for its own run only"))
            }
            Self::User { .. } | Self::Job(_) => Ok(()),
        }
    }

    /// The user may, and a job may end a run that its own run submitted.
    pub(super) async fn require_child(&self, app: &App, run: &RunId) -> Result<(), Problem> {
        let Self::Job(job) = self else { return Ok(()) };
        let child = run.clone();
        let parent = app.look(move |viewer| viewer.parent(&child)).await?;
        if parent.as_ref() == Some(job.run()) {
            return Ok(());
        }
        Err(forbidden("a process inside a job may cancel only what its own run submitted"))
    }

    /// The user may submit anywhere, a launcher into another queue than its own; gives the parent
    /// of the new run and the queue that it must not go to.
    pub(super) async fn submitter(&self, app: &App) -> Result<Option<(RunId, QueueKey)>, Problem> {
        let Self::Job(job) = self else { return Ok(None) };
        let asked = job.clone();
        let place = app.look(move |viewer| viewer.job_place(&asked)).await?;
        match place {
            Some(place) if place.is_launcher => Ok(Some((job.run().clone(), place.queue))),
            Some(_) | None => Err(forbidden("of the jobs, only a launcher may submit")),
        }
    }
}

/// The refusal of a scope.
pub(super) fn forbidden(why: &str) -> Problem {
    Problem::new(ErrorCode::ForbiddenScope, why)
}

/// The user's name, from the passwd file; the number where it has none.
pub fn user_name(uid: u32) -> String {
    let table = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = table.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("uid-{uid}"))
}
