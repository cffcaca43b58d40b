//! The server as a whole: its thread, its runtime, its end.

use std::io;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::watch;

use super::app::{App, Site};
use super::peer::Caller;
use super::routes::router;

/// Threads that may block at once for reads and submits; further work waits for one.
const BLOCKING_THREADS: usize = 16;
/// How long requests under way may take once the server is to end.
const END_LIMIT: Duration = Duration::from_secs(2);

/// A running server. Dropping it does not end it: call [`Server::stop`].
#[derive(Debug)]
pub struct Server {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

/// Serves `site` on `listener`, on a thread of its own.
///
/// # Errors
/// When the thread or its runtime cannot be made.
pub fn start(listener: UnixListener, site: Site) -> io::Result<Server> {
    listener.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("http")
        .build()?;
    let listener = {
        let _inside = runtime.enter();
        tokio::net::UnixListener::from_std(listener)?
    };
    let (stop, stopping) = watch::channel(false);
    let app = Arc::new(App::new(site, stopping.clone()));
    let thread = std::thread::Builder::new().name("http".into()).spawn(move || {
        runtime.block_on(serve(listener, app, stopping));
        // A blocked read must not keep the daemon from ending.
        runtime.shutdown_timeout(Duration::from_millis(100));
    })?;
    Ok(Server { stop, thread })
}

async fn serve(
    listener: tokio::net::UnixListener,
    app: Arc<App>,
    mut stopping: watch::Receiver<bool>,
) {
    let mut told = stopping.clone();
    let service = router(app).into_make_service_with_connect_info::<Caller>();
    let end = async move {
        // A sender that is gone means the same.
        let _ = told.wait_for(|stop| *stop).await;
    };
    let serving = axum::serve(listener, service).with_graceful_shutdown(end).into_future();
    let overdue = async {
        let _ = stopping.wait_for(|stop| *stop).await;
        tokio::time::sleep(END_LIMIT).await;
    };
    tokio::select! {
        ended = serving => if let Err(error) = ended {
            tracing::error!(%error, "the server ended");
        },
        () = overdue => tracing::warn!("requests were still under way at the end"),
    }
}

impl Server {
    /// Takes no further requests, ends streams, lets requests under way end, and waits for it.
    pub fn stop(self) {
        self.stop.send_replace(true);
        if self.thread.join().is_err() {
            tracing::error!("the server panicked");
        }
    }
}
