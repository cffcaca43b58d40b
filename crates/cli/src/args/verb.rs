//! The verbs, in the order of the help.

use clap::Subcommand;

use crate::context::Context;
use crate::demo;
use crate::error::CliError;
use crate::output::Exit;
use crate::verbs::{
    agent, answer, approve, ask, attach, cancel, cleanup, completions, config, costs, daemon,
    delete, deny, doctor, events, explain, hold, inbox, init, lane, list, logs, man, mcp, pause,
    plan, priority, progress, project, providers, restore, resume, retry, review, rollback, run,
    send, status, submit, wait,
};

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    Init(init::Args),
    Run(run::Args),
    Submit(submit::Args),
    List(list::Args),
    Status(status::Args),
    Wait(wait::Args),
    Logs(logs::Args),
    Attach(attach::Args),
    Explain(explain::Args),
    Costs(costs::Args),
    Events(events::Args),
    Cancel(cancel::Args),
    Pause(pause::Args),
    Resume(resume::Args),
    Hold(hold::Args),
    Priority(priority::Args),
    Lane(lane::Args),
    Retry(retry::Args),
    Inbox(inbox::Args),
    Answer(answer::Args),
    Send(send::Args),
    Ask(ask::Args),
    Review(review::Args),
    Approve(approve::Args),
    Deny(deny::Args),
    Restore(restore::Args),
    Rollback(rollback::Args),
    Cleanup(cleanup::Args),
    Delete(delete::Args),
    Plan(plan::Args),
    Project(project::Args),
    Providers(providers::Args),
    Daemon(daemon::Args),
    Agent(agent::Args),
    Progress(progress::Args),
    Mcp(mcp::Args),
    Config(config::Args),
    Doctor(doctor::Args),
    #[command(after_help = "\
Examples:
  tidegate demo                       watch it, then look around in what it made
  tidegate demo --json                the same as data: landed, killed, repaired")]
    Demo(demo::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Verb {
    /// Does it.
    pub(super) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        match self {
            Self::Init(args) => args.run(context),
            Self::Run(args) => args.run(context),
            Self::Submit(args) => args.run(context),
            Self::List(args) => args.run(context),
            Self::Status(args) => args.run(context),
            Self::Wait(args) => args.run(context),
            Self::Logs(args) => args.run(context),
            Self::Attach(args) => args.run(context),
            Self::Explain(args) => args.run(context),
            Self::Costs(args) => args.run(context),
            Self::Events(args) => args.run(context),
            Self::Cancel(args) => args.run(context),
            Self::Pause(args) => args.run(context),
            Self::Resume(args) => args.run(context),
            Self::Hold(args) => args.run(context),
            Self::Priority(args) => args.run(context),
            Self::Lane(args) => args.run(context),
            Self::Retry(args) => args.run(context),
            Self::Inbox(args) => args.run(context),
            Self::Answer(args) => args.run(context),
            Self::Send(args) => args.run(context),
            Self::Ask(args) => args.run(context),
            Self::Review(args) => args.run(context),
            Self::Approve(args) => args.run(context),
            Self::Deny(args) => args.run(context),
            Self::Restore(args) => args.run(context),
            Self::Rollback(args) => args.run(context),
            Self::Cleanup(args) => args.run(context),
            Self::Delete(args) => args.run(context),
            Self::Plan(args) => args.run(context),
            Self::Project(args) => args.run(context),
            Self::Providers(args) => args.run(context),
            Self::Daemon(args) => args.run(context),
            Self::Agent(args) => args.run(context),
            Self::Progress(args) => args.run(context),
            Self::Mcp(args) => args.run(context),
            Self::Config(args) => args.run(context),
            Self::Doctor(args) => args.run(context),
            Self::Demo(args) => args.run(context),
            Self::Completions(args) => args.run(context),
            Self::Man(args) => args.run(context),
        }
    }
}
