//! Says once that a daemon has stopped answering, while somebody follows it. It asks beside the
//! stream and decides nothing: who follows goes on as before.

use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use tokio::task::JoinHandle;

use super::connection::{Trouble, send};
use crate::home::Home;
use crate::output::talk;

/// After this time without an answer a person is told.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// What is said then.
pub(super) const UNANSWERED: &str = "the daemon does not answer yet; waiting. If it hangs: \
    `tidegate daemon start --takeover` replaces it, jobs go on";

/// Asks now and then, until it is dropped or nobody answered.
pub(super) struct Vigil {
    task: JoinHandle<()>,
}

impl Vigil {
    /// Begins to ask. It must be called within a runtime.
    pub(super) fn begin(home: &Home) -> Self {
        let home = home.clone();
        let task = tokio::spawn(async move {
            while !is_unanswered(&home).await {
                tokio::time::sleep(PATIENCE).await;
            }
            talk(UNANSWERED);
        });
        Self { task }
    }
}

impl Drop for Vigil {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whether somebody listens and says nothing.
async fn is_unanswered(home: &Home) -> bool {
    let request =
        Request::get("/healthz").header("host", "tidegate").body(Full::<Bytes>::default());
    let Ok(request) = request else { return false };
    match send(home, request, PATIENCE).await {
        Err(Trouble::Silent(_)) => true,
        Ok(_) | Err(Trouble::Absent(_) | Trouble::Broken(_) | Trouble::Garbled(_)) => false,
    }
}
