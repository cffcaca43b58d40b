//! The system calls that neither std nor rustix offers safely, each behind a safe function.
//!
//! All `unsafe` of the workspace lives in this folder. It knows nothing of jobs.

pub(crate) mod deathsig;
pub(crate) mod dnotify;
pub(crate) mod exec;
pub(crate) mod fork;
pub(crate) mod landlock;
pub(crate) mod ofd;
pub(crate) mod pidfd;
pub(crate) mod signals;
pub(crate) mod socket;
pub(crate) mod wait;
