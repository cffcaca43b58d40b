//! What an agent asks its model, as far as the three protocols have it in common.

use serde_json::Value;

/// A vendor's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Anthropic's messages.
    Messages,
    /// `OpenAI`'s responses.
    Responses,
    /// `OpenAI`'s chat completions, which others speak too.
    Chat,
    /// Google's contents.
    Contents,
}

impl Protocol {
    /// The one that is spoken at a path.
    pub(super) fn at(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        let ends = [
            (":generateContent", Self::Contents),
            (":streamGenerateContent", Self::Contents),
            ("/messages", Self::Messages),
            ("/responses", Self::Responses),
            ("/chat/completions", Self::Chat),
        ];
        ends.iter().find(|(end, _)| path.ends_with(end)).map(|(_, protocol)| *protocol)
    }
}

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// How it is asked.
    pub(crate) protocol: Protocol,
    /// Where.
    pub(crate) path: String,
    /// All of it.
    pub(crate) body: Value,
}

impl Question {
    /// Results of tools that the conversation holds, as text.
    pub(crate) fn results(&self) -> Vec<String> {
        let list = |key: &str| self.body[key].as_array().cloned().unwrap_or_default();
        let found: Vec<Value> = match self.protocol {
            Protocol::Messages => {
                let blocks =
                    list("messages").into_iter().filter_map(|m| m["content"].as_array().cloned());
                blocks.flatten().filter(|block| block["type"] == "tool_result").collect()
            }
            Protocol::Responses => {
                let is_result = |item: &Value| {
                    item["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output"))
                };
                list("input").into_iter().filter(is_result).collect()
            }
            Protocol::Chat => {
                list("messages").into_iter().filter(|message| message["role"] == "tool").collect()
            }
            Protocol::Contents => {
                let parts =
                    list("contents").into_iter().filter_map(|c| c["parts"].as_array().cloned());
                parts.flatten().filter(|part| part["functionResponse"].is_object()).collect()
            }
        };
        found.iter().map(Value::to_string).collect()
    }

    /// The tools that the model may use: each a definition of the vendor's form.
    pub(super) fn tools(&self) -> Vec<Value> {
        let tools = self.body["tools"].as_array().cloned().unwrap_or_default();
        match self.protocol {
            Protocol::Messages => tools,
            Protocol::Responses => {
                [tools, self.found()].concat().into_iter().flat_map(each).collect()
            }
            Protocol::Contents => {
                let lists = tools.into_iter();
                lists
                    .filter_map(|t| t["functionDeclarations"].as_array().cloned())
                    .flatten()
                    .collect()
            }
            Protocol::Chat => tools.into_iter().map(|tool| tool["function"].clone()).collect(),
        }
    }

    /// The tools that a search for tools has found.
    fn found(&self) -> Vec<Value> {
        let input = self.body["input"].as_array().cloned().unwrap_or_default();
        let found = input.into_iter().filter(|item| {
            ["tool_search_output", "additional_tools"].iter().any(|kind| item["type"] == *kind)
        });
        found.filter_map(|item| item["tools"].as_array().cloned()).flatten().collect()
    }

    /// Whether it is about the work: requests without tools are for titles and the like.
    pub(crate) fn is_of_the_work(&self) -> bool {
        !self.tools().is_empty()
    }

    /// Whether the answer is to come piece by piece.
    pub(super) fn streams(&self) -> bool {
        self.body["stream"] == true || self.path.contains(":stream")
    }

    /// The folder that the agent says it works in, if it says so in plain words.
    pub(super) fn folder(&self) -> Option<String> {
        let text = self.body.to_string();
        let at = text.find("directory: /")? + "directory: ".len();
        let ends = |char: char| char.is_whitespace() || "\\\"'`<,".contains(char);
        text[at..].split(ends).next().map(str::to_owned)
    }

    /// Whether a text stands anywhere in it.
    pub(crate) fn holds(&self, text: &str) -> bool {
        self.body.to_string().contains(text)
    }
}

/// A tool, or those of a group, each with the name of the group.
fn each(tool: Value) -> Vec<Value> {
    if tool["type"] != "namespace" {
        return vec![tool];
    }
    let mut tools = tool["tools"].as_array().cloned().unwrap_or_default();
    for one in &mut tools {
        one["namespace"] = tool["name"].clone();
    }
    tools
}
