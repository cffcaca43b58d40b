//! How each agent is told where its model is: by the environment that its entry in the config adds, or
//! by files of its own in the user's folder. No other host is named anywhere.

use std::path::Path;

use serde_json::{Value, json};

/// The keys of an agent whose model is served at `address`.
pub(super) fn manifest(name: &str, address: &str) -> String {
    let (model, env) = match name {
        "claude" | "claude_stream" => (
            "claude-sonnet-4-5",
            format!(r#"ANTHROPIC_BASE_URL = "{address}", ANTHROPIC_API_KEY = "dummy""#),
        ),
        "codex" | "codex_app_server" => ("gpt-5.5-codex", r#"HARBOUR_KEY = "dummy""#.to_owned()),
        "pi" | "opencode" => ("harbour/pilot", String::new()),
        "gemini" => (
            "gemini-2.5-pro",
            format!(r#"GOOGLE_GEMINI_BASE_URL = "{address}", GEMINI_API_KEY = "dummy""#),
        ),
        "qwen" => (
            "pilot",
            format!(
                r#"OPENAI_BASE_URL = "{address}/v1", OPENAI_API_KEY = "dummy", OPENAI_MODEL = "pilot""#
            ),
        ),
        "copilot" => (
            "pilot",
            format!(
                r#"COPILOT_OFFLINE = "true", COPILOT_PROVIDER_BASE_URL = "{address}/v1", COPILOT_PROVIDER_API_KEY = "dummy", COPILOT_MODEL = "pilot""#
            ),
        ),
        other => panic!("no settings for {other}"),
    };
    format!("provider = \"{name}\"\nmodel = \"{model}\"\nenv = {{ {env} }}\n")
}

/// What an agent reads in the user's folder.
pub(super) fn write(name: &str, user: &Path, address: &str) {
    let (path, text) = match name {
        "codex" | "codex_app_server" => (".codex/config.toml", codex(address)),
        "pi" => (".pi/agent/models.json", pi(address).to_string()),
        "opencode" => ("config/opencode/opencode.json", opencode(address).to_string()),
        "gemini" => (".gemini/settings.json", quiet("gemini-api-key").to_string()),
        "qwen" => (".qwen/settings.json", quiet("openai").to_string()),
        _ => return,
    };
    let path = user.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn codex(address: &str) -> String {
    format!(
        "model_provider = \"harbour\"\n[model_providers.harbour]\nname = \"harbour\"\n\
         base_url = \"{address}/v1\"\nenv_key = \"HARBOUR_KEY\"\nwire_api = \"responses\"\n\
         request_max_retries = 1\nstream_max_retries = 1\n"
    )
}

fn pi(address: &str) -> Value {
    json!({"providers": {"harbour": {
        "baseUrl": format!("{address}/v1"), "api": "openai-completions", "apiKey": "dummy",
        "models": [{"id": "pilot", "name": "pilot", "reasoning": false, "input": ["text"],
            "contextWindow": 200_000, "maxTokens": 8192,
            "cost": {"input": 5, "output": 25, "cacheRead": 1, "cacheWrite": 6}}],
    }}})
}

fn opencode(address: &str) -> Value {
    json!({"autoupdate": false, "share": "disabled", "small_model": "harbour/pilot",
    "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"},
    "provider": {"harbour": {"npm": "@ai-sdk/openai-compatible", "name": "harbour",
        "options": {"baseURL": format!("{address}/v1"), "apiKey": "dummy"},
        "models": {"pilot": {"name": "pilot", "tool_call": true,
            "limit": {"context": 200_000, "output": 8192},
            "cost": {"input": 5, "output": 25, "cache_read": 1, "cache_write": 6}}},
    }}})
}

fn quiet(login: &str) -> Value {
    json!({
        "security": {"auth": {"selectedType": login}, "folderTrust": {"enabled": false}},
        "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
    })
}
