//! Tests of the run machine.
