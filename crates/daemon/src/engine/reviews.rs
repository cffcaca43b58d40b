//! Commands of those who review: consent to a commit, and the wish for another one. They are about the
//! commit that was looked at, and a token about the one review that it names.

use tidegate_core::command::Awaits;
use tidegate_core::ids::{FeatureId, Oid, RunId};
use tidegate_core::run::{Feature, Input, Run, awaits_person};
use tidegate_protocol::{ErrorCode, Problem};

use super::requests::{AtWork, Failed, Outcome, not_found};

impl AtWork<'_, '_, '_, '_> {
    /// Records a consent.
    pub(super) fn approve(
        &mut self,
        run: &RunId,
        id: &FeatureId,
        commit: &Oid,
        review: Option<u32>,
        actor: &str,
    ) -> Result<Outcome, Failed> {
        let before = self.find(run)?;
        let (feature, awaits) = looked_at(&before, id)?;
        if let Some(number) = review.filter(|number| *number != feature.reviews) {
            let message = format!(
                "the token is of review {number} of `{id}`, which is over: it was used, or the commit \
                 went back to its builder"
            );
            return Err(not_current(feature, &message).with("review", feature.reviews).into());
        }
        if review.is_some() && !awaits {
            let message = format!("the token was used: `{id}` is {}", feature.state.word());
            let problem = Problem::new(ErrorCode::InvalidStatusTransition, message);
            return Err(problem.with("state", feature.state.word()).into());
        }
        still_this(feature, id, commit, awaits)?;
        let (feature, commit) = (id.clone(), commit.clone());
        let input = Input::Approve { feature, commit, actor: actor.to_owned() };
        Ok(self.input(run, &input)?.until(Awaits::Landing))
    }

    /// Records that a commit is wanted otherwise.
    pub(super) fn deny(
        &mut self,
        run: &RunId,
        id: &FeatureId,
        commit: &Oid,
        (actor, comments): (&str, &str),
    ) -> Result<Outcome, Failed> {
        let before = self.find(run)?;
        let (feature, awaits) = looked_at(&before, id)?;
        still_this(feature, id, commit, awaits)?;
        let (feature, commit) = (id.clone(), commit.clone());
        let (actor, comments) = (actor.to_owned(), comments.to_owned());
        self.input(run, &Input::Deny { feature, commit, actor, comments })
    }
}

/// The feature, and whether a person is asked about it.
fn looked_at<'r>(run: &'r Run, id: &FeatureId) -> Result<(&'r Feature, bool), Problem> {
    let missing = || not_found("feature", id.as_str());
    let (spec, plan) = run.plan().ok_or_else(missing)?;
    let feature = plan.features.get(id).ok_or_else(missing)?;
    Ok((feature, awaits_person(spec, feature)))
}

/// A feature that waits for a word has another commit by now.
fn still_this(
    feature: &Feature,
    id: &FeatureId,
    commit: &Oid,
    awaits: bool,
) -> Result<(), Problem> {
    let current = feature.tested.as_ref().map(|tested| &tested.commit);
    if awaits && current != Some(commit) {
        let message = format!("{commit} is not the commit of `{id}` that is in review");
        return Err(not_current(feature, &message));
    }
    Ok(())
}

fn not_current(feature: &Feature, message: &str) -> Problem {
    let current = feature.tested.as_ref().map(|tested| tested.commit.to_string());
    Problem::new(ErrorCode::VersionNotCurrent, message)
        .hint("`tidegate review` shows what is in review now, and its token")
        .with("current", current)
}
