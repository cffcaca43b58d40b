//! `tidegate providers`: the agents that are built in, and which of them this machine has.

use tidegate_protocol::{CapabilitiesDoc, ProviderDoc, ProvidersDoc};

use crate::context::Context;
use crate::error::{CliError, printable};
use crate::output::Exit;
use crate::providers;
use crate::render::table;

/// List the built-in providers of agents: installed or not, version, login, what each can do
///
/// Their own programs are asked for versions and logins, without a model; a dash means that a
/// program is not there or cannot tell. Any other program is made an agent by `[agent.NAME]`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate providers                  what could be `provider` of an agent here
  tidegate providers --json           the same as data, each capability by its name")]
pub(crate) struct Args {}

impl Args {
    /// Shows it.
    ///
    /// # Errors
    /// When standard output cannot be written.
    #[expect(clippy::unused_self, reason = "every verb is called alike")]
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let found = ProvidersDoc { providers: providers::all() };
        if context.out.is_json() {
            context.out.data(&found)?;
            return Ok(Exit::OK);
        }
        let rows = found.providers.iter().map(row).collect();
        context.out.line(table(&["PROVIDER", "VERSION", "LOGIN", "CAN", "PROGRAM"], rows))?;
        Ok(Exit::OK)
    }
}

fn row(provider: &ProviderDoc) -> Vec<String> {
    let dash = || "-".to_owned();
    let login = match provider.logged_in {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => dash(),
    };
    let path = provider.path.as_deref().map(printable);
    vec![
        provider.name.clone(),
        provider.version.clone().unwrap_or_else(dash),
        login,
        can(&provider.capabilities),
        path.unwrap_or_else(|| format!("{} is not on the PATH", provider.program)),
    ]
}

fn can(capabilities: &CapabilitiesDoc) -> String {
    let words = [
        ("resume", capabilities.resume),
        ("tools", capabilities.tools),
        ("waiting", capabilities.waiting),
        ("usage", capabilities.usage),
        ("cost", capabilities.cost),
        ("steering", capabilities.steering),
        ("own_tools", capabilities.own_tools),
    ];
    let held: Vec<&str> = words.iter().filter(|(_, held)| *held).map(|(word, _)| *word).collect();
    if held.is_empty() { "-".to_owned() } else { held.join(" ") }
}
