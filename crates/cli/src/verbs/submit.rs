//! `tidegate submit`: make a run of a plan or of a command, and go.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use tidegate_protocol::{
    LauncherWork, PlanSelection, PlanWork, SubmitAnswer, SubmitRequest, Text, WorkRequest,
};

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;
use crate::work::{Findings, Repository, actor, environment, gather, invalid_plan, wire_bundle};

/// Submit a plan, or a command of your own
///
/// The run is checked whole before it exists, pinned with all its files and your environment, and
/// survives the end of this terminal, of the daemon and of the host. Prints lines: `run_id=`,
/// `project=`, `lane=`, `adhoc_run=`, `state_path=`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate submit plan.toml                            all waves of a plan
  tidegate submit plan.toml --start-wave 2             from its second wave on
  tidegate submit -- ./waves.sh --fast                 a command that orchestrates by itself
  tidegate submit --launcher waves -- --fast           an entry of tidegate.toml, by its name
  tidegate submit --resume-limit 0 -- sh once.sh       never start it a second time
  tidegate submit --pty -- ./screenful.sh              in a terminal; `tidegate attach` shows it
  tidegate submit --lane docs plan.toml                in a queue beside `main`
  tidegate submit --add berths=specs/berths.md         one more feature for what runs now")]
pub(crate) struct Args {
    #[command(flatten)]
    work: Work,
}

/// What is to be run, and in which queue.
#[derive(Debug, clap::Args)]
pub(crate) struct Work {
    /// A plan: TOML, or Markdown with front matter
    #[arg(value_name = "PLAN", required_unless_present_any = ["argv", "launcher", "added"],
          conflicts_with_all = ["argv", "launcher"])]
    plan: Option<PathBuf>,

    /// The project; without it the repository of the working directory
    #[arg(long, value_name = "ID", value_parser = values::project)]
    project: Option<String>,

    /// The queue within the project [default: main]
    #[arg(long, value_name = "NAME", value_parser = values::lane)]
    lane: Option<String>,

    /// A queue of its own, beside the lane
    #[arg(long, value_name = "ID", value_parser = values::adhoc)]
    adhoc_run: Option<String>,

    /// Its place in the queue: higher ones first, within one by submit
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true,
          value_parser = values::priority)]
    priority: i32,

    /// How often a lost launcher is started again without progress [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "plan")]
    resume_limit: Option<u32>,

    /// Give the command a terminal of its own; `tidegate attach` shows it
    #[arg(long, conflicts_with = "plan")]
    pty: bool,

    /// First wave
    #[arg(long, value_name = "N")]
    start_wave: Option<u32>,

    /// Last wave
    #[arg(long, value_name = "N")]
    end_wave: Option<u32>,

    /// Ask the launcher for the next open wave
    #[arg(long, conflicts_with_all = ["plan", "start_wave"])]
    auto_next: bool,

    /// Only this feature of the plan; may be repeated
    #[arg(long = "feature", value_name = "ID", value_parser = values::feature, conflicts_with = "argv")]
    features: Vec<String>,

    /// The launcher of this name in tidegate.toml; what follows `--` is added to its argv
    #[arg(long, value_name = "NAME", value_parser = values::launcher, conflicts_with = "features")]
    launcher: Option<String>,

    /// A feature and its spec, without a plan; may be repeated. It joins the plan run that the lane is
    /// at, else all of them make a run of one wave. Each passes every gate of the config
    #[arg(long = "add", value_name = "ID=SPEC", value_parser = values::launched,
          conflicts_with_all = ["plan", "argv", "launcher", "features", "start_wave", "end_wave",
          "auto_next", "adhoc_run", "priority", "project", "resume_limit", "pty"])]
    added: Vec<(String, PathBuf)>,

    /// The command and its arguments, after `--`
    #[arg(last = true, value_name = "ARGV", num_args = 1..)]
    argv: Vec<OsString>,
}

impl Args {
    /// Submits.
    ///
    /// # Errors
    /// What is wrong with the plan, the daemon's refusal, or that no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        if !self.work.added.is_empty() {
            let lane = self.work.lane.as_deref();
            return super::launch::launch(context, &home, lane, &self.work.added);
        }
        let wave_known = self.work.start_wave.is_some();
        let answer = self.work.submit(&home)?;
        if context.out.is_json() {
            context.out.data(&answer)?;
            return Ok(Exit::OK);
        }
        let none = |value: &Option<String>| value.clone().unwrap_or_default();
        context.out.line(format_args!("run_id={}", answer.run_id))?;
        context.out.line(format_args!("project={}", answer.project))?;
        context.out.line(format_args!("lane={}", answer.lane))?;
        context.out.line(format_args!("adhoc_run={}", none(&answer.adhoc_run)))?;
        context.out.line(format_args!("state_path={}", none(&answer.state_path)))?;
        context.out.flush()?;
        if let Some(limit) = answer.resume_limit {
            talk(resume_advice(limit, wave_known));
        }
        // The lines are for scripts, and so is standard error when nobody looks at it.
        if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
            talk(format_args!("next: tidegate wait {}", answer.run_id));
        }
        Ok(Exit::OK)
    }
}

impl Work {
    /// Whether it is a command, not a plan.
    pub(crate) fn is_launcher(&self) -> bool {
        self.plan.is_none()
    }

    /// Checks and submits it.
    ///
    /// # Errors
    /// As [`Args::run`].
    pub(crate) fn submit(self, home: &Home) -> Result<SubmitAnswer, CliError> {
        if !self.added.is_empty() {
            return Err(CliError::usage("`--add` is for `tidegate submit` alone"));
        }
        if let (Some(start), Some(end)) = (self.start_wave, self.end_wave)
            && end < start
        {
            return Err(CliError::usage(format!(
                "--end-wave {end} is before --start-wave {start}"
            )));
        }
        let request = self.into_request(home)?;
        Client::new(home)?.post("/runs", &request, Starting::WhenAbsent)
    }

    fn into_request(self, home: &Home) -> Result<SubmitRequest, CliError> {
        let here = std::env::current_dir().map_err(|source| {
            CliError::io("find", std::path::Path::new("the working directory"), &source)
        })?;
        let repository = match &self.project {
            Some(project) => Repository::of(&read::project(home, project)?)?,
            None => Repository::here()?,
        };
        let work = match &self.plan {
            Some(_) => WorkRequest::Plan(self.plan_work(&repository)?),
            None => WorkRequest::Launcher(self.launcher_work(&repository)?),
        };
        Ok(SubmitRequest {
            project: self.project,
            cwd: Text::from(here.into_os_string()),
            lane: self.lane,
            adhoc_run: self.adhoc_run,
            priority: self.priority,
            actor: actor(),
            env: environment(),
            work,
        })
    }

    fn plan_work(&self, repository: &Repository) -> Result<PlanWork, CliError> {
        let plan = self.plan.as_deref().ok_or_else(|| CliError::bug("a plan without a path"))?;
        let bundle = gather(repository, plan)?;
        let selection = tidegate_config::Selection {
            start_wave: self.start_wave,
            end_wave: self.end_wave,
            features: (!self.features.is_empty()).then(|| self.features.clone()),
        };
        let found = tidegate_config::check(&bundle, &selection);
        let findings = Findings::in_bundle(found, &bundle);
        findings.blocks().iter().for_each(talk);
        if findings.has_errors() {
            return Err(invalid_plan(&findings));
        }
        let selection = PlanSelection {
            start_wave: self.start_wave,
            end_wave: self.end_wave,
            features: self.features.clone(),
        };
        Ok(PlanWork { bundle: wire_bundle(bundle)?, selection })
    }

    fn launcher_work(&self, repository: &Repository) -> Result<LauncherWork, CliError> {
        if self.argv.first().is_some_and(|program| program.is_empty()) {
            return Err(CliError::usage("the command after `--` must not be empty"));
        }
        let config = repository.config()?;
        let config_path = config.as_ref().map(|file| file.path.clone());
        let config = config.map(|file| String::from_utf8(file.bytes)).transpose();
        let config = config.map_err(|_| {
            let path = repository.config_path();
            CliError::refused(format!("{} is not UTF-8 text", path.display()))
        })?;
        Ok(LauncherWork {
            argv: self.argv.iter().cloned().map(Text::from).collect(),
            launcher: self.launcher.clone(),
            start_wave: self.start_wave,
            end_wave: self.end_wave,
            auto_next: self.auto_next,
            resume_limit: self.resume_limit,
            terminal: self.pty,
            config,
            config_path,
        })
    }
}

/// What applies when the launcher is lost. `wave_known` says that its first wave was given.
fn resume_advice(limit: u32, wave_known: bool) -> String {
    let often = match limit {
        0 => return "a lost launcher is not started again (resume limit 0)".to_owned(),
        1 => "once".to_owned(),
        _ => format!("up to {limit} times without progress"),
    };
    if wave_known {
        format!("a lost launcher is started again {often}, from the wave that it reported last")
    } else {
        format!(
            "a lost launcher is started again {often}, from the wave that it reported last; before \
             its first `tidegate progress --wave N` it is not"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_promises_no_resume_that_would_not_come() {
        assert!(resume_advice(0, true).contains("not started again"));
        assert!(resume_advice(1, true).ends_with("once, from the wave that it reported last"));
        assert!(resume_advice(1, false).contains("it is not"));
        assert!(resume_advice(3, false).contains("up to 3 times"));
    }
}
