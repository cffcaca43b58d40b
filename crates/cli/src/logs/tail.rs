//! The output of one job as one stream of bytes: its segments joined, from an offset on. It reads
//! files and knows nothing of how the job stands.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes that one read gives at most.
const CHUNK_BYTES: usize = 256 * 1024;

/// A position in the output of a job.
#[derive(Debug)]
pub(crate) struct Tail {
    directory: PathBuf,
    segment: u32,
    offset: u64,
    open: Option<File>,
}

impl Tail {
    /// The beginning of what is left of a job's output. Nothing of it needs to exist yet.
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), segment: 0, offset: 0, open: None }
    }

    /// A place within the output.
    pub(crate) fn at(directory: &Path, segment: u32, offset: u64) -> Self {
        Self { directory: directory.to_owned(), segment, offset, open: None }
    }

    /// Segment and offset of the next byte.
    pub(crate) fn position(&self) -> (u32, u64) {
        (self.segment, self.offset)
    }

    /// The next bytes; empty at the end for now.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub(crate) fn read(&mut self) -> io::Result<Vec<u8>> {
        loop {
            // Asked before the read: a segment is written no more once the next one exists.
            let next = self.next_segment()?;
            let bytes = self.read_here()?;
            if !bytes.is_empty() {
                return Ok(bytes);
            }
            let Some(next) = next else { return Ok(bytes) };
            (self.segment, self.offset, self.open) = (next, 0, None);
        }
    }

    /// Goes to where the last `lines` lines begin.
    ///
    /// # Errors
    /// As [`Tail::read`].
    pub(crate) fn skip_to_last(&mut self, lines: usize) -> io::Result<()> {
        // The line feed that ends the output begins no line.
        let mut wanted = Wanted { lines, is_begun: false };
        for segment in segments(&self.directory)?.into_iter().rev() {
            (self.segment, self.offset, self.open) = (segment, 0, None);
            let Some(file) = self.file()? else { continue };
            let mut end = file.metadata()?.len();
            if lines == 0 {
                self.offset = end;
                return Ok(());
            }
            while end > 0 {
                let start = end.saturating_sub(CHUNK_BYTES as u64);
                let mut chunk = vec![0; usize::try_from(end - start).unwrap_or(CHUNK_BYTES)];
                file.read_exact_at(&mut chunk, start)?;
                if let Some(at) = wanted.begin_in(&chunk) {
                    self.offset = start + at as u64;
                    return Ok(());
                }
                end = start;
            }
        }
        Ok(())
    }

    fn read_here(&mut self) -> io::Result<Vec<u8>> {
        let offset = self.offset;
        let Some(file) = self.file()? else { return Ok(Vec::new()) };
        let mut bytes = vec![0; CHUNK_BYTES];
        let length = file.read_at(&mut bytes, offset)?;
        bytes.truncate(length);
        self.offset += length as u64;
        Ok(bytes)
    }

    fn file(&mut self) -> io::Result<Option<&File>> {
        if self.open.is_none() {
            match File::open(self.directory.join(format!("output.{}", self.segment))) {
                Ok(file) => self.open = Some(file),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.open.as_ref())
    }

    /// The next segment after this one that exists; older ones may have been removed.
    fn next_segment(&self) -> io::Result<Option<u32>> {
        let found = segments(&self.directory)?;
        Ok(found.into_iter().find(|number| *number > self.segment))
    }
}

/// The last bytes of a job's output, of all its segments.
///
/// # Errors
/// When a segment cannot be read.
pub(crate) fn last_bytes(directory: &Path, count: u64) -> io::Result<Vec<u8>> {
    let mut end = Vec::new();
    for segment in segments(directory)?.into_iter().rev() {
        let missing = count - end.len() as u64;
        let mut part = end_of_file(&directory.join(format!("output.{segment}")), missing)?;
        part.append(&mut end);
        end = part;
        if end.len() as u64 >= count {
            break;
        }
    }
    Ok(end)
}

/// The last bytes of a file.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn end_of_file(path: &Path, count: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(count);
    let mut bytes = vec![0; usize::try_from(length - start).unwrap_or(0)];
    file.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}

/// Lines that are still missing, counted from the end.
struct Wanted {
    lines: usize,
    is_begun: bool,
}

impl Wanted {
    /// Where the last missing line begins in a chunk, if it does.
    fn begin_in(&mut self, chunk: &[u8]) -> Option<usize> {
        for (at, byte) in chunk.iter().enumerate().rev() {
            if *byte == b'\n' && self.is_begun {
                self.lines -= 1;
                if self.lines == 0 {
                    return Some(at + 1);
                }
            }
            self.is_begun = true;
        }
        None
    }
}

/// Numbers of the segments that exist, in order.
fn segments(directory: &Path) -> io::Result<Vec<u32>> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("output."));
        found.extend(number.and_then(|number| number.parse::<u32>().ok()));
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    fn all(tail: &mut Tail) -> String {
        let mut text = Vec::new();
        loop {
            let bytes = tail.read().unwrap();
            if bytes.is_empty() {
                return String::from_utf8(text).unwrap();
            }
            text.extend(bytes);
        }
    }

    #[test]
    fn tail_joins_segments_and_goes_on_where_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let first = dir.path().join("output.0");
        let mut tail = Tail::new(dir.path());
        assert_eq!(all(&mut tail), "");
        fs::write(&first, "one\n").unwrap();
        assert_eq!(all(&mut tail), "one\n");
        let mut file = fs::OpenOptions::new().append(true).open(&first).unwrap();
        file.write_all(b"two\n").unwrap();
        fs::write(dir.path().join("output.1"), "three\n").unwrap();
        assert_eq!(all(&mut tail), "two\nthree\n");
    }

    #[test]
    fn tail_passes_over_segments_that_were_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("output.7"), "seven\n").unwrap();
        fs::write(dir.path().join("output.10"), "ten\n").unwrap();
        assert_eq!(all(&mut Tail::new(dir.path())), "seven\nten\n");
    }

    #[test]
    fn tail_of_lines_begins_at_a_line() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("output.0"), "a\nb\n").unwrap();
        fs::write(dir.path().join("output.1"), "c\nd").unwrap();
        let wanted = [(0, ""), (1, "d"), (2, "c\nd"), (3, "b\nc\nd"), (9, "a\nb\nc\nd")];
        for (lines, text) in wanted {
            let mut tail = Tail::new(dir.path());
            tail.skip_to_last(lines).unwrap();
            assert_eq!(all(&mut tail), text, "{lines}");
        }
    }
}
