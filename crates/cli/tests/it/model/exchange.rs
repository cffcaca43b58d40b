//! One request and its answer on the wire: as much of HTTP as the agents need.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::trouble::Refusal;

/// A request as it came.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Value,
}

/// An answer, in pieces and as a whole.
pub(super) struct Reply {
    pub(super) events: Vec<Event>,
    pub(super) whole: Value,
}

/// A piece.
pub(super) struct Event {
    pub(super) name: Option<&'static str>,
    pub(super) data: String,
}

/// An id that no other thing has.
pub(super) fn fresh(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}{:020}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Reads a request; `None` when the other side has hung up.
pub(super) fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (mut length, mut chunked) = (0_usize, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "transfer-encoding" => chunked = value.contains("chunked"),
            "expect" => (&*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            _ => {}
        }
    }
    let bytes = if chunked { chunks(&mut reader)? } else { exactly(&mut reader, length)? };
    Ok(Some(Request { method, path, body: serde_json::from_slice(&bytes).unwrap_or_default() }))
}

fn exactly(reader: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size)?;
        let size = size.trim_end().split(';').next().unwrap_or_default().to_owned();
        let size = usize::from_str_radix(&size, 16).map_err(io::Error::other)?;
        bytes.extend(exactly(reader, size)?);
        reader.read_line(&mut String::new())?;
        if size == 0 {
            return Ok(bytes);
        }
    }
}

/// Answers with a document.
pub(super) fn document(mut stream: &TcpStream, body: &Value) -> io::Result<()> {
    refuse(&mut stream, &Refusal { status: 200, headers: Vec::new(), body: body.clone() })
}

/// Answers with an error.
pub(super) fn refuse(stream: &mut impl Write, refusal: &Refusal) -> io::Result<()> {
    let body = refusal.body.to_string();
    let mut head = format!(
        "HTTP/1.1 {} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n",
        refusal.status,
        body.len()
    );
    for (name, value) in &refusal.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes())
}

/// Answers piece by piece; the end of the connection is the end of the answer.
pub(super) fn stream(mut stream: &TcpStream, reply: &Reply) -> io::Result<()> {
    let mut text =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
            .to_owned();
    for event in &reply.events {
        if let Some(name) = event.name {
            let _ = writeln!(text, "event: {name}");
        }
        let _ = write!(text, "data: {}\n\n", event.data);
    }
    stream.write_all(text.as_bytes())
}
