//! Composes what a shim is to run, from the run's pinned half and the job's place in it.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tidegate_agents::{Before, Brief, EVIDENCE_BYTES, Place, PromptInput, Tools};
use tidegate_core::ids::{FeatureId, JobId, Oid};
use tidegate_core::launcher::{resume_argv, start_argv};
use tidegate_core::limits;
use tidegate_core::manifest::Protocol;
use tidegate_core::plan::{FeatureSpec, PlanSpec, Role};
use tidegate_core::run::{Answer, Feature, Feedback, Job, Message, Purpose, Run};
use tidegate_process::JobDir;
use tidegate_process::output::OutputReader;
use tidegate_process::record::{Limits, OutputMode, Spec, Stdin, Text};

use super::context::{self, Context, Unpinned};
use super::hooks;
use super::results;
use super::variables::{self, Variable};
use crate::engine::Target;
use crate::environment;

/// Name of the prompt within a job directory.
pub(super) const PROMPT: &str = "prompt";

/// A terminal before anybody attaches: wide enough for the programs that draw one.
const TERMINAL: OutputMode = OutputMode::Terminal { rows: 40, cols: 120 };

/// What is run, before limits and environment are added.
pub(super) struct Program {
    pub(super) argv: Vec<OsString>,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<Variable>,
    pub(super) stdin: Stdin,
    pub(super) timeout_ms: Option<u64>,
    pub(super) grace_ms: u64,
}

/// Why a job was not started.
pub(super) enum Refused {
    /// It is worth another try.
    Later(String),
    /// It will not work.
    Never(String),
}

impl From<Unpinned> for Refused {
    fn from(error: Unpinned) -> Self {
        match error {
            Unpinned::Unread(_) => Self::Later(error.to_string()),
            Unpinned::Gone(_) => Self::Never(error.to_string()),
        }
    }
}

impl From<&str> for Refused {
    fn from(why: &str) -> Self {
        Self::Never(why.to_owned())
    }
}

/// Composes the spec of a job. `cwd` is the checkout, for a gate.
///
/// # Errors
/// What could not be read or written: later, when the host has run out of something.
pub(super) fn compose(
    ctx: &Context,
    target: &Target,
    id: &JobId,
    dir: &JobDir,
    cwd: Option<&Path>,
) -> Result<Spec, Refused> {
    let run = &target.run;
    let job = run.jobs.get(id).ok_or("the run has no such job")?;
    let mut program = program(ctx, target, id, dir, cwd)?;
    variables::place(&mut program.env, run, &job.purpose, job.attempt);
    let env = &mut program.env;
    let path = |path: &Path| path.as_os_str().to_owned().into_vec();
    variables::set(env, "TIDEGATE_HOME", path(&ctx.home));
    let token = Spec::fresh_nonce().map_err(|error| later(&"make a token", &error))?;
    if talks_to_the_daemon(&job.purpose) {
        variables::set(env, "TIDEGATE_SOCKET", path(&ctx.home.join("daemon.sock")));
        variables::set(env, "TIDEGATE_JOB_DIR", path(dir.path()));
        variables::set(env, "TIDEGATE_TOKEN", token.as_bytes());
    }
    let output = if run.has_terminal(&job.purpose) {
        variables::terminal(env);
        TERMINAL
    } else {
        OutputMode::Pipe
    };
    Ok(Spec {
        v: tidegate_process::record::VERSION,
        job: id.to_string(),
        run: run.id.to_string(),
        attempt: job.attempt,
        argv: program.argv.into_iter().map(Text::from).collect(),
        cwd: Text::from(program.cwd.into_os_string()),
        env: program.env.into_iter().map(|(n, v)| (as_text(n), as_text(v))).collect(),
        stdin: program.stdin,
        output,
        limits: Limits {
            timeout_ms: program.timeout_ms,
            segment_bytes: limits::SEGMENT_BYTES,
            output_bytes_max: Some(limits::OUTPUT_BYTES_MAX),
            reserve_bytes: limits::OUTPUT_RESERVE_BYTES,
            drain_ms: limits::DRAIN_MS,
            grace_ms: program.grace_ms,
        },
        umask: ctx.umask,
        nonce: job.nonce.clone(),
        token,
        generation: ctx.token.0,
        epoch: ctx.token.1,
        run_tag: ctx.run_tag(id),
        spare_agents: matches!(job.purpose, Purpose::Launcher { .. }),
    })
}

/// Gates and hooks are the user's commands on somebody's files; they have nothing to say to the daemon.
fn talks_to_the_daemon(purpose: &Purpose) -> bool {
    match purpose {
        Purpose::Launcher { .. } | Purpose::LauncherAgent { .. } | Purpose::Agent { .. } => true,
        Purpose::Gate { .. } | Purpose::Hook { .. } => false,
    }
}

fn as_text(bytes: Vec<u8>) -> Text {
    Text::from(OsString::from_vec(bytes))
}

fn program(
    ctx: &Context,
    target: &Target,
    id: &JobId,
    dir: &JobDir,
    cwd: Option<&Path>,
) -> Result<Program, Refused> {
    let run = &target.run;
    let job = run.jobs.get(id).ok_or("the run has no such job")?;
    let pinned = environment::decode(&ctx.pinned(&run.env)?);
    match &job.purpose {
        Purpose::Launcher { resume_wave } => launcher(run, pinned, *resume_wave),
        Purpose::LauncherAgent { argv, .. } => {
            let (spec, _) = run.launcher().ok_or("the run has no launcher")?;
            Ok(Program {
                argv: argv.iter().map(OsString::from).collect(),
                cwd: PathBuf::from(&spec.cwd),
                env: variables::whole(pinned),
                stdin: Stdin::Null,
                timeout_ms: None,
                grace_ms: limits::GRACE_MS,
            })
        }
        Purpose::Agent { .. } => agent(ctx, run, (id, job), pinned, dir),
        Purpose::Gate { gate, .. } => {
            let (spec, _) = run.plan().ok_or("the run has no plan")?;
            let gate = spec.gates.get(gate).ok_or("the plan has no such gate")?;
            let cwd = cwd.ok_or("the gate has no checkout")?;
            let mut env = variables::narrowed(pinned, &spec.env_pass);
            if let Some(feature) = feature_of(run, &job.purpose) {
                variables::worktree(&mut env, feature);
            }
            Ok(hooks::gate(gate, &spec.worktree, env, cwd))
        }
        Purpose::Hook { hook, .. } => {
            let (spec, _) = run.plan().ok_or("the run has no plan")?;
            let hook = spec.worktree.hook(*hook).ok_or("the plan has no such hook")?;
            let feature = feature_of(run, &job.purpose).ok_or("the plan has no such feature")?;
            let cwd = feature.worktree.as_ref().ok_or("the feature has no worktree")?;
            let mut env = variables::narrowed(pinned, &spec.env_pass);
            variables::worktree(&mut env, feature);
            Ok(hooks::hook(hook, env, Path::new(cwd)))
        }
    }
}

fn launcher(run: &Run, pinned: Vec<Variable>, resume: Option<u32>) -> Result<Program, Refused> {
    let (spec, _) = run.launcher().ok_or("the run has no launcher")?;
    let argv = match resume {
        None => start_argv(spec),
        Some(wave) => resume_argv(spec, run.id.as_str(), wave),
    };
    let mut env = variables::whole(pinned);
    variables::selection(&mut env, spec, resume);
    Ok(Program {
        argv: argv.into_iter().map(OsString::from).collect(),
        cwd: PathBuf::from(&spec.cwd),
        env,
        stdin: Stdin::Null,
        timeout_ms: spec.timeout_ms,
        grace_ms: limits::GRACE_MS,
    })
}

fn feature_of<'r>(run: &'r Run, purpose: &Purpose) -> Option<&'r Feature> {
    run.plan().and_then(|(_, plan)| plan.features.get(purpose.feature()?))
}

fn agent(
    ctx: &Context,
    run: &Run,
    (job_id, job): (&JobId, &Job),
    pinned: Vec<Variable>,
    dir: &JobDir,
) -> Result<Program, Refused> {
    let Purpose::Agent { feature: id, role, iteration } = &job.purpose else {
        return Err("the job is no agent's".into());
    };
    let (spec, plan) = run.plan().ok_or("the run has no plan")?;
    let feature_spec = spec.features.get(id).ok_or("the plan has no such feature")?;
    let feature = plan.features.get(id).ok_or("the plan has no such feature")?;
    let (role, agent) = spec.role_named(feature_spec, role).ok_or("the plan has no such role")?;
    let agent = run.stand_in_of(job_id).unwrap_or(agent);
    let agent = spec.agents.get(agent).ok_or("the plan has no such agent")?;
    // What is left of a budget of time is the limit, where that is less.
    let limit_ms =
        run.time_left_ms(id).map_or(agent.timeout_ms, |left| left.clamp(1, agent.timeout_ms));
    let told = (answers_to(run, id), run.messages_told(job_id).collect());
    let session = job.session.as_ref();
    let before = match session.and_then(|session| session.superseded.as_deref()) {
        Some(why) => Before::Superseded(why),
        None if run.is_interrupted(job_id) => Before::Interrupted,
        None => Before::Nothing,
    };
    let text = brief(ctx, spec, (feature_spec, feature), (role, before), &told)?;
    let file = dir.file(PROMPT);
    write_prompt(&file, &text).map_err(|error| later(&file.display(), &error))?;
    let mut env = variables::narrowed(pinned, &spec.env_pass);
    for (name, value) in &agent.env {
        variables::set(&mut env, name, value.as_bytes());
    }
    variables::worktree(&mut env, feature);
    variables::set(&mut env, "TIDEGATE_PROMPT_FILE", file.as_os_str().to_owned().into_vec());
    let result = dir.file(results::FILE).into_os_string().into_vec();
    variables::set(&mut env, "TIDEGATE_RESULT", result);
    let cwd = feature.worktree.as_ref().ok_or("the feature has no worktree")?;
    let (program, home) = (own_program(), context::text(&ctx.home));
    let place = Place {
        run: run.id.as_str(),
        feature: id.as_str(),
        iteration: *iteration,
        attempt: job.attempt,
        session: session.and_then(|session| session.id.as_deref()),
        resumed: session.is_some_and(|session| session.resumed),
        tools: Tools { program: &program, args: &["--home", &home, "mcp"] },
    };
    let launch = tidegate_agents::plan(agent, place, PromptInput { text: &text, file: &file })
        .map_err(|error| Refused::Never(error.to_string()))?;
    let stdin = if agent.manifest.protocol != Protocol::None {
        Stdin::Pipe
    } else if launch.prompt_on_stdin {
        Stdin::File(Text::from(OsString::from(PROMPT)))
    } else {
        Stdin::Null
    };
    Ok(Program {
        argv: launch.argv,
        cwd: PathBuf::from(cwd),
        env,
        stdin,
        timeout_ms: Some(limit_ms),
        grace_ms: agent.grace_ms,
    })
}

/// The path of this program: of its successor, where a later version stands there by now.
fn own_program() -> String {
    let path = std::env::current_exe().map(|path| context::text(&path)).unwrap_or_default();
    path.strip_suffix(" (deleted)").unwrap_or(&path).to_owned()
}

/// What the agent of a role is told.
fn brief(
    ctx: &Context,
    spec: &PlanSpec,
    (feature_spec, feature): (&FeatureSpec, &Feature),
    (role, before): (Role, Before<'_>),
    (answers, messages): &(Vec<(&str, &Answer)>, Vec<&Message>),
) -> Result<String, Refused> {
    let pinned = |id| Ok::<_, Refused>(String::from_utf8_lossy(&ctx.pinned(id)?).into_owned());
    let task = pinned(&feature_spec.prompt)?;
    let own = spec.role_spec(feature_spec, role).and_then(|role| role.prompt.as_ref());
    let own = own.map(pinned).transpose()?;
    let evidence = evidence_job(feature)
        .map(|job| end_of_output(&ctx.job_dir(job), EVIDENCE_BYTES))
        .unwrap_or_default();
    let brief = Brief {
        role,
        task: &task,
        own: own.as_deref(),
        planned: feature.planned.as_ref(),
        base: feature.base.as_ref().map(Oid::as_str),
        target: spec.target.strip_prefix("refs/heads/").unwrap_or(&spec.target),
        conflict: feature.conflict.as_deref().unwrap_or_default(),
        feedback: feature.feedback.as_ref(),
        evidence: &evidence,
        answers,
        messages,
        before,
    };
    Ok(brief.text())
}

/// What agents of a feature asked, and what people answered, oldest first.
fn answers_to<'r>(run: &'r Run, feature: &FeatureId) -> Vec<(&'r str, &'r Answer)> {
    let of = run.questions.values().filter(|one| one.feature.as_ref() == Some(feature));
    of.filter_map(|question| Some((question.text.as_str(), question.answer()?))).collect()
}

/// The job whose output is the evidence for the next builder of the feature.
fn evidence_job(feature: &Feature) -> Option<&JobId> {
    match feature.feedback.as_ref()? {
        Feedback::Gate { job, .. } => Some(job),
        Feedback::NoChange
        | Feedback::HookRefused { .. }
        | Feedback::LeftBranch { .. }
        | Feedback::SyncConflict { .. }
        | Feedback::Review { .. }
        | Feedback::Unusable { .. }
        | Feedback::Unresolved { .. } => None,
    }
}

fn later(what: &dyn std::fmt::Display, error: &dyn std::fmt::Display) -> Refused {
    Refused::Later(format!("{what}: {error}"))
}

fn write_prompt(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_data()
}

/// The end of a job's output, as text; empty when there is none.
pub(super) fn end_of_output(job_dir: &Path, bytes: usize) -> String {
    let segments = OutputReader::segments(job_dir).unwrap_or_default();
    let mut end = Vec::new();
    for segment in segments.iter().rev() {
        let path = job_dir.join(format!("output.{}", segment.number));
        let Ok(content) = std::fs::read(path) else { continue };
        let missing = bytes.saturating_sub(end.len());
        let from = content.len().saturating_sub(missing);
        end.splice(0..0, content[from..].iter().copied());
        if end.len() >= bytes {
            break;
        }
    }
    String::from_utf8_lossy(&end).into_owned()
}
