//! Which of the tools that an agent offers does what a script wants, and how it is called.

use serde_json::{Value, json};

use super::{Act, Question};

/// A call of a tool.
pub(super) struct Call {
    pub(super) name: String,
    /// The group that the tool is in, where the protocol has such.
    pub(super) group: Option<String>,
    pub(super) input: Input,
}

/// What a tool is given.
pub(super) enum Input {
    /// Values by their names.
    Named(Value),
    /// Text as it is.
    Free(String),
    /// Words to search further tools by.
    Search(String),
}

const WRITERS: [&str; 4] = ["Write", "write", "write_file", "create"];
const SHELLS: [&str; 6] =
    ["Bash", "bash", "exec_command", "shell_command", "run_shell_command", "shell"];
const PATHS: [&str; 4] = ["file_path", "filePath", "path", "absolute_path"];
const TEXTS: [&str; 3] = ["content", "file_text", "contents"];
const COMMANDS: [&str; 2] = ["command", "cmd"];

/// The call that does an act; `None` when the act is none of a tool's, or no tool can do it.
pub(super) fn call(act: &Act, question: &Question) -> Option<Call> {
    let tools = question.tools();
    match act {
        Act::Say(_) | Act::Await { .. } => None,
        Act::Call { tool, input } => {
            let ends = |one: &&Value| one["name"].as_str().is_some_and(|name| name.ends_with(tool));
            if let Some(found) = tools.iter().find(ends) {
                let input = serde_json::from_str(input).unwrap();
                return Some(of(found, Input::Named(input)));
            }
            let search = tools.iter().find(|one| one["type"] == "tool_search")?;
            Some(of(search, Input::Search((*tool).to_owned())))
        }
        Act::Run(command) => shell(command, &tools),
        Act::Write { path, text } => {
            if let Some(tool) = offered(&tools, &WRITERS) {
                let schema = properties(tool);
                let place = question
                    .folder()
                    .map_or_else(|| (*path).to_owned(), |folder| format!("{folder}/{path}"));
                let input = json!({ key(schema, &PATHS): place, key(schema, &TEXTS): text });
                return Some(of(tool, Input::Named(input)));
            }
            if let Some(tool) = offered(&tools, &["apply_patch"]) {
                let added: Vec<String> = text.lines().map(|line| format!("+{line}")).collect();
                let added = added.join("\n");
                let patch =
                    format!("*** Begin Patch\n*** Add File: {path}\n{added}\n*** End Patch\n");
                let input = match tool["type"].as_str() {
                    Some("custom") => Input::Free(patch),
                    Some(_) | None => Input::Named(json!({ "input": patch })),
                };
                return Some(of(tool, input));
            }
            shell(&format!("printf %s '{text}' > '{path}'"), &tools)
        }
    }
}

fn shell(command: &str, tools: &[Value]) -> Option<Call> {
    let tool = offered(tools, &SHELLS)?;
    let schema = properties(tool);
    let key = key(schema, &COMMANDS);
    let command = match schema[key]["type"].as_str() {
        Some("array") => json!(["sh", "-c", command]),
        Some(_) | None => json!(command),
    };
    Some(of(tool, Input::Named(json!({ key: command }))))
}

fn offered<'a>(tools: &'a [Value], names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| tools.iter().find(|tool| tool["name"] == *name))
}

fn of(tool: &Value, input: Input) -> Call {
    let text = |key: &str| tool[key].as_str().map(str::to_owned);
    Call { name: text("name").unwrap_or_default(), group: text("namespace"), input }
}

fn properties(tool: &Value) -> &Value {
    let schemas = [&tool["input_schema"], &tool["parameters"], &tool["parametersJsonSchema"]];
    let schema = schemas.into_iter().find(|schema| schema.is_object());
    schema.map_or(&Value::Null, |schema| &schema["properties"])
}

/// The name that the tool itself has for a value.
fn key<'a>(schema: &Value, names: &[&'a str]) -> &'a str {
    names.iter().find(|name| schema.get(**name).is_some()).unwrap_or(&names[0])
}
