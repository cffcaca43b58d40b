//! What can be asked of a store. Nothing here writes; readers and the owner ask alike.

mod commands;
mod events;
mod home;
mod kept;
mod list;
mod parts;
mod people;
mod run;
mod turns;
mod view;

pub use commands::CommandFilter;
pub use events::{EventFilter, EventRow};
pub use home::{DaemonRow, HomeRow};
pub use kept::{LandedRow, OutboxRow, QuarantinedRow};
pub use list::{ListFilter, Listed, Page, Resolved, WaveFilter};
pub use parts::KnownJob;
pub use turns::TurnRow;
pub use view::View;

use view::{corrupt, parse, parse_optional};
