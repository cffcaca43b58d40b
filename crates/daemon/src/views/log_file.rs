//! A log that is a plain file, as launchers name them for their agents. It may grow, be cut, or not
//! exist yet.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes read at once.
const BLOCK_BYTES: u64 = 64 * 1024;

/// A plain file that is read from a position on.
#[derive(Debug)]
pub(super) struct PlainLog {
    path: PathBuf,
    position: u64,
}

impl PlainLog {
    /// Starts at the beginning of the file, which may not exist yet.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), position: 0 }
    }

    /// Its size now; 0 where it does not exist.
    pub(super) fn length(&self) -> io::Result<u64> {
        match std::fs::metadata(&self.path) {
            Ok(meta) if meta.is_file() => Ok(meta.len()),
            Ok(_) => Err(io::Error::other(format!("{} is not a file", self.path.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Goes on at `position`.
    pub(super) fn seek(&mut self, position: u64) {
        self.position = position;
    }

    /// The bytes between two positions.
    pub(super) fn between(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(to.saturating_sub(from)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The next bytes; `None` at the end for now.
    pub(super) fn next_bytes(&mut self) -> io::Result<Option<Vec<u8>>> {
        let length = self.length()?;
        if length < self.position {
            // It was cut: what is there now is new.
            self.position = 0;
        }
        if length == self.position {
            return Ok(None);
        }
        let bytes = self.between(self.position, length.min(self.position + BLOCK_BYTES))?;
        self.position += bytes.len() as u64;
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}
