//! How documents look to people. Nothing here reads or decides anything.

mod age;
mod event;
mod inbox;
mod line;
mod overview;
mod progress;
mod run_page;
pub(crate) mod style;
mod table;

pub(crate) use event::event;
pub(crate) use inbox::inbox;
pub(crate) use line::oneline;
pub(crate) use overview::{lanes, lanes_of};
pub(crate) use progress::Progress;
#[cfg(test)]
pub(crate) use run_page::sample;
pub(crate) use run_page::{features, run_page, summary, wave_page};
pub(crate) use table::{runs, table};
