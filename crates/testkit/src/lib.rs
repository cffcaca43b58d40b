//! What the tests of Tidegate share: builders, homes that vanish, the list of faults, and a
//! simulated world around the real engine and the real store.
//!
//! A simulation ([`sim`]) is decided by one number, its seed. It must not read a clock, and takes
//! no random bits from anywhere else.

pub mod builders;
pub mod faults;
pub mod home;
pub mod sim;
pub mod world;
