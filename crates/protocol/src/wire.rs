//! The constants of the wire: prefix, headers, limits, version.

/// Path prefix of every versioned route.
pub const API_PREFIX: &str = "/api/v1";
/// Request header: the version of the client. Another one than the daemon's is refused on writes.
pub const VERSION_HEADER: &str = "tidegate-version";
/// Request header: names one command, so that it is executed once however often it is sent.
pub const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// Largest request body that is read, in bytes.
pub const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Time between two heartbeat comments of an event stream, in milliseconds.
pub const STREAM_HEARTBEAT_MS: u64 = 15_000;
/// Version of this build; client and daemon compare it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
