//! The tools that an agent has inside its job, served to it by the Model Context Protocol over its
//! standard streams: asking people, reading what they said, and telling how far the work is.

mod message;
mod serve;
mod tools;

pub(crate) use serve::serve;
