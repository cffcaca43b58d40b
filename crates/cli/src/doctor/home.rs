//! The home: its daemon, its jobs, its backups.

use tidegate_daemon::repair::Stray;
use tidegate_daemon::repair::backups;

use super::Check;
use crate::home::Home;
use crate::read;

/// Logs of the daemon that have grown beyond this together are not set aside as they should be, in
/// bytes.
const LOG_BYTES: u64 = 64 << 20;

pub(super) fn checks(home: &Home) -> Vec<Check> {
    vec![daemon(home), jobs(home), kept(home), log(home)]
}

fn daemon(home: &Home) -> Check {
    match read::daemon(home) {
        Ok(document) if !document.running => Check::good("daemon", "not running"),
        Ok(document) => {
            let pid = document.pid.map(|pid| pid.to_string()).unwrap_or_default();
            let client = &document.client_version;
            match document.version.filter(|version| version != client) {
                Some(version) => Check::odd(
                    "daemon",
                    format!("pid {pid} is version {version}, this is {client}"),
                )
                .then("tidegate daemon restart"),
                None => Check::good("daemon", format!("running, pid {pid}")),
            }
        }
        Err(error) => Check::wrong("daemon", error.message()),
    }
}

/// Every job directory belongs to a job that the store knows; others are left from a store that
/// went back in time, and something of them may be alive.
fn jobs(home: &Home) -> Check {
    let strays = match super::strays(home) {
        Ok(strays) => strays,
        // What is wrong with the store is said by its own check.
        Err(error) => return Check::odd("jobs", error.message()),
    };
    let open: Vec<&Stray> = strays.iter().filter(|stray| !stray.kept).collect();
    let Some(first) = open.first() else {
        return Check::good("jobs", "all known to the store");
    };
    let alive = open.iter().filter(|stray| stray.alive).count();
    let (count, job) = (open.len(), &first.job);
    let text = format!("{count} not known to the store, {alive} alive, such as {job}");
    Check::wrong("jobs", text).then("tidegate doctor --quarantine")
}

fn kept(home: &Home) -> Check {
    let found = backups(home.path());
    match found.first() {
        Some(newest) => {
            let name = newest.file_name().unwrap_or_default().to_string_lossy();
            Check::good("backups", format!("{}, newest {name}", found.len()))
        }
        None if home.path().join("store.db").exists() => {
            Check::good("backups", "none yet; `tidegate doctor --backup` makes one")
        }
        None => Check::good("backups", "there is no store yet"),
    }
}

fn log(home: &Home) -> Check {
    let (files, length) = tidegate_daemon::host::logs(home.path());
    if length > LOG_BYTES {
        return Check::odd("log", format!("{} MiB", length >> 20)).then(
            "find out why daemon.log is not set aside at 8 MiB: see its folder's permissions",
        );
    }
    Check::good("log", format!("{} KiB in {} files", length >> 10, files.len()))
}
