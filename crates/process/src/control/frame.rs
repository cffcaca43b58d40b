//! Frames of an attached connection: after an accepted `attach` both sides speak these and no more
//! lines.
//!
//! | bytes | what |
//! |---|---|
//! | 0 | kind, see [`FrameKind`] |
//! | 1-4 | length of the rest, little-endian, [`FRAME_BYTES_MAX`] at most |
//! | 5- | payload |
//!
//! A kind that a side does not know is passed over: later versions add kinds, none changes.

/// Longest payload, in bytes.
pub const FRAME_BYTES_MAX: usize = 4 << 20;

/// Bytes before a payload.
const HEAD_BYTES: usize = 5;

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// From the shim: all that a terminal in its initial state needs to look like this one. Comes
    /// first, and again after output was dropped because the client did not read it.
    Snapshot,
    /// From the shim: what the job wrote, without the questions that the shim answers itself.
    Output,
    /// From the shim: the size of the terminal changed; rows and columns, two bytes each.
    Size,
    /// From the shim: the job wrote its last byte. Nothing follows.
    End,
    /// To the shim: what was typed.
    Input,
    /// To the shim: the client's window changed; rows and columns, two bytes each.
    Resize,
}

impl FrameKind {
    const ALL: [Self; 6] =
        [Self::Snapshot, Self::Output, Self::Size, Self::End, Self::Input, Self::Resize];

    fn number(self) -> u8 {
        match self {
            Self::Snapshot => 1,
            Self::Output => 2,
            Self::Size => 3,
            Self::End => 4,
            Self::Input => 16,
            Self::Resize => 17,
        }
    }
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalFrame {
    /// What it carries.
    pub kind: FrameKind,
    /// The payload.
    pub bytes: Vec<u8>,
}

impl TerminalFrame {
    /// A frame with a size as its payload.
    pub fn size(kind: FrameKind, rows: u16, cols: u16) -> Self {
        Self { kind, bytes: [rows.to_le_bytes(), cols.to_le_bytes()].concat() }
    }

    /// Rows and columns, of a frame that carries them.
    pub fn as_size(&self) -> Option<(u16, u16)> {
        let [r0, r1, c0, c1] = *self.bytes.first_chunk()?;
        Some((u16::from_le_bytes([r0, r1]), u16::from_le_bytes([c0, c1])))
    }
}

/// Appends a frame to `out`; a payload that is too long becomes several frames of output or input.
pub fn encode_frame(out: &mut Vec<u8>, kind: FrameKind, bytes: &[u8]) {
    let mut rest = bytes;
    loop {
        let (part, left) = rest.split_at(rest.len().min(FRAME_BYTES_MAX));
        out.push(kind.number());
        // A part has at most FRAME_BYTES_MAX bytes.
        out.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(part);
        rest = left;
        if rest.is_empty() {
            return;
        }
    }
}

/// The other side sent a frame that is too long: the connection is of no use any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {length} bytes is too long")]
pub struct FrameTooLong {
    /// Its length.
    pub length: usize,
}

/// Takes whole frames off the front of `received`.
///
/// # Errors
/// [`FrameTooLong`].
pub fn decode_frames(received: &mut Vec<u8>) -> Result<Vec<TerminalFrame>, FrameTooLong> {
    let mut frames = Vec::new();
    let mut at = 0;
    while let Some(head) = received.get(at..at + HEAD_BYTES) {
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(FrameTooLong { length });
        }
        let start = at + HEAD_BYTES;
        let Some(bytes) = received.get(start..start + length) else { break };
        let kind = FrameKind::ALL.into_iter().find(|kind| kind.number() == head[0]);
        frames.extend(kind.map(|kind| TerminalFrame { kind, bytes: bytes.to_vec() }));
        at = start + length;
    }
    received.drain(..at);
    Ok(frames)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_any_cut() {
        let mut wire = Vec::new();
        encode_frame(&mut wire, FrameKind::Output, b"hello");
        encode_frame(&mut wire, FrameKind::End, b"");
        for cut in 0..wire.len() {
            let mut received = wire[..cut].to_vec();
            let mut frames = decode_frames(&mut received).unwrap();
            received.extend_from_slice(&wire[cut..]);
            frames.extend(decode_frames(&mut received).unwrap());
            let kinds: Vec<_> = frames.iter().map(|frame| frame.kind).collect();
            assert_eq!(kinds, [FrameKind::Output, FrameKind::End], "{cut}");
            assert_eq!(frames[0].bytes, b"hello");
        }
    }

    #[test]
    fn frame_of_an_unknown_kind_is_passed_over() {
        let mut wire = vec![99, 2, 0, 0, 0, b'x', b'y'];
        encode_frame(&mut wire, FrameKind::Input, b"z");
        let frames = decode_frames(&mut wire).unwrap();
        assert_eq!(frames, [TerminalFrame { kind: FrameKind::Input, bytes: b"z".to_vec() }]);
    }

    #[test]
    fn frame_that_is_too_long_is_refused() {
        let mut wire = vec![16, 0, 0, 0, 255];
        assert_eq!(decode_frames(&mut wire), Err(FrameTooLong { length: 0xff00_0000 }));
    }
}
