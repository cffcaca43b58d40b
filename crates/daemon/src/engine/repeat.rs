//! What a retry of a terminal run executes: the same work, without what has landed.

use tidegate_core::launcher::Launcher;
use tidegate_core::run::{Plan, Work};

/// The work that is left of a run that has ended.
pub(super) fn what_is_left(work: &Work) -> Work {
    match work {
        Work::Launcher { spec, state } => {
            let mut spec = spec.clone();
            // A launcher goes on at the wave that it had reached.
            let reached = state.settled.as_ref().and_then(|settled| settled.wave);
            if spec.selection.start_wave.is_some() && reached.is_some() {
                spec.selection.start_wave = reached;
            }
            Work::Launcher { spec, state: Launcher::default() }
        }
        Work::Plan { spec, state } => {
            let mut spec = spec.clone();
            spec.features.retain(|id, _| !state.is_landed(id));
            for wave in &mut spec.waves {
                wave.features.retain(|id| !state.is_landed(id));
            }
            spec.waves.retain(|wave| !wave.features.is_empty());
            // A need that has landed holds nothing back.
            for feature in spec.features.values_mut() {
                feature.needs.retain(|need| !state.is_landed(need));
            }
            let state = Plan::new(&spec);
            Work::Plan { spec, state }
        }
    }
}
