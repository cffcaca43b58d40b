//! `tidegate logs`: the output of a run's jobs, byte for byte.

use std::path::Path;

use anstream::adapter::StripBytes;
use serde_json::json;
use tidegate_daemon::output::OutputReader;
use tidegate_protocol::{ErrorCode, JobDoc, Text};

use crate::args::values;
use crate::client::{Client, Feed, Filter, Wake};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::logs::{Choice, Hints, Stamped, Tail, are_one_thing, heading};
use crate::output::{Exit, Out, talk};
use crate::read;

/// Print the output of a run's jobs
///
/// Of a launcher run: what the launcher wrote, all its attempts joined. Of a plan run: every job,
/// each under a heading. The bytes are printed as they were written; on a terminal without the
/// sequences that would act on it, unless `--raw` is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate logs r000001                     the launcher's output so far
  tidegate logs r000001 -f                  follow it until the run ends
  tidegate logs r000001 --feature berths    agents and gates of one feature
  tidegate logs r000001 --timestamps        with the time of each line
  tidegate logs r000001 --tail 20           the last 20 lines of each job")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// Go on until the run ends, or the agent or job that was named
    #[arg(short, long)]
    follow: bool,

    /// Only the last lines of each job
    #[arg(short = 'n', long, value_name = "LINES")]
    tail: Option<usize>,

    /// Let control sequences act on this terminal
    #[arg(long)]
    raw: bool,

    /// Only this job
    #[arg(long, value_name = "ID", value_parser = values::job, conflicts_with_all = ["agent", "feature"])]
    job: Option<String>,

    /// Only the jobs of this agent: its id, or the feature of a plan
    #[arg(long, value_name = "ID", value_parser = values::label, conflicts_with = "feature")]
    agent: Option<String>,

    /// Only this attempt of each
    #[arg(long, value_name = "N")]
    attempt: Option<u32>,

    /// Put the time before each line at which it began, and what could not be kept in its place
    #[arg(long)]
    timestamps: bool,

    /// Only the jobs that work for this feature
    #[arg(long, value_name = "ID", value_parser = values::feature)]
    feature: Option<String>,
}

impl Args {
    /// Prints, and follows if asked to.
    ///
    /// # Errors
    /// When there is no such run or job, or standard output is closed.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let Self { run, follow, tail, raw, job, agent, feature, attempt, timestamps } = self;
        let run = read::run(&home, &run)?.run_id;
        let mut printer = Printer::new(Choice { job, agent, feature, attempt }, tail);
        printer.raw |= raw;
        printer.timestamps = timestamps;
        if timestamps && context.out.is_json() {
            return Err(CliError::usage("`--timestamps` does not go with `--json`"));
        }
        if context.out.is_json() && !follow {
            let jobs = read::jobs(&home, &run)?.jobs;
            let chosen: Vec<_> = printer.choice.of(&jobs).into_iter().map(entry).collect();
            context.out.data(&json!({ "runId": run, "logs": chosen }))?;
            return Ok(Exit::OK);
        }
        if follow {
            return follow_run(&home, &run, &mut printer, &mut context.out);
        }
        let jobs = read::jobs(&home, &run)?.jobs;
        if printer.print(&jobs, &mut context.out)? == 0 && !jobs.is_empty() {
            return Err(printer.nothing(&jobs));
        }
        printer.tell_gaps(&jobs);
        Ok(Exit::OK)
    }
}

/// Follows the output of a run until it, or what was chosen of it, has ended.
///
/// # Errors
/// When no daemon answers, or standard output is closed.
pub(crate) fn follow_run(
    home: &Home,
    run: &str,
    printer: &mut Printer,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let client = Client::new(home)?;
    client.block_on(async {
        let filter = Filter { run: Some(run.to_owned()), ..Filter::default() };
        let mut feed = Feed::new(home, filter)?;
        let hints = Hints::new()?;
        let mut jobs: Vec<JobDoc> = Vec::new();
        // A run that has ended needs no daemon to be read to its end.
        let mut ended = look(home, run, printer, &mut jobs)?;
        loop {
            for job in printer.choice.of(&jobs) {
                hints.watch(Path::new(&job.dir))?;
            }
            printer.print(&jobs, out)?;
            if ended {
                printer.tell_gaps(&jobs);
                return Ok(Exit::OK);
            }
            match feed.next(None, hints.written()).await? {
                Wake::Connected | Wake::Events(_) => {
                    ended = look(home, run, printer, &mut jobs)?;
                }
                Wake::Extra | Wake::TimedOut => {}
                Wake::Interrupted => {
                    talk(format!("detached; the run goes on: tidegate logs {run} -f"));
                    return Ok(Exit::DETACHED);
                }
            }
        }
    })
}

/// Looks at the jobs; true when nothing more will be written.
fn look(
    home: &Home,
    run: &str,
    printer: &Printer,
    jobs: &mut Vec<JobDoc>,
) -> Result<bool, CliError> {
    // The run first: jobs that are read later are at least as new.
    let document = read::run(home, run)?;
    *jobs = read::jobs(home, run)?.jobs;
    let ended = document.status.is_terminal() && document.recorded;
    let chosen = printer.choice.of(jobs);
    let narrow = printer.choice.is_narrow();
    Ok(ended
        || narrow
            && chosen
                .last()
                .is_some_and(|job| job.state == "finished" || job.state == "quarantined"))
}

/// Where the output of a job comes from.
enum Source {
    /// The bytes as they were written.
    Plain(Tail),
    /// The same with times.
    Stamped(Stamped),
}

impl Source {
    fn read(&mut self, job: &JobDoc) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Plain(tail) => tail.read(),
            Self::Stamped(stamped) => {
                let ended = job.state == "finished" || job.state == "quarantined";
                stamped.read(Path::new(&job.dir), ended)
            }
        }
    }
}

/// Prints the output of jobs, each byte once.
pub(crate) struct Printer {
    choice: Choice,
    lines: Option<usize>,
    tails: Vec<(String, Source, StripBytes)>,
    /// Each line begins with its time.
    timestamps: bool,
    headed: Option<String>,
    /// Whether the bytes are printed as they are, on a terminal, too.
    raw: bool,
}

impl Printer {
    /// Prints what `choice` takes; of each job only the last `lines`, if given.
    pub(crate) fn new(choice: Choice, lines: Option<usize>) -> Self {
        let raw = !Out::is_terminal();
        Self { choice, lines, tails: Vec::new(), timestamps: false, headed: None, raw }
    }

    /// Prints what is new; gives the number of jobs that are meant.
    fn print(&mut self, jobs: &[JobDoc], out: &mut Out) -> Result<usize, CliError> {
        let chosen = self.choice.of(jobs);
        let headings = !are_one_thing(&chosen);
        for job in &chosen {
            let directory = Path::new(&job.dir);
            let failed =
                |source: std::io::Error| CliError::io("read the output in", directory, &source);
            let known = self.tails.iter().position(|(id, ..)| *id == job.job_id);
            let index = known.unwrap_or(self.tails.len());
            if known.is_none() {
                let mut tail = Tail::new(directory);
                if let Some(lines) = self.lines {
                    tail.skip_to_last(lines).map_err(failed)?;
                }
                let source = if self.timestamps {
                    Source::Stamped(Stamped::new(directory, &tail))
                } else {
                    Source::Plain(tail)
                };
                self.tails.push((job.job_id.clone(), source, StripBytes::new()));
            }
            loop {
                let bytes = self.tails[index].1.read(job).map_err(failed)?;
                if bytes.is_empty() {
                    break;
                }
                if out.is_json() {
                    let chunk = Text::from(bytes);
                    out.data(&json!({ "jobId": job.job_id, "output": chunk }))?;
                    out.flush()?;
                    continue;
                }
                if headings && self.headed.as_ref() != Some(&job.job_id) {
                    out.line(heading(job))?;
                    self.headed = Some(job.job_id.clone());
                }
                if self.raw {
                    out.bytes(&bytes)?;
                } else {
                    let plain: Vec<&[u8]> = self.tails[index].2.strip_next(&bytes).collect();
                    out.bytes(&plain.concat())?;
                }
            }
        }
        Ok(chosen.len())
    }

    /// Says what of the output could not be kept. Standard output has no place for that.
    fn tell_gaps(&self, jobs: &[JobDoc]) {
        for job in self.choice.of(jobs) {
            let Some(gap) = Gap::of(job) else { continue };
            talk(format!(
                "{} bytes of the output of {} were not kept for want of room on the disk, the \
                 first at byte {} of output.{}",
                gap.bytes, job.job_id, gap.offset, gap.segment
            ));
        }
    }

    fn nothing(&self, jobs: &[JobDoc]) -> CliError {
        let known: Vec<&str> = jobs.iter().map(|job| job.job_id.as_str()).collect();
        CliError::new(ErrorCode::NotFound, format!("the run has no {}", self.choice.name()))
            .hint(format!("its jobs are {}", known.join(", ")))
    }
}

/// What of a job's output was drained and could not be kept.
struct Gap {
    bytes: u64,
    segment: u32,
    offset: u64,
}

impl Gap {
    fn of(job: &JobDoc) -> Option<Self> {
        // An index that cannot be read hides no output: it only says less about it.
        let gaps = OutputReader::gaps(Path::new(&job.dir)).ok()?;
        let first = gaps.first()?;
        let bytes = gaps.iter().map(|gap| u64::from(gap.length)).sum();
        Some(Self { bytes, segment: first.segment, offset: first.offset })
    }
}

/// A job's output for programs: where it is, not what is in it.
fn entry(job: &JobDoc) -> serde_json::Value {
    json!({
        "jobId": job.job_id,
        "purpose": job.purpose,
        "attempt": job.attempt,
        "agentId": job.agent_id,
        "feature": job.feature,
        "gate": job.gate,
        "state": job.state,
        "dir": job.dir,
        "outputBytes": job.output_bytes,
        "lostBytes": Gap::of(job).map_or(0, |gap| gap.bytes),
    })
}
