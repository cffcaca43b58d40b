//! The journal of what was put into a job: `stdin.log`. Its shim alone writes it; anybody may read.
//!
//! It holds every input from the first on, one record each:
//!
//! | bytes | what |
//! |---|---|
//! | 0 | version, 1 |
//! | 1 | kind: 0 bytes, 1 the end of the input |
//! | 2-3 | 0 |
//! | 4-7 | length, little-endian |
//! | 8-15 | number of the input, little-endian |
//! | 16- | the bytes |

use std::io;
use std::path::Path;

use crate::jobdir::STDIN_LOG;

const RECORD_VERSION: u8 = 1;
pub(crate) const HEAD_BYTES: usize = 16;

/// The head of a record.
pub(crate) struct Head {
    pub(crate) closes: bool,
    pub(crate) length: u32,
    pub(crate) seq: u64,
}

impl Head {
    pub(crate) fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[0] = RECORD_VERSION;
        bytes[1] = u8::from(self.closes);
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seq.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: [u8; HEAD_BYTES]) -> Self {
        let [_, kind, _, _, l0, l1, l2, l3, seq @ ..] = bytes;
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        Self { closes: kind == 1, length, seq: u64::from_le_bytes(seq) }
    }
}

/// All that was put into a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inputs {
    /// The bytes, in their order.
    pub bytes: Vec<u8>,
    /// The number of the last input; 0 when there was none.
    pub last: u64,
    /// Whether that ended it.
    pub closed: bool,
}

impl Inputs {
    /// Reads the journal of a job; a record that is not whole yet is left out.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn read(job_dir: &Path) -> io::Result<Self> {
        let log = match std::fs::read(job_dir.join(STDIN_LOG)) {
            Ok(log) => log,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let mut inputs = Self::default();
        let mut rest = log.as_slice();
        while let Some((head, after)) = rest.split_first_chunk::<HEAD_BYTES>() {
            let head = Head::decode(*head);
            let length = usize::try_from(head.length).unwrap_or(usize::MAX);
            let Some((bytes, after)) = after.split_at_checked(length) else { break };
            inputs.bytes.extend_from_slice(bytes);
            inputs.last = head.seq;
            inputs.closed |= head.closes;
            rest = after;
        }
        Ok(inputs)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn journal_is_read_up_to_the_last_whole_record() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Inputs::read(dir.path()).unwrap(), Inputs::default());
        let record = |seq: u64, bytes: &[u8], closes| {
            let length = u32::try_from(bytes.len()).unwrap();
            [&Head { closes, length, seq }.encode()[..], bytes].concat()
        };
        let whole = [record(1, b"one\n", false), record(2, b"", true)].concat();
        let read = |log: &[u8]| {
            std::fs::write(dir.path().join(STDIN_LOG), log).unwrap();
            Inputs::read(dir.path()).unwrap()
        };
        assert_eq!(read(&whole), Inputs { bytes: b"one\n".to_vec(), last: 2, closed: true });
        for cut in 0..whole.len() {
            let inputs = read(&whole[..cut]);
            assert_eq!(inputs.last, u64::from(cut >= 20), "cut at {cut}");
            assert!(!inputs.closed);
        }
    }
}
