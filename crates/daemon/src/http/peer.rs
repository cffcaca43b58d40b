//! Who is at the other end of a connection: asked of the kernel once, when it connects.

use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock};

use axum::extract::connect_info::Connected;
use axum::serve::IncomingStream;
use tidegate_process::peer::{self, Peer};
use tokio::net::UnixListener;

use super::scope::Scope;

/// A connection's other end, and what it may do once that was found out.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// `None` when the kernel did not say: nothing is granted.
    pub(super) peer: Option<Peer>,
    pub(super) scope: Arc<OnceLock<Scope>>,
}

impl Connected<IncomingStream<'_, UnixListener>> for Caller {
    fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Self {
        let peer = peer::peer(stream.io().as_fd())
            .inspect_err(|error| tracing::warn!(%error, "cannot tell who connected"))
            .ok();
        Self { peer, scope: Arc::default() }
    }
}
