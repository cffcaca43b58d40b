//! What `/proc` says of processes. It knows nothing of jobs and signals nobody.

use std::fs;
use std::io::{self, Read};

/// Bytes read of an environment at most; a larger one is searched up to here.
const ENVIRON_BYTES_MAX: u64 = 4 << 20;

/// One line of the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Proc {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// State letter of its first thread.
    pub(crate) state: u8,
    pub(crate) threads: u32,
    /// Start, in clock ticks since boot.
    pub(crate) start_ticks: u64,
    /// Processor time of it and of its children that it has reaped, in clock ticks.
    pub(crate) cpu_ticks: u64,
}

impl Proc {
    /// Whether it has ended, whatever is left of it. A process whose first thread ended lives on
    /// in the others, although its state reads `Z`.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x') && self.threads < 2
    }
}

/// The process that has `pid` now, if any.
pub(crate) fn stat(pid: u32) -> io::Result<Option<Proc>> {
    let mut buffer = [0_u8; 1024];
    match read_into(&format!("/proc/{pid}/stat"), &mut buffer) {
        Ok(text) => Ok(parse(pid, text)),
        Err(error) if vanished(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Every process that exists, itself included, in no order.
pub(crate) fn all() -> io::Result<Vec<Proc>> {
    let mut found = Vec::with_capacity(256);
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|text| text.parse().ok()) else { continue };
        found.extend(stat(pid)?);
    }
    Ok(found)
}

/// Whether the process was started with `NAME=value` in its environment. `None`: not readable.
pub(crate) fn has_env(pid: u32, entry: &[u8]) -> Option<bool> {
    let environ = environ(pid)?;
    Some(environ.split(|byte| *byte == 0).any(|found| found == entry))
}

/// The value of `name` in the environment that the process was started with. `None` also when the
/// environment cannot be read, or the process is gone.
pub(crate) fn env_value(pid: u32, name: &str) -> Option<Vec<u8>> {
    let environ = environ(pid)?;
    environ.split(|byte| *byte == 0).find_map(|entry| {
        let (key, value) = entry.split_at_checked(name.len())?;
        (key == name.as_bytes()).then(|| value.strip_prefix(b"=")).flatten().map(<[u8]>::to_vec)
    })
}

/// Whether a signal would end the process: it neither handles nor ignores nor holds it back.
pub(crate) fn ends_by(pid: u32, signal: i32) -> bool {
    let Ok(text) = fs::read_to_string(format!("/proc/{pid}/status")) else { return false };
    let Ok(bit @ 1..=64) = u32::try_from(signal) else { return false };
    ["SigBlk:", "SigIgn:", "SigCgt:"].iter().all(|name| {
        let mask = text.lines().find_map(|line| line.strip_prefix(name));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & (1 << (bit - 1)) == 0)
    })
}

fn environ(pid: u32) -> Option<Vec<u8>> {
    let file = fs::File::open(format!("/proc/{pid}/environ")).ok()?;
    let mut bytes = Vec::new();
    file.take(ENVIRON_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn read_into<'a>(path: &str, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let len = fs::File::open(path)?.read(buffer)?;
    Ok(&buffer[..len])
}

fn vanished(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH))
}

/// Reads `pid (name) state ppid pgrp session ... starttime`; the name may hold any byte.
fn parse(pid: u32, text: &[u8]) -> Option<Proc> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 2..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let mut cpu_ticks: u64 = fields.nth(7)?.parse().ok()?;
    for _ in 0..3 {
        cpu_ticks += fields.next()?.parse::<u64>().ok()?;
    }
    let threads: u32 = fields.nth(2)?.parse().ok()?;
    let start_ticks = fields.nth(1)?.parse().ok()?;
    Some(Proc { pid, parent, group, session, state, threads, start_ticks, cpu_ticks })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn stat_of_a_hostile_name_is_parsed_from_the_last_parenthesis() {
        let text = b"7 (a) Z 9 (b) S 1 7 6 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 4242 99\n";
        let proc = parse(7, text).unwrap();
        assert_eq!((proc.parent, proc.group, proc.session), (1, 7, 6));
        assert_eq!((proc.state, proc.start_ticks, proc.threads), (b'S', 4242, 1));
        assert_eq!(proc.cpu_ticks, 5 + 6 + 7 + 8, "its own, and that of children it waited for");
    }

    #[test]
    fn table_contains_this_process() {
        let own = std::process::id();
        assert!(all().unwrap().iter().any(|proc| proc.pid == own && !proc.is_gone()));
    }
}
