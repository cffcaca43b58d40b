//! The framing of server-sent events: bytes in, events out. It knows no connection.

/// Longest event that is kept, in bytes; what is longer is a broken stream.
const EVENT_BYTES_MAX: usize = 16 << 20;

/// One event of the stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SseEvent {
    /// Its `id`: the sequence number, as text.
    pub(crate) id: Option<String>,
    /// Its `event` field; `message` when it had none.
    pub(crate) kind: String,
    /// Its `data` lines, joined by line feeds.
    pub(crate) data: String,
}

/// The stream holds an event that is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is too long")]
pub(crate) struct EventTooLong;

/// Cuts a byte stream into events, however it is split into chunks.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    line: Vec<u8>,
    after_return: bool,
    event: Pending,
}

#[derive(Debug, Default)]
struct Pending {
    id: Option<String>,
    kind: Option<String>,
    data: Option<String>,
}

impl Parser {
    /// Takes a chunk and gives the events that it completes. Comments (heartbeats) give none.
    ///
    /// # Errors
    /// [`EventTooLong`].
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<Vec<SseEvent>, EventTooLong> {
        let mut events = Vec::new();
        for &byte in chunk {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    events.extend(self.end_line());
                }
                _ => {
                    self.after_return = false;
                    self.line.push(byte);
                }
            }
            let held = self.line.len() + self.event.data.as_ref().map_or(0, String::len);
            if held > EVENT_BYTES_MAX {
                return Err(EventTooLong);
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let Pending { id, kind, data } = std::mem::take(&mut self.event);
            let kind = kind.unwrap_or_else(|| "message".to_owned());
            return data.map(|data| SseEvent { id, kind, data });
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.event.id = Some(value.to_owned()),
            "event" => self.event.kind = Some(value.to_owned()),
            "data" => match &mut self.event.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.event.data = Some(value.to_owned()),
            },
            // Comments have an empty field name; unknown fields are passed over.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const STREAM: &[u8] = b": hi\n\nid: 7\nevent: submitted\ndata: {\"a\":\ndata: 1}\n\n\
        data: \xc3\xa9\r\n\r\nid:8\nretry: 5\nevent\n\nevent: x\ndata:\n\n";

    fn event(id: Option<&str>, kind: &str, data: &str) -> SseEvent {
        SseEvent { id: id.map(str::to_owned), kind: kind.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn stream_split_anywhere_gives_the_same_events() {
        let expected = vec![
            event(Some("7"), "submitted", "{\"a\":\n1}"),
            event(None, "message", "\u{e9}"),
            event(None, "x", ""),
        ];
        for at in 0..=STREAM.len() {
            let mut parser = Parser::default();
            let mut events = parser.push(&STREAM[..at]).unwrap();
            events.extend(parser.push(&STREAM[at..]).unwrap());
            assert_eq!(events, expected, "split at {at}");
        }
    }

    #[test]
    fn event_without_its_blank_line_is_not_given() {
        assert_eq!(Parser::default().push(b"id: 1\ndata: x\n").unwrap(), []);
    }

    #[test]
    fn event_beyond_the_limit_is_refused() {
        let mut parser = Parser::default();
        let chunk = vec![b'x'; EVENT_BYTES_MAX + 1];
        assert_eq!(parser.push(&chunk), Err(EventTooLong));
    }
}
