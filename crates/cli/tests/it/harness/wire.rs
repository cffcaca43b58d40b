//! One HTTP request over a home's socket, as a client would send it that is not ours.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::Value;

/// Status and body of an answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The envelope.
    pub(crate) body: Value,
}

/// Posts `body` to a route under `/api/v1`, with these further headers.
///
/// # Errors
/// When nobody listens, or the connection breaks before the answer is whole.
pub(crate) fn post(
    home: &Path,
    route: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> io::Result<Answer> {
    // A socket's address is short: the folder's path may not be.
    let folder = std::fs::File::open(home)?;
    let address = format!("/proc/self/fd/{}/daemon.sock", std::os::fd::AsRawFd::as_raw_fd(&folder));
    let mut stream = UnixStream::connect(address)?;
    stream.set_read_timeout(Some(super::LIMIT))?;
    let body = body.to_string();
    let more: Vec<String> =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let more = more.concat();
    let told = headers.iter().any(|(name, _)| *name == "tidegate-version");
    let version =
        if told { "" } else { concat!("tidegate-version: ", env!("CARGO_PKG_VERSION"), "\r\n") };
    let length = body.len();
    let request = format!(
        "POST /api/v1{route} HTTP/1.1\r\nhost: tidegate\r\n{version}{more}\
         content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(broken)?;
    let body = serde_json::from_str(body).map_err(|_| broken())?;
    Ok(Answer { status, body })
}
