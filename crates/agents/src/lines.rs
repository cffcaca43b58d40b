//! Bytes into lines, with bounded memory: whatever an agent writes, no more than one line of the
//! length that is allowed is kept.

/// Longest line that is read, in bytes; of a longer one the beginning is kept.
pub const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bytes that are kept of a line that is too long.
const KEPT_BYTES: usize = 256;

/// A line without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) bytes: &'a [u8],
    /// Whether it was longer than allowed, so that `bytes` is its beginning alone.
    pub(crate) oversized: bool,
}

/// Splits bytes into lines, wherever they are cut.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    open: Vec<u8>,
    oversized: bool,
}

impl Splitter {
    /// Takes bytes in, and hands each line that they end to `take`.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend(&bytes[..end]);
            self.finish(&mut take);
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes);
    }

    /// The line that is open, as far as it is kept.
    pub(crate) fn open(&self) -> &[u8] {
        &self.open
    }

    /// Ends the line that is open, if any.
    pub(crate) fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        let bytes = self.open.strip_suffix(b"\r").unwrap_or(&self.open);
        if !bytes.is_empty() {
            take(Line { bytes, oversized: self.oversized });
        }
        self.open.clear();
        if self.oversized {
            self.open = Vec::new();
        }
        self.oversized = false;
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.oversized {
            return;
        }
        if self.open.len() + bytes.len() <= LINE_BYTES_MAX {
            self.open.extend_from_slice(bytes);
            return;
        }
        self.oversized = true;
        let missing = KEPT_BYTES.saturating_sub(self.open.len()).min(bytes.len());
        self.open.extend_from_slice(&bytes[..missing]);
        self.open.truncate(KEPT_BYTES);
        self.open.shrink_to_fit();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn split(chunks: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let mut splitter = Splitter::default();
        let mut lines = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk, |line| lines.push((line.bytes.to_vec(), line.oversized)));
        }
        splitter.finish(|line| lines.push((line.bytes.to_vec(), line.oversized)));
        lines
    }

    #[test]
    fn lines_are_the_same_wherever_the_bytes_are_cut() {
        let text = b"one\r\ntwo\n\n\nthr\ree\nlast";
        let whole = split(&[text]);
        assert_eq!(whole.len(), 4);
        for at in 0..=text.len() {
            assert_eq!(split(&[&text[..at], &text[at..]]), whole, "cut at {at}");
        }
    }

    /// The lines that some bytes end, and those that are open at their end.
    fn all_lines(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let mut splitter = Splitter::default();
        splitter.feed(bytes, |line| lines.push(line.bytes.to_vec()));
        splitter.finish(|line| lines.push(line.bytes.to_vec()));
        lines
    }

    /// A cut changes nothing but the line that it is in, so that one is looked at for each cut.
    #[test]
    fn every_transcript_cut_at_every_byte_has_the_same_lines() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
        let folders = |path: &std::path::Path| std::fs::read_dir(path).unwrap();
        let cases = folders(&root).flat_map(|agent| folders(&agent.unwrap().path()));
        let mut cuts = 0;
        for case in cases {
            let bytes = std::fs::read(case.unwrap().path().join("stdout")).unwrap();
            let whole = all_lines(&bytes);
            let mut in_pieces = Vec::new();
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                let alone = all_lines(line);
                for at in 0..line.len() {
                    let mut splitter = Splitter::default();
                    let mut got = Vec::new();
                    splitter.feed(&line[..at], |line| got.push(line.bytes.to_vec()));
                    splitter.feed(&line[at..], |line| got.push(line.bytes.to_vec()));
                    let open = splitter.open().len();
                    assert!(open == 0 || line.last() != Some(&b'\n'), "what follows begins anew");
                    splitter.finish(|line| got.push(line.bytes.to_vec()));
                    assert_eq!(got, alone);
                    cuts += 1;
                }
                in_pieces.extend(alone);
            }
            assert_eq!(in_pieces, whole);
        }
        assert!(cuts > 100_000, "{cuts}");
    }

    #[test]
    fn a_line_that_is_too_long_keeps_its_beginning_and_harms_no_other() {
        let long = vec![b'x'; LINE_BYTES_MAX + 1];
        let lines = split(&[b"a\n", &long, &long, b"\nb\n"]);
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[1].0.len(), lines[1].1), (KEPT_BYTES, true));
        assert_eq!(lines[2], (b"b".to_vec(), false));
    }

    #[test]
    fn memory_for_a_line_is_bounded_by_the_longest_that_is_allowed() {
        let mut splitter = Splitter::default();
        for _ in 0..64 {
            splitter.feed(&vec![b'x'; 1024 * 1024], |_| panic!("no line has ended"));
            assert!(splitter.open.capacity() <= 2 * LINE_BYTES_MAX);
        }
        assert_eq!(splitter.open.capacity(), KEPT_BYTES);
    }
}
