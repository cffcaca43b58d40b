//! The exit record's place on the disk, reserved before the job starts: a full disk cannot lose an
//! exit code.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use fail::fail_point;
use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;

use crate::jobdir::{EXIT, JobDir};
use crate::record::ExitRecord;

/// Bytes reserved; longer records lose their lists.
const SLOT_BYTES: usize = 8 << 10;

/// Name of the reserved file until it holds the record.
const TEMP: &str = "exit.tmp";

/// A reserved file that becomes `exit`.
pub(crate) struct ExitSlot {
    file: File,
    renamed: bool,
}

impl ExitSlot {
    /// Reserves the space.
    pub(crate) fn reserve(dir: &JobDir) -> io::Result<Self> {
        fail_point!("shim.before_reserve_exit", |_| Err(Errno::NOSPC.into()));
        dir.remove(TEMP)?;
        let file = dir.create_file(TEMP, OFlags::EXCL)?;
        match rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, SLOT_BYTES as u64) {
            Ok(()) => {}
            Err(Errno::OPNOTSUPP) => file.write_all_at(&[b' '; SLOT_BYTES], 0)?,
            Err(error) => return Err(error.into()),
        }
        Ok(Self { file, renamed: false })
    }

    /// Writes the record: write, fsync, rename, fsync of the directory. May be repeated until it
    /// succeeds.
    pub(crate) fn commit(&mut self, dir: &JobDir, record: &ExitRecord) -> io::Result<()> {
        let bytes = encode(record)?;
        fail_point!("shim.before_write_exit", |_| Err(Errno::NOSPC.into()));
        if !self.renamed {
            self.file.write_all_at(&bytes, 0)?;
            self.file.set_len(bytes.len() as u64)?;
            fail_point!("shim.before_fsync_exit", |_| Err(Errno::IO.into()));
            self.file.sync_data()?;
            fail_point!("shim.before_rename_exit");
            rustix::fs::renameat(dir, TEMP, dir, EXIT)?;
            self.renamed = true;
            fail_point!("shim.after_rename_exit");
        }
        dir.sync()?;
        fail_point!("shim.after_fsync_exit");
        Ok(())
    }
}

fn encode(record: &ExitRecord) -> io::Result<Vec<u8>> {
    let bytes = serde_json::to_vec(record)?;
    if bytes.len() <= SLOT_BYTES {
        return Ok(bytes);
    }
    let short = ExitRecord {
        detail: record.detail.as_ref().map(|text| text.chars().take(500).collect()),
        swept: Vec::new(),
        spared: Vec::new(),
        requires_human: record.requires_human.iter().take(4).cloned().collect(),
        ..record.clone()
    };
    Ok(serde_json::to_vec(&short)?)
}
