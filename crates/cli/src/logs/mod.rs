//! The output of a run's jobs: which jobs are meant, their bytes, and waking up for more.

mod choice;
mod hints;
mod stamps;
mod tail;

pub(crate) use choice::{Choice, are_one_thing, heading};
pub(crate) use hints::Hints;
pub(crate) use stamps::Stamped;
pub(crate) use tail::{Tail, end_of_file, last_bytes};
