//! Content addresses of pinned bytes.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use tidegate_core::ids::BlobId;

/// The content address of `bytes`.
pub fn pin(bytes: &[u8]) -> BlobId {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(hex, "{byte:02x}");
    }
    BlobId::new(hex).unwrap_or_else(|| unreachable!("BUG: 32 bytes are 64 hex digits"))
}
