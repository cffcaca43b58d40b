//! One frame of the index: 32 bytes, little-endian, at a multiple of 32.
//!
//! | bytes | what |
//! |---|---|
//! | 0 | version, 1 |
//! | 1 | kind: 0 data, 1 gap |
//! | 2 | stream: 1 standard output, 2 standard error |
//! | 3 | 0 |
//! | 4-7 | segment |
//! | 8-15 | offset in the segment |
//! | 16-19 | length; of a gap: bytes lost, not in the segment |
//! | 20-23 | 0 |
//! | 24-31 | wall time of the first byte, milliseconds |

/// Size of a frame.
pub const FRAME_BYTES: usize = 32;

const FRAME_VERSION: u8 = 1;

/// Which descriptor of the job the bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a frame stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// Bytes in a segment.
    Data,
    /// Bytes that were drained but could not be stored.
    Gap,
}

/// A run of bytes of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Data or gap.
    pub kind: FrameKind,
    /// Where the bytes came from.
    pub stream: Stream,
    /// Number of the segment.
    pub segment: u32,
    /// Offset in the segment, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
    /// Wall time of the first byte, in milliseconds.
    pub at_wall_ms: u64,
}

impl Frame {
    /// The frame as it stands in the index.
    pub(crate) fn encode(&self) -> [u8; FRAME_BYTES] {
        let mut bytes = [0; FRAME_BYTES];
        bytes[0] = FRAME_VERSION;
        bytes[1] = match self.kind {
            FrameKind::Data => 0,
            FrameKind::Gap => 1,
        };
        bytes[2] = match self.stream {
            Stream::Stdout => 1,
            Stream::Stderr => 2,
        };
        bytes[4..8].copy_from_slice(&self.segment.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.length.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.at_wall_ms.to_le_bytes());
        bytes
    }

    /// Reads a frame; `None` when the bytes are not one that this version knows.
    pub fn decode(bytes: &[u8; FRAME_BYTES]) -> Option<Self> {
        let four = |at: usize| bytes[at..at + 4].try_into().map(u32::from_le_bytes).ok();
        let eight = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        if bytes[0] != FRAME_VERSION {
            return None;
        }
        Some(Self {
            kind: match bytes[1] {
                0 => FrameKind::Data,
                1 => FrameKind::Gap,
                _ => return None,
            },
            stream: match bytes[2] {
                1 => Stream::Stdout,
                2 => Stream::Stderr,
                _ => return None,
            },
            segment: four(4)?,
            offset: eight(8)?,
            length: four(16)?,
            at_wall_ms: eight(24)?,
        })
    }

    /// Takes `next` in when it only continues this frame; false when it needs one of its own.
    pub(crate) fn absorb(&mut self, next: &Self) -> bool {
        let follows = self.kind == next.kind
            && self.stream == next.stream
            && self.segment == next.segment
            && match self.kind {
                FrameKind::Data => self.offset + u64::from(self.length) == next.offset,
                FrameKind::Gap => self.offset == next.offset,
            };
        match self.length.checked_add(next.length) {
            Some(length) if follows => {
                self.length = length;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame {
        kind: FrameKind::Data,
        stream: Stream::Stderr,
        segment: 3,
        offset: 1 << 40,
        length: 77,
        at_wall_ms: 1_700_000_000_123,
    };

    #[test]
    fn frame_survives_encoding() {
        assert_eq!(Frame::decode(&FRAME.encode()), Some(FRAME));
        let gap = Frame { kind: FrameKind::Gap, stream: Stream::Stdout, ..FRAME };
        assert_eq!(Frame::decode(&gap.encode()), Some(gap));
    }

    #[test]
    fn frame_of_zeroes_or_an_unknown_version_is_refused() {
        assert_eq!(Frame::decode(&[0; FRAME_BYTES]), None);
        let mut bytes = FRAME.encode();
        bytes[0] = 9;
        assert_eq!(Frame::decode(&bytes), None);
    }

    #[test]
    fn frame_absorbs_only_what_follows_it() {
        let mut first = FRAME;
        let next = Frame { offset: FRAME.offset + 77, length: 3, ..FRAME };
        assert!(first.absorb(&next));
        assert_eq!(first.length, 80);
        assert!(!first.absorb(&next));
        assert!(!first.absorb(&Frame {
            stream: Stream::Stdout,
            offset: FRAME.offset + 80,
            ..next
        }));
    }
}
