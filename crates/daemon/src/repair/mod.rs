//! Repair of a home: what to do about a store that is damaged or went back in time, and about jobs
//! that it does not know.
//!
//! Nothing here guesses. A job of which the store knows nothing is neither ended nor forgotten: it
//! is named, and while it lives nothing new starts, until a person has said what is to become of
//! it.

mod hold;
mod restore;
mod strays;
mod verdicts;

pub use hold::Hold;
pub(crate) use hold::holding;
pub use restore::{RestoreError, Restored, back_up, restore};
pub use strays::{Stray, of_home, strays};
pub use tidegate_store::backups;
pub use verdicts::{Owner, VerdictError, drop_stray, is_acknowledged, keep, owner, stop};
