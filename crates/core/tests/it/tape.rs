//! Choices for a model world: read from a tape, and the calmest one once the tape has ended.

/// A finite run of choices. Small tapes and small bytes are simple stories, so shrinking works.
#[derive(Debug, Clone)]
pub(crate) struct Tape {
    bytes: std::vec::IntoIter<u8>,
}

impl Tape {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into_iter() }
    }

    /// One of `0..count`; 0 when the tape has ended.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(byte) % count.max(1))
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.bytes.len() == 0
    }
}
