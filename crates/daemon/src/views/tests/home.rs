//! A home for tests: a store that is driven by the real step, and job directories as shims leave
//! them.

use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use tidegate_core::exit::Identity;
use tidegate_core::ids::{AdhocId, JobId, LaneName, ProjectId, QueueKey, RunId};
use tidegate_core::run::{Input, Report, Run, Submitted, Work, step};
use tidegate_core::time::{BootMs, Now, WallMs};
use tidegate_process::record::{ReasonRecord, VERSION};
use tidegate_process::{HomeLock, identity};
use tidegate_store::{Options, Store, StoreError, blob_id};

use crate::views::Viewer;

/// A home in a temporary directory.
pub(crate) struct TestHome {
    dir: TempDir,
    store: Store,
    clock: u64,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        crate::host::prepare_home(dir.path()).unwrap();
        let mut store = Store::open_with(dir.path(), Options { ballast_bytes: 0 }).unwrap();
        let clock = crate::clock::wall().0 - 60_000;
        store.begin_epoch(std::process::id(), "0.1.0", WallMs(clock)).unwrap();
        Self { dir, store, clock }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Closes the store, as a daemon that ends does.
    pub(crate) fn close(self) -> TempDir {
        self.store.close().unwrap();
        self.dir
    }

    pub(crate) fn home_id(&self) -> String {
        self.store.view().home_row().unwrap().home_id
    }

    pub(crate) fn viewer(&self) -> Viewer {
        Viewer::open(self.path()).unwrap()
    }

    fn now(&mut self) -> Now {
        self.clock += 10;
        Now { wall: WallMs(self.clock), boot: BootMs(self.clock), entropy: self.clock }
    }

    /// Records a new run in `lane` of the project `harbour`.
    pub(crate) fn submit(&mut self, lane: &str, adhoc: Option<&str>, work: Work) -> Run {
        self.submit_for(lane, adhoc, work, None)
    }

    /// As [`TestHome::submit`], as the child of another run.
    pub(crate) fn submit_for(
        &mut self,
        lane: &str,
        adhoc: Option<&str>,
        work: Work,
        parent: Option<RunId>,
    ) -> Run {
        let now = self.now();
        let queue = QueueKey {
            project: ProjectId::new("harbour").unwrap(),
            lane: LaneName::new(lane).unwrap(),
            adhoc: adhoc.map(|id| AdhocId::new(id).unwrap()),
        };
        let env = blob_id(b"pinned");
        let record = |savepoint: &mut tidegate_store::Savepoint<'_>| -> Result<Run, StoreError> {
            savepoint.put_blob(&env, b"pinned")?;
            let seq = savepoint.next_seq();
            let submitted = Submitted {
                priority: 0,
                id: RunId::from_parts(seq, now.entropy),
                seq,
                queue,
                actor: "ada".to_owned(),
                at: now.wall,
                env: env.clone(),
                parent,
                work,
            };
            let run = Run::from_submitted(&submitted);
            let events = [tidegate_core::run::Event::Submitted(Box::new(submitted))];
            savepoint.save(None, &run, &events, now.wall)?;
            Ok(run)
        };
        self.store.turn(|turn| turn.input(record)).unwrap().unwrap()
    }

    /// Records an input.
    pub(crate) fn input(&mut self, run: &mut Run, input: &Input) {
        let now = self.now();
        let next = step(run, input, now).unwrap();
        let record = |savepoint: &mut tidegate_store::Savepoint<'_>| -> Result<(), StoreError> {
            savepoint.save(Some(run), &next.run, &next.events, now.wall)
        };
        self.store.turn(|turn| turn.input(record)).unwrap().unwrap();
        *run = next.run;
    }

    /// Records a report.
    pub(crate) fn report(&mut self, run: &mut Run, report: Report) {
        self.input(run, &Input::Report(report));
    }

    /// Records the claim of a run.
    pub(crate) fn claim(&mut self, run: &mut Run) {
        self.input(run, &Input::Claim { supervisor: "home-1".to_owned() });
    }

    /// The directory of a job; made when it is missing.
    pub(crate) fn job_dir(&self, job: &JobId) -> std::path::PathBuf {
        let dir = self.path().join("jobs").join(job.to_string());
        std::fs::create_dir_all(dir.join("agents")).unwrap();
        dir
    }

    /// Writes `started` as a shim with this process's identity would; gives that identity.
    pub(crate) fn write_started(&self, run: &Run, job: &JobId) -> Identity {
        let own = identity::own().unwrap();
        self.write_started_by(run, job, &own);
        own
    }

    /// As [`TestHome::write_started`], by another process.
    pub(crate) fn write_started_by(&self, run: &Run, job: &JobId, shim: &Identity) {
        let shim = json!({
            "pid": shim.pid,
            "start_ticks": shim.start_ticks,
            "boot_id": shim.boot_id,
            "pidfs_inode": shim.pidfs_inode,
        });
        let record = json!({
            "kind": "started",
            "v": VERSION,
            "job": job.to_string(),
            "attempt": run.jobs[job].attempt,
            "nonce": run.jobs[job].nonce,
            "generation": 1,
            "epoch": 1,
            "shim": shim,
            "child": shim,
            "at_wall_ms": self.clock,
            "at_mono_ms": 1,
        });
        std::fs::write(self.job_dir(job).join("started"), record.to_string()).unwrap();
    }

    /// Writes `exit`.
    pub(crate) fn write_exit(
        &self,
        run: &Run,
        job: &JobId,
        reason: &ReasonRecord,
        code: Option<i32>,
        signal: Option<i32>,
    ) {
        let record = json!({
            "v": VERSION,
            "job": job.to_string(),
            "run": run.id.to_string(),
            "attempt": run.jobs[job].attempt,
            "nonce": run.jobs[job].nonce,
            "generation": 1,
            "epoch": 1,
            "boot_id": identity::own().unwrap().boot_id,
            "reason": reason,
            "code": code,
            "signal": signal,
            "detail": null,
            "started_wall_ms": self.clock,
            "ended_wall_ms": self.clock + 5,
            "ran_ms": 5,
            "usage": { "user_us": 0, "system_us": 0, "max_rss_kib": 0 },
            "bytes": { "stdout": 0, "stderr": 0, "lost": 0 },
        });
        std::fs::write(self.job_dir(job).join("exit"), record.to_string()).unwrap();
    }

    /// Holds the lock of a job, as its living shim does.
    pub(crate) fn hold(&self, job: &JobId) -> HomeLock {
        HomeLock::acquire(&self.job_dir(job).join("lock")).unwrap()
    }
}
