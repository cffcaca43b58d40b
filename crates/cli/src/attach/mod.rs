//! Attaching to the terminal of a job: the user's terminal on one side, the daemon's relay on the
//! other, and what is shown when there is nothing to attach to.

mod keys;
mod screen;
mod session;
mod target;

pub(crate) use keys::Keys;
pub(crate) use screen::Screen;
pub(crate) use session::{Ended, Session};
pub(crate) use target::{Target, choose};
