//! A file without a name, for what programs write and read and nobody here can hold. It must not know what that is.

use std::fs::File;
use std::io::{self, BufReader, Seek};
use std::path::Path;
use std::sync::Arc;

use crate::error::{GitError, Result};

/// Gone with the process that has it open, however that ends.
#[derive(Debug, Clone)]
pub(crate) struct Spool(Arc<File>);

impl Spool {
    /// Makes one on the file system of `folder`.
    pub(crate) fn within(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder);
        file.map(|file| Self(Arc::new(file)))
            .map_err(GitError::io("create a temporary file in", folder))
    }

    pub(crate) fn file(&self) -> Arc<File> {
        Arc::clone(&self.0)
    }

    /// Reads it from its beginning; one reader at a time.
    pub(crate) fn reader(&self) -> io::Result<BufReader<&File>> {
        let mut file = &*self.0;
        file.rewind()?;
        Ok(BufReader::new(file))
    }
}
