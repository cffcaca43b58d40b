//! One connection to the daemon and one exchange on it. It decides nothing: no retry, no start.

use std::io;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tidegate_protocol::{Envelope, Problem};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::socket::Address;
use crate::home::Home;

/// Largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// Why an exchange has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// Nobody listens: nothing was sent.
    #[error("nobody listens: {0}")]
    Absent(io::Error),
    /// The connection broke: whether the request was carried out is not known.
    #[error("the connection broke: {0}")]
    Broken(hyper::Error),
    /// No answer came in time: whether the request was carried out is not known.
    #[error("no answer came within {} s", .0.as_secs())]
    Silent(Duration),
    /// The answer is not one of ours.
    #[error("the answer is not understood: {0}")]
    Garbled(String),
}

/// Sends a request on a connection of its own and gives the response, whose body is still to come.
///
/// # Errors
/// [`Trouble`]; never [`Trouble::Garbled`].
pub(crate) async fn send(
    home: &Home,
    request: Request<Full<Bytes>>,
    limit: Duration,
) -> Result<Response<Incoming>, Trouble> {
    let mut sender = connect(home, limit).await?;
    match timeout(limit, sender.send_request(request)).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(Trouble::Broken(error)),
        Err(_) => Err(Trouble::Silent(limit)),
    }
}

/// Reads the envelope of a response.
///
/// # Errors
/// [`Trouble`]; the inner error is the daemon's refusal.
pub(crate) async fn envelope(
    response: Response<Incoming>,
    limit: Duration,
) -> Result<Result<serde_json::Value, Problem>, Trouble> {
    let status = response.status();
    let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect();
    let body = match timeout(limit, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) => match error.downcast::<hyper::Error>() {
            Ok(error) => return Err(Trouble::Broken(*error)),
            Err(error) => return Err(Trouble::Garbled(error.to_string())),
        },
        Err(_) => return Err(Trouble::Silent(limit)),
    };
    match serde_json::from_slice::<Envelope>(&body) {
        Ok(envelope) => Ok(envelope.into_result()),
        Err(error) => Err(Trouble::Garbled(format!("status {status}: {error}"))),
    }
}

async fn connect(home: &Home, limit: Duration) -> Result<SendRequest<Full<Bytes>>, Trouble> {
    let address = Address::of(home).map_err(Trouble::Absent)?;
    let stream = match timeout(limit, UnixStream::connect(address.path())).await {
        Ok(stream) => stream.map_err(Trouble::Absent)?,
        Err(_) => return Err(Trouble::Silent(limit)),
    };
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(Trouble::Broken)?;
    // It ends with its request; what goes wrong on it is seen there.
    tokio::spawn(connection.with_upgrades());
    Ok(sender)
}
