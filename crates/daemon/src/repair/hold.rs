//! Nothing new starts while a job lives that the store does not know and nobody has looked at.

use std::path::{Path, PathBuf};

use tidegate_process::observe::look;

use super::strays::Stray;
use super::verdicts::is_acknowledged;

/// Name, in `quarantine`, of the list of jobs that hold the home up; for readers.
const LIST: &str = "holding";

/// The jobs that hold the home up.
#[derive(Debug, Default)]
pub struct Hold {
    home: PathBuf,
    jobs: Vec<(String, PathBuf)>,
}

impl Hold {
    /// Holds the home up for those of `strays` that a person has to look at.
    pub fn new(home: &Path, strays: &[Stray]) -> Self {
        let holding = strays.iter().filter(|stray| stray.holds());
        let jobs = holding.map(|stray| (stray.job.clone(), stray.directory.clone())).collect();
        let hold = Self { home: home.to_owned(), jobs };
        hold.tell();
        hold
    }

    /// Whether something still holds the home up; looks again.
    pub fn is_held(&mut self) -> bool {
        if self.jobs.is_empty() {
            return false;
        }
        let before = self.jobs.len();
        let home = self.home.clone();
        self.jobs.retain(|(job, directory)| {
            // What cannot be looked at may live.
            let alive = look(directory, "").map_or(directory.exists(), |seen| seen.lock_held);
            alive && !is_acknowledged(&home, job)
        });
        if self.jobs.len() != before {
            self.tell();
        }
        !self.jobs.is_empty()
    }

    /// Leaves the list for readers. It is information: what holds is found out anew by each daemon.
    fn tell(&self) {
        let path = list(&self.home);
        let told = if self.jobs.is_empty() {
            std::fs::remove_file(&path)
        } else {
            let names: Vec<&str> = self.jobs.iter().map(|(job, _)| job.as_str()).collect();
            tracing::error!(jobs = ?names, "jobs that the store does not know live: nothing starts");
            std::fs::write(&path, names.join("\n") + "\n")
        };
        if let Err(error) = told
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, path = %path.display(), "readers are not told what holds the home");
        }
    }
}

fn list(home: &Path) -> PathBuf {
    home.join("quarantine").join(LIST)
}

/// Why nothing starts in a home, as its newest daemon left it for readers.
pub(crate) fn holding(home: &Path) -> Option<String> {
    let text = std::fs::read_to_string(list(home)).ok()?;
    let jobs: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let first = jobs.first()?;
    let more = match jobs.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    Some(format!(
        "the store went back in time and does not know the living job {first}{more}: \
         `tidegate doctor --quarantine` says what can be done"
    ))
}
