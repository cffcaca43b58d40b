//! Which jobs of a run are meant.

use tidegate_protocol::JobDoc;

/// The jobs whose output is wanted. Without any of them: the launcher of a launcher run, else all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// This job.
    pub(crate) job: Option<String>,
    /// The jobs of this agent.
    pub(crate) agent: Option<String>,
    /// The jobs that work for this feature.
    pub(crate) feature: Option<String>,
    /// Of those, the attempts with this number.
    pub(crate) attempt: Option<u32>,
}

impl Choice {
    /// The jobs that are meant, oldest first.
    pub(crate) fn of<'j>(&self, jobs: &'j [JobDoc]) -> Vec<&'j JobDoc> {
        let launchers = jobs.iter().any(|job| job.purpose == "launcher");
        jobs.iter().filter(|job| self.takes(job, launchers)).collect()
    }

    /// What a person calls it.
    pub(crate) fn name(&self) -> String {
        let named = [("job", &self.job), ("agent", &self.agent), ("feature", &self.feature)];
        let named = named.iter().find_map(|(what, id)| Some(format!("{what} `{}`", id.as_ref()?)));
        named.unwrap_or_else(|| "job".to_owned())
    }

    /// Whether it is narrower than a run: then following ends with its latest job.
    pub(crate) fn is_narrow(&self) -> bool {
        self.job.is_some() || self.agent.is_some()
    }

    fn takes(&self, job: &JobDoc, launchers: bool) -> bool {
        let Self { job: id, agent, feature, attempt } = self;
        if attempt.is_some_and(|attempt| attempt != job.attempt) {
            return false;
        }
        if id.is_none() && agent.is_none() && feature.is_none() {
            return !launchers || job.purpose == "launcher";
        }
        id.as_ref().is_none_or(|id| *id == job.job_id)
            && agent.as_ref().is_none_or(|agent| is_agent(job, agent))
            && feature.as_ref().is_none_or(|feature| job.feature.as_ref() == Some(feature))
    }
}

/// Whether jobs are one, or the attempts at one thing: then their output has no headings.
pub(crate) fn are_one_thing(jobs: &[&JobDoc]) -> bool {
    let same = |pair: &[&JobDoc]| {
        let [one, other] = pair else { return true };
        one.purpose == other.purpose
            && one.feature == other.feature
            && one.gate == other.gate
            && one.agent_id == other.agent_id
    };
    jobs.windows(2).all(same)
}

/// An agent of a plan is called by its whole id, or by its feature when that has only one.
fn is_agent(job: &JobDoc, agent: &str) -> bool {
    let Some(id) = &job.agent_id else { return false };
    id == agent || id.split_once('/').is_some_and(|(feature, _)| feature == agent)
}

/// What a job is for, in a few words.
pub(crate) fn heading(job: &JobDoc) -> String {
    let of = |what: &Option<String>| what.as_ref().map(|name| format!(" {name}"));
    let name = of(&job.agent_id).or_else(|| of(&job.gate)).unwrap_or_default();
    let feature = of(&job.feature).filter(|_| job.gate.is_some()).unwrap_or_default();
    format!("==> {} {}{name}{feature}, attempt {} <==", job.job_id, job.purpose, job.attempt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_protocol::{AttachMode, SessionBackend, Timestamp};

    fn job(id: &str, purpose: &str, agent: Option<&str>) -> JobDoc {
        JobDoc {
            job_id: id.into(),
            run_id: "r0000010000".into(),
            purpose: purpose.into(),
            attempt: 1,
            feature: agent.and_then(|agent| agent.split_once('/')).map(|(name, _)| name.into()),
            gate: None,
            agent_id: agent.map(str::to_owned),
            iteration: None,
            state: "running".into(),
            reason: None,
            exit_code: None,
            signal: None,
            pid: None,
            runner_pid: None,
            created_at: Timestamp::from_ms(0),
            started_at: None,
            ended_at: None,
            ran_ms: None,
            output_bytes: None,
            detail: None,
            requires_human: false,
            session_backend: SessionBackend::Process,
            attach_mode: AttachMode::LogTail,
            dir: "/h/jobs/x".into(),
            recorded: true,
            session: None,
            resumed: None,
            told: None,
            usage: None,
            said: None,
        }
    }

    fn ids(choice: &Choice, jobs: &[JobDoc]) -> Vec<String> {
        choice.of(jobs).into_iter().map(|job| job.job_id.clone()).collect()
    }

    #[test]
    fn choice_of_a_launcher_run_is_its_launcher() {
        let jobs = [
            job("1", "launcher", None),
            job("2", "launcher_agent", Some("a")),
            job("3", "launcher", None),
        ];
        let choice = Choice::default();
        assert_eq!(ids(&choice, &jobs), ["1", "3"]);
        assert!(are_one_thing(&choice.of(&jobs)));
        let agent = Choice { agent: Some("a".into()), ..Choice::default() };
        assert_eq!(ids(&agent, &jobs), ["2"]);
        let second = Choice { attempt: Some(2), ..Choice::default() };
        assert_eq!(ids(&second, &jobs), Vec::<String>::new());
        let none = Choice { job: Some("9".into()), ..Choice::default() };
        assert_eq!(ids(&none, &jobs), Vec::<String>::new());
    }

    #[test]
    fn choice_of_a_plan_run_is_everything_with_headings() {
        let jobs = [job("1", "agent", Some("berths/builder")), job("2", "gate", Some("berths/x"))];
        let choice = Choice::default();
        assert_eq!(ids(&choice, &jobs), ["1", "2"]);
        assert!(!are_one_thing(&choice.of(&jobs)));
        let feature = Choice { feature: Some("berths".into()), ..Choice::default() };
        assert_eq!(ids(&feature, &jobs), ["1", "2"]);
        assert_eq!(heading(&jobs[0]), "==> 1 agent berths/builder, attempt 1 <==");
    }
}
