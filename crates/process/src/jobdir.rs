//! The directory of one job: its paths, and files in it that are whole or absent.
//!
//! All access goes through the directory's descriptor, so a long path or a renamed parent does no
//! harm. It knows records and durability, not processes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use fail::fail_point;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::clock;
use crate::record::{AgentRecord, Spec, StartedFile, VERSION, WithdrawnRecord};

/// What a shim is to run.
pub const SPEC: &str = "spec.json";
/// Locked by a shim for all its life.
pub const LOCK: &str = "lock";
/// That the attempt began, or was withdrawn.
pub const STARTED: &str = "started";
/// How the job ended.
pub const EXIT: &str = "exit";
/// Frames of the output.
pub const INDEX: &str = "index";
/// What was written to the job's input.
pub const STDIN_LOG: &str = "stdin.log";
/// Where the shim listens.
pub const CONTROL: &str = "control.sock";
/// What of the job cannot be ended, while that is so; for people.
pub const STUCK: &str = "stuck";
/// Agents that a launcher registered.
pub const AGENTS: &str = "agents";

/// Longest record that is read, in bytes. An environment is the largest part of one.
const RECORD_BYTES_MAX: u64 = 32 << 20;

/// Why a job directory could not be used.
#[derive(Debug, thiserror::Error)]
pub enum JobDirError {
    /// The operating system refused.
    #[error("{doing} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A record is there but is not one of ours.
    #[error("{} is damaged: {detail}", path.display())]
    Corrupt {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The name cannot be that of a job or an agent.
    #[error("`{name}` cannot be a file name")]
    Name {
        /// The name.
        name: String,
    },
}

impl JobDirError {
    /// Whether the disk or the quota is full: worth another try when there is room.
    pub fn is_storage_full(&self) -> bool {
        let Self::Io { source, .. } = self else { return false };
        matches!(source.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
    }
}

/// What withdrawing an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// The tombstone is durable: no shim can start this attempt any more.
    Withdrawn,
    /// A shim was faster.
    AlreadyStarted,
}

/// An open job directory.
#[derive(Debug)]
pub struct JobDir {
    fd: OwnedFd,
    path: PathBuf,
}

impl AsFd for JobDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl JobDir {
    /// Makes `<jobs>/<id>` (0700) with its lock file, durably (one fsync, of `jobs`); opens it
    /// when it is there already.
    ///
    /// # Errors
    /// [`JobDirError::Io`], [`JobDirError::Name`].
    pub fn create(jobs: &Path, id: &str) -> Result<Self, JobDirError> {
        check_name(id)?;
        let path = jobs.join(id);
        let at = |doing| io_error(doing, &path);
        fail_point!("jobdir.before_create");
        match rustix::fs::mkdirat(CWD, &path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(at("create directory")(error.into())),
        }
        let dir = Self::open(&path)?;
        dir.create_file(LOCK, OFlags::empty()).map_err(at("create lock in"))?;
        match rustix::fs::mkdirat(&dir.fd, AGENTS, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(at("create agents in")(error.into())),
        }
        File::open(jobs).and_then(|parent| parent.sync_all()).map_err(at("sync parent of"))?;
        fail_point!("jobdir.after_create");
        Ok(dir)
    }

    /// Opens an existing job directory.
    ///
    /// # Errors
    /// [`JobDirError::Io`].
    pub fn open(path: &Path) -> Result<Self, JobDirError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = rustix::fs::openat(CWD, path, flags, Mode::empty())
            .map_err(|error| io_error("open directory", path)(error.into()))?;
        Ok(Self { fd, path: path.to_owned() })
    }

    /// Where the directory was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Path of the output's segment `number`.
    pub fn segment(&self, number: u32) -> PathBuf {
        self.path.join(format!("output.{number}"))
    }

    /// Path of a file in it that is short whatever the length of its own path: for socket
    /// addresses, which have 108 bytes.
    pub(crate) fn short_path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.fd.as_raw_fd()))
    }

    /// Writes `spec.json` durably (two fsyncs: the file and the directory).
    ///
    /// # Errors
    /// [`JobDirError::Io`].
    pub fn write_spec(&self, spec: &Spec) -> Result<(), JobDirError> {
        fail_point!("jobdir.before_write_spec");
        let bytes = serde_json::to_vec(spec).map_err(io::Error::other);
        let wrap = io_error("write", &self.file(SPEC));
        bytes.and_then(|bytes| self.replace(SPEC, &bytes)).map_err(wrap)?;
        fail_point!("jobdir.after_write_spec");
        Ok(())
    }

    /// Reads `spec.json`.
    ///
    /// # Errors
    /// [`JobDirError::Io`] (also when there is none), [`JobDirError::Corrupt`].
    pub fn read_spec(&self) -> Result<Spec, JobDirError> {
        let path = self.file(SPEC);
        let bytes = self.read(SPEC).map_err(io_error("read", &path))?;
        let bytes = bytes.ok_or_else(|| io_error("read", &path)(Errno::NOENT.into()))?;
        let corrupt = |detail| JobDirError::Corrupt { path, detail };
        let spec: Spec = match serde_json::from_slice(&bytes) {
            Ok(spec) => spec,
            Err(error) => return Err(corrupt(error.to_string())),
        };
        spec.check().map_err(corrupt)?;
        Ok(spec)
    }

    /// Links a tombstone as `started`: a shim that comes later ends with 76. Two fsyncs. Repeating
    /// it is harmless.
    ///
    /// # Errors
    /// [`JobDirError::Io`].
    pub fn withdraw(&self, job: &str, nonce: &str) -> Result<Withdrawal, JobDirError> {
        let record = StartedFile::Withdrawn(WithdrawnRecord {
            v: VERSION,
            job: job.to_owned(),
            nonce: nonce.to_owned(),
            at_wall_ms: clock::wall_ms(),
        });
        let temp = format!("withdrawn.{}.tmp", std::process::id());
        let wrap = io_error("link", &self.file(STARTED));
        fail_point!("jobdir.before_withdraw");
        let linked = self.link_started(&record, &temp).map_err(wrap)?;
        fail_point!("jobdir.after_withdraw");
        if linked {
            return Ok(Withdrawal::Withdrawn);
        }
        let there = self.read(STARTED).map_err(io_error("read", &self.file(STARTED)))?;
        let there = there.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(match there {
            Some(StartedFile::Withdrawn(_)) => Withdrawal::Withdrawn,
            Some(StartedFile::Started(_)) | None => Withdrawal::AlreadyStarted,
        })
    }

    /// Writes `agents/<id>.json` durably.
    ///
    /// # Errors
    /// [`JobDirError::Io`], [`JobDirError::Name`].
    pub fn write_agent(&self, agent: &AgentRecord) -> Result<(), JobDirError> {
        check_name(&agent.id)?;
        let dir = Self::open(&self.file(AGENTS))?;
        let name = format!("{}.json", agent.id);
        let bytes = serde_json::to_vec(agent).map_err(io::Error::other);
        let wrap = io_error("write", &dir.file(&name));
        bytes.and_then(|bytes| dir.replace(&name, &bytes)).map_err(wrap)
    }

    /// Reads `agents/*.json`, in the order of their names; a damaged one is an error of its own.
    ///
    /// # Errors
    /// [`JobDirError::Io`] when the folder cannot be listed.
    pub fn agents(&self) -> Result<Vec<Result<AgentRecord, JobDirError>>, JobDirError> {
        let path = self.file(AGENTS);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io_error("list", &path)(error)),
        };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        let dir = Self::open(&path)?;
        let is_record = |name: &&str| Path::new(name).extension().is_some_and(|end| end == "json");
        let names = names.iter().filter_map(|name| name.to_str()).filter(is_record);
        Ok(names.map(|name| dir.read_agent(name)).collect())
    }

    fn read_agent(&self, name: &str) -> Result<AgentRecord, JobDirError> {
        let path = self.file(name);
        let bytes = self.read(name).map_err(io_error("read", &path))?.unwrap_or_default();
        serde_json::from_slice(&bytes)
            .map_err(|error| JobDirError::Corrupt { path, detail: error.to_string() })
    }

    /// The bytes of a small file; `None` when there is none. Reads regular files only.
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(RECORD_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Opens a file for writing, 0600, made when it is missing.
    pub(crate) fn create_file(&self, name: &str, more: OFlags) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | more;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(File::from(fd))
    }

    /// Puts `bytes` under `name`, whole or not at all, durably.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temp = format!("{name}.{}.tmp", std::process::id());
        self.write_temp(&temp, bytes)?;
        fail_point!("jobdir.before_rename");
        rustix::fs::renameat(&self.fd, &temp, &self.fd, name)?;
        fail_point!("jobdir.after_rename");
        self.sync()
    }

    /// Links `record` as `started`, durably; false when the name is taken already.
    pub(crate) fn link_started(&self, record: &StartedFile, temp: &str) -> io::Result<bool> {
        let bytes = serde_json::to_vec(record).map_err(io::Error::other)?;
        self.write_temp(temp, &bytes)?;
        fail_point!("started.before_link");
        let linked = rustix::fs::linkat(&self.fd, temp, &self.fd, STARTED, AtFlags::empty());
        fail_point!("started.after_link");
        let _ = self.remove(temp);
        match linked {
            Ok(()) => self.sync().map(|()| true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn write_temp(&self, temp: &str, bytes: &[u8]) -> io::Result<()> {
        // A temporary name that a crash left behind may be a second link to a record: writing
        // through it would change the record.
        self.remove(temp)?;
        let mut file = self.create_file(temp, OFlags::EXCL)?;
        file.write_all(bytes)?;
        fail_point!("jobdir.before_fsync", |_| Err(Errno::IO.into()));
        file.sync_data()?;
        fail_point!("jobdir.after_fsync");
        Ok(())
    }

    /// Makes the names in the directory durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        fail_point!("jobdir.before_fsync_dir", |_| Err(Errno::IO.into()));
        rustix::fs::fsync(&self.fd)?;
        fail_point!("jobdir.after_fsync_dir");
        Ok(())
    }

    /// Leaves word for readers of what cannot be ended, or takes it back. It is information: not
    /// synced, and a disk that refuses it changes nothing.
    pub(crate) fn tell_stuck(&self, what: &[String]) {
        let _ = if what.is_empty() {
            self.remove(STUCK)
        } else {
            let file = self.create_file(STUCK, OFlags::TRUNC);
            file.and_then(|mut file| file.write_all(what.join("; ").as_bytes()))
        };
    }

    /// Removes a name; it may be missing.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn check_name(name: &str) -> Result<(), JobDirError> {
    tidegate_core::ids::check_name("job or agent", name)
        .map_err(|_| JobDirError::Name { name: name.escape_debug().to_string() })
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JobDirError + use<> {
    let path = path.to_owned();
    move |source| JobDirError::Io { doing, path, source }
}
