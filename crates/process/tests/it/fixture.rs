//! One job in a home of its own, run by the shim under test and swept at the end.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tidegate_core::exit::Identity;
use tidegate_core::verdict::Mark;
use tidegate_process::observe::{Seen, look};
use tidegate_process::output::{FrameKind, OutputReader, Stream};
use tidegate_process::{
    ControlClient, ExitRecord, JobDir, Limits, ShimEnded, ShimProgram, Spawned, Spawner, Spec,
    StartedRecord, Sweep, identity,
};

/// How long anything here may take before the test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Directory, spec and spawner of one job.
pub(crate) struct Job {
    pub(crate) home: TempDir,
    pub(crate) dir: JobDir,
    pub(crate) spec: Spec,
    pub(crate) spawner: Spawner,
    pub(crate) ended: Receiver<ShimEnded>,
}

/// How the shim under test is started.
pub(crate) fn shim_program() -> ShimProgram {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_shim-under-test"));
    ShimProgram { program, arguments: Vec::new(), env: Vec::new() }
}

impl Job {
    /// A job that will run `argv`.
    pub(crate) fn new(argv: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let jobs = home.path().join("jobs");
        std::fs::create_dir(&jobs).unwrap();
        let dir = JobDir::create(&jobs, "r0000010000-1").unwrap();
        let nonce = Spec::fresh_nonce().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let spec = Spec {
            v: 1,
            job: "r0000010000-1".into(),
            run: "r0000010000".into(),
            attempt: 1,
            argv: argv.iter().map(|arg| (*arg).into()).collect(),
            cwd: home.path().into(),
            env: vec![("PATH".into(), path.into())],
            stdin: tidegate_process::Stdin::Null,
            output: tidegate_process::OutputMode::Pipe,
            limits: Limits { grace_ms: 300, ..Limits::default() },
            umask: 0o022,
            run_tag: format!("home{nonce}:r0000010000:r0000010000-1"),
            nonce,
            token: "secret".into(),
            generation: 1,
            epoch: 5,
            spare_agents: false,
        };
        let (tell, ended) = mpsc::channel();
        let spawner = Spawner::start(shim_program(), tell).unwrap();
        Self { home, dir, spec, spawner, ended }
    }

    /// A job that will run a line of shell.
    pub(crate) fn sh(script: &str) -> Self {
        Self::new(&["sh", "-c", script])
    }

    /// Writes the spec and starts a shim.
    pub(crate) fn start(&self) -> Spawned {
        self.dir.write_spec(&self.spec).unwrap();
        self.spawner.spawn(self.dir.path()).unwrap()
    }

    /// Waits until the shim has ended, and says how.
    pub(crate) fn wait_shim(&self) -> ShimEnded {
        self.ended.recv_timeout(PATIENCE).unwrap()
    }

    /// Runs the job to its end.
    pub(crate) fn run(&self) -> ExitRecord {
        self.start();
        let ended = self.wait_shim();
        assert_eq!(ended.code, Some(0), "{ended:?} {:?}", self.look());
        self.exit()
    }

    /// What the directory says now.
    pub(crate) fn look(&self) -> Seen {
        look(self.dir.path(), &self.spec.nonce).unwrap()
    }

    /// The exit record, which must be there.
    pub(crate) fn exit(&self) -> ExitRecord {
        match self.look().exit {
            Mark::Present(exit) => exit,
            other => panic!("no exit record: {other:?}"),
        }
    }

    /// Waits until the job has started.
    pub(crate) fn wait_started(&self) -> StartedRecord {
        until(|| match self.look().started {
            Mark::Present(started) => Some(started),
            _ => None,
        })
    }

    /// Waits until the job has written `file` in its home, and reads it.
    pub(crate) fn wait_file(&self, file: &str) -> String {
        let path = self.home.path().join(file);
        until(|| std::fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n')))
    }

    /// Pids that the job wrote to `file`, one a line; all alive when they were written.
    pub(crate) fn wait_pids(&self, file: &str) -> Vec<u32> {
        self.wait_file(file).lines().map(|line| line.trim().parse().unwrap()).collect()
    }

    /// A connection to the shim.
    pub(crate) fn control(&self, token: (u64, u64)) -> ControlClient {
        ControlClient::connect(&self.dir, &self.spec.nonce, token, PATIENCE).unwrap().0
    }

    /// What the job wrote to one stream, by the index.
    pub(crate) fn written(&self, stream: Stream) -> Vec<u8> {
        let mut reader = OutputReader::new(self.dir.path());
        let mut all = Vec::new();
        loop {
            let frames = reader.next_frames().unwrap();
            if frames.is_empty() {
                return all;
            }
            for frame in frames {
                assert_eq!(frame.kind, FrameKind::Data);
                if frame.stream == stream {
                    all.extend(reader.bytes(&frame).unwrap().unwrap());
                }
            }
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // By its shim if that lives: only it can find what left session and environment behind.
        let asked = ControlClient::connect(&self.dir, &self.spec.nonce, (9, 0), PATIENCE)
            .and_then(|(mut control, _)| control.stop("test", 0));
        if asked.is_ok() {
            let _ = self.ended.recv_timeout(PATIENCE);
        }
        let seen = look(self.dir.path(), &self.spec.nonce).map(|seen| seen.to_core().started);
        let tag = self.spec.run_tag.as_str();
        let sweep = match seen {
            Ok(Mark::Present(started)) => Sweep::lost_shim(&started, tag),
            _ => Sweep::tagged(vec![tag.to_owned()]),
        };
        let _ = sweep.run(PATIENCE);
    }
}

/// Looks until there is something, with a deadline.
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "nothing happened in {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a process is absent or a zombie.
pub(crate) fn is_gone(pid: u32) -> bool {
    identity::of(pid).unwrap().is_none()
}

/// The identity of a living process.
pub(crate) fn identity_of(pid: u32) -> Identity {
    identity::of(pid).unwrap().unwrap()
}
