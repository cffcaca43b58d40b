//! The highwater file: how far the store had come, kept outside of it.
//!
//! SQLite says that all is well with a database whose newest transactions are missing. This file
//! says that they are. Two slots are written in turn, in place, each with its own checksum: a torn
//! write leaves the other one. It must not know what the numbers mean to anyone.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::chain::Hash;
use crate::error::StoreError;

const MAGIC: &[u8; 8] = b"TDGHW\0\0\x01";
/// Slots lie in different blocks.
const SLOT_STRIDE: u64 = 4096;
const NUMBERS: usize = 5;
const PAYLOAD_BYTES: usize = 8 + NUMBERS * 8 + 32;
const SLOT_BYTES: usize = PAYLOAD_BYTES + 32;

/// How far a store had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mark {
    /// The token generation.
    pub(crate) generation: u64,
    /// The fencing epoch.
    pub(crate) epoch: u64,
    /// The number of committed transactions.
    pub(crate) turn: u64,
    /// The newest event.
    pub(crate) seq: u64,
    /// The newest run.
    pub(crate) run_seq: u64,
    /// The hash of the newest event.
    pub(crate) head: Hash,
}

/// The open file.
#[derive(Debug)]
pub(crate) struct Highwater {
    file: File,
    path: PathBuf,
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing was ever written: the file has just been made, or its maker died.
    Nothing,
    /// There is a file, but no valid slot in it.
    Unreadable,
    /// The newest valid slot.
    Mark(Mark),
}

/// How far a store had come when something was last acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledged {
    /// The token generation.
    pub generation: u64,
    /// The fencing epoch.
    pub epoch: u64,
    /// The number of committed transactions.
    pub turn: u64,
    /// The newest event.
    pub seq: u64,
}

/// Reads how far the store of `home` had come; `None` when nothing valid says so. Writes nothing.
///
/// # Errors
/// What the operating system gives, but for a missing file.
pub fn acknowledged(home: &Path) -> io::Result<Option<Acknowledged>> {
    let file = match File::open(home.join("highwater")) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let newest = newest(&file)?;
    Ok(newest.map(|mark| Acknowledged {
        generation: mark.generation,
        epoch: mark.epoch,
        turn: mark.turn,
        seq: mark.seq,
    }))
}

/// The later of the valid slots.
fn newest(file: &File) -> io::Result<Option<Mark>> {
    Ok(match (read_slot(file, 0)?, read_slot(file, 1)?) {
        (Some(one), Some(other)) => Some(later(one, other)),
        (one, other) => one.or(other),
    })
}

impl Highwater {
    /// Opens the file of the home, and makes it with both slots allocated when it is not there.
    pub(crate) fn open(home: &Path) -> Result<(Self, Found), StoreError> {
        let path = home.join("highwater");
        let fail = |doing| {
            let path = path.clone();
            move |source| StoreError::File { doing, path, source }
        };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(fail("open"))?;
        let fresh = file.metadata().map_err(fail("look at"))?.len() == 0;
        if fresh {
            let blank = vec![0; usize::try_from(SLOT_STRIDE * 2).unwrap_or(8192)];
            file.write_all_at(&blank, 0).map_err(fail("allocate"))?;
            file.sync_all().map_err(fail("sync"))?;
            crate::files::sync_dir(home).map_err(fail("sync the folder of"))?;
        }
        let found = match newest(&file).map_err(fail("read"))? {
            Some(mark) => Found::Mark(mark),
            None if is_blank(&file).map_err(fail("read"))? => Found::Nothing,
            None => Found::Unreadable,
        };
        Ok((Self { file, path }, found))
    }

    /// Makes `mark` durable.
    pub(crate) fn write(&self, mark: &Mark) -> Result<(), StoreError> {
        let fail =
            |doing| move |source| StoreError::File { doing, path: self.path.clone(), source };
        let slot = mark.turn % 2;
        fail::fail_point!("store.highwater.before_write", |_| {
            Err(fail("write")(io::Error::other("injected")))
        });
        self.file.write_all_at(&encode(mark), slot * SLOT_STRIDE).map_err(fail("write"))?;
        fail::fail_point!("store.highwater.before_sync", |_| {
            Err(fail("sync")(io::Error::other("injected")))
        });
        self.file.sync_data().map_err(fail("sync"))?;
        fail::fail_point!("store.highwater.after_sync");
        Ok(())
    }
}

/// The slot of the later transaction; a store that went back counts on from where it had been.
fn later(one: Mark, other: Mark) -> Mark {
    if (other.generation, other.turn) > (one.generation, one.turn) { other } else { one }
}

fn encode(mark: &Mark) -> [u8; SLOT_BYTES] {
    let mut slot = [0; SLOT_BYTES];
    slot[..8].copy_from_slice(MAGIC);
    let numbers = [mark.generation, mark.epoch, mark.turn, mark.seq, mark.run_seq];
    for (place, number) in numbers.iter().enumerate() {
        slot[8 + place * 8..16 + place * 8].copy_from_slice(&number.to_le_bytes());
    }
    slot[PAYLOAD_BYTES - 32..PAYLOAD_BYTES].copy_from_slice(&mark.head);
    let sum = Sha256::digest(&slot[..PAYLOAD_BYTES]);
    slot[PAYLOAD_BYTES..].copy_from_slice(&sum);
    slot
}

/// Whether both slots are allocated and nothing was ever written to them.
fn is_blank(file: &File) -> io::Result<bool> {
    for slot in [0, 1] {
        let mut bytes = [0; SLOT_BYTES];
        match file.read_exact_at(&mut bytes, slot * SLOT_STRIDE) {
            Ok(()) if bytes.iter().all(|byte| *byte == 0) => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn read_slot(file: &File, slot: u64) -> io::Result<Option<Mark>> {
    let mut bytes = [0; SLOT_BYTES];
    match file.read_exact_at(&mut bytes, slot * SLOT_STRIDE) {
        Ok(()) => Ok(decode(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn decode(slot: &[u8; SLOT_BYTES]) -> Option<Mark> {
    let (payload, sum) = slot.split_at(PAYLOAD_BYTES);
    if !payload.starts_with(MAGIC) || Sha256::digest(payload).as_slice() != sum {
        return None;
    }
    let number = |place: usize| {
        let bytes = payload[8 + place * 8..16 + place * 8].try_into().ok()?;
        Some(u64::from_le_bytes(bytes))
    };
    Some(Mark {
        generation: number(0)?,
        epoch: number(1)?,
        turn: number(2)?,
        seq: number(3)?,
        run_seq: number(4)?,
        head: payload[PAYLOAD_BYTES - 32..].try_into().ok()?,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn mark(turn: u64) -> Mark {
        Mark { generation: 1, epoch: 2, turn, seq: turn * 3, run_seq: 4, head: [7; 32] }
    }

    #[test]
    fn highwater_written_twice_reads_the_later() {
        let home = tempfile::tempdir().unwrap();
        let (file, found) = Highwater::open(home.path()).unwrap();
        assert_eq!(found, Found::Nothing);
        file.write(&mark(1)).unwrap();
        file.write(&mark(2)).unwrap();
        assert_eq!(Highwater::open(home.path()).unwrap().1, Found::Mark(mark(2)));
    }

    #[test]
    fn highwater_with_any_byte_of_the_newest_slot_broken_reads_the_other() {
        let home = tempfile::tempdir().unwrap();
        let (file, _) = Highwater::open(home.path()).unwrap();
        file.write(&mark(1)).unwrap();
        file.write(&mark(2)).unwrap();
        for place in 0..SLOT_BYTES as u64 {
            let mut byte = [0];
            file.file.read_exact_at(&mut byte, place).unwrap();
            file.file.write_all_at(&[byte[0] ^ 4], place).unwrap();
            assert_eq!(Highwater::open(home.path()).unwrap().1, Found::Mark(mark(1)), "{place}");
            file.file.write_all_at(&byte, place).unwrap();
        }
    }

    #[test]
    fn highwater_with_both_slots_broken_is_unreadable_not_absent() {
        let home = tempfile::tempdir().unwrap();
        let (file, _) = Highwater::open(home.path()).unwrap();
        file.write(&mark(1)).unwrap();
        file.file.write_all_at(b"x", SLOT_STRIDE).unwrap();
        assert_eq!(Highwater::open(home.path()).unwrap().1, Found::Unreadable);
        std::fs::write(home.path().join("highwater"), b"short").unwrap();
        assert_eq!(Highwater::open(home.path()).unwrap().1, Found::Unreadable);
    }
}
