//! A few permanent threads for blocking work, at once or after a while.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

type Work = Box<dyn FnOnce() + Send>;

/// The way to the threads; cheap to clone.
#[derive(Clone)]
pub struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    due: BTreeMap<(Instant, u64), Work>,
    numbered: u64,
    closed: bool,
    /// Threads that have not ended.
    serving: usize,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").field("waiting", &self.shared.state().due.len()).finish()
    }
}

impl Workers {
    /// Starts `count` threads. They end, after the work that they are at, when [`Workers::close`]
    /// is called.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(count: usize) -> std::io::Result<(Self, Vec<JoinHandle<()>>)> {
        let state = Mutex::new(State { serving: count, ..State::default() });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let threads = (0..count).map(|number| {
            let shared = Arc::clone(&shared);
            let name = format!("worker-{number}");
            std::thread::Builder::new().name(name).spawn(move || shared.serve())
        });
        let threads = threads.collect::<Result<Vec<_>, _>>()?;
        Ok((Self { shared }, threads))
    }

    /// Does `work` as soon as a thread is free.
    pub fn now(&self, work: impl FnOnce() + Send + 'static) {
        self.after(Duration::ZERO, work);
    }

    /// Does `work` after a while.
    pub fn after(&self, wait: Duration, work: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.state();
        state.numbered += 1;
        let key = (Instant::now() + wait, state.numbered);
        state.due.insert(key, Box::new(work));
        self.shared.changed.notify_one();
    }

    /// Lets the threads end. Work that has not begun is dropped: a restart finds it again.
    pub fn close(&self) {
        let mut state = self.shared.state();
        state.closed = true;
        state.due.clear();
        self.shared.changed.notify_all();
    }

    /// Waits until the threads have ended, for `patience` at the most. Whether they have.
    pub fn ended_within(&self, patience: Duration) -> bool {
        let state = self.shared.state();
        let waited = self.shared.changed.wait_timeout_while(state, patience, |s| s.serving > 0);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.serving == 0
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Work runs outside of the lock, so no panic of it can leave the queue half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        while let Some(work) = self.next() {
            // A panic in one piece of work must not take the thread from all others.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            if outcome.is_err() {
                tracing::error!("BUG: a piece of work panicked");
            }
        }
        self.state().serving -= 1;
        self.changed.notify_all();
    }

    fn next(&self) -> Option<Work> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            let now = Instant::now();
            let Some(at) = state.due.keys().next().map(|(at, _)| *at) else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if at <= now {
                return state.due.pop_first().map(|(_, work)| work);
            }
            let waited = self.changed.wait_timeout(state, at - now);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn work_is_done_in_the_order_of_its_time_and_a_panic_stops_nobody() {
        let (workers, threads) = Workers::start(1).unwrap();
        let (sender, done) = channel();
        let (late, early) = (sender.clone(), sender.clone());
        workers.after(Duration::from_millis(60), move || late.send("late").unwrap());
        workers.now(|| panic!("on purpose"));
        workers.now(move || early.send("early").unwrap());
        let patience = Duration::from_secs(20);
        assert_eq!(done.recv_timeout(patience).unwrap(), "early");
        assert_eq!(done.recv_timeout(patience).unwrap(), "late");
        workers.close();
        for thread in threads {
            thread.join().unwrap();
        }
    }

    #[test]
    fn end_is_waited_for_as_long_as_work_is_under_way_and_patience_lasts() {
        let (workers, _threads) = Workers::start(2).unwrap();
        let (sender, begun) = channel();
        let (release, held) = channel::<()>();
        workers.now(move || {
            sender.send(()).unwrap();
            let _ = held.recv();
        });
        begun.recv().unwrap();
        workers.close();
        assert!(!workers.ended_within(Duration::from_millis(30)));
        drop(release);
        assert!(workers.ended_within(Duration::from_secs(20)));
    }
}
