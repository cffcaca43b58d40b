//! What must hold of a world: at every start of a job, every landing, every turn, every end of a
//! run, and of the log in the end. Oracles look at the played host and repositories where they
//! can: those know what really happened.

mod book;
mod ending;
mod landing;
mod log;
mod starts;
mod turns;

pub(super) use book::Book;
pub(super) use turns::describe;
