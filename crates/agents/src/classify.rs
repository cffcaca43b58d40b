//! What kind of error a text is about. Only texts are shown to it that an agent's protocol marks as
//! an error of its own: what a model or a tool says is never one.

use regex::{Regex, RegexBuilder};
use tidegate_core::manifest::ClassRule;
use tidegate_core::told::Class;

/// Compiled text of a pattern is bounded, whatever a manifest says.
const COMPILED_BYTES_MAX: usize = 1024 * 1024;

/// The shared patterns; the first that matches decides, so the narrower ones stand first.
const SHARED: [(&str, Class); 9] = [
    (
        r"usage.limit|insufficient.quota|daily quota|quota.{0,20}(exceeded|exhausted)|exceeded your.{0,20}quota|exhausted your|out of credits|credit balance|billing.hard.limit|(weekly|5-hour|session) limit",
        Class::UsageLimit,
    ),
    (
        r"(prompt|input|context|request|conversation)( is)? too (long|large)|context.(window|length)|maximum context|prompt.too.long|too many tokens",
        Class::TooLong,
    ),
    (
        r"model.{0,80}(not found|not exist|not supported|not available)|model.not.found|(unknown|invalid|no such) model|selected model",
        Class::BadModel,
    ),
    (r"rate.?limit|too many requests|resource.exhausted|\b429\b", Class::RateLimit),
    (
        r"\b(401|403)\b|unauthori[sz]ed|unauthenticated|authenticat|invalid.{0,12}key|not logged in|please (run )?/?log ?in|oauth|expired token|token (has )?expired|forbidden|api.key (is|not)",
        Class::Auth,
    ),
    (r"permission|not permitted|approval", Class::Permission),
    (
        r"network error|transport error|connection (reset|refused|closed|error|lost)|\be(connreset|connrefused|timedout|notfound|pipe|ai_again)\b|socket|fetch failed|\bdns\b|timed? ?out|terminated|other side closed",
        Class::Network,
    ),
    (
        r"\b5(00|02|03|04|20|22|24|29)\b|internal.server|server.error|overloaded|unavailable|bad gateway|high demand|stream disconnected|in stream|without a finish reason",
        Class::Server,
    ),
    (r"\b400\b|invalid.request|invalid.argument|bad request", Class::BadRequest),
];

/// Patterns, ready to be tried.
#[derive(Debug)]
pub(crate) struct Classifier {
    patterns: Vec<(Regex, Class)>,
}

impl Classifier {
    /// Those of a manifest, then the shared ones.
    pub(crate) fn new(own: &[ClassRule]) -> Result<Self, regex::Error> {
        let own = own.iter().map(|rule| (rule.pattern.as_str(), rule.class));
        let patterns = own
            .chain(SHARED)
            .map(|(pattern, class)| Ok((pattern_of(pattern)?, class)))
            .collect::<Result<_, regex::Error>>()?;
        Ok(Self { patterns })
    }

    /// The kind of a text and a status. The words say more than the status, where they say anything.
    pub(crate) fn class(&self, text: &str, status: Option<u64>) -> Class {
        let of_text = self.patterns.iter().find(|(pattern, _)| pattern.is_match(text));
        of_text.map_or_else(|| of_status(status), |(_, class)| *class)
    }
}

/// A pattern of a manifest, compiled: letters of either case, with a bound on its size.
pub(crate) fn pattern_of(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).case_insensitive(true).size_limit(COMPILED_BYTES_MAX).build()
}

fn of_status(status: Option<u64>) -> Class {
    match status {
        Some(429) => Class::RateLimit,
        Some(401 | 403) => Class::Auth,
        Some(404) => Class::BadModel,
        Some(413) => Class::TooLong,
        Some(408) => Class::Network,
        Some(400..=499) => Class::BadRequest,
        Some(500..=599) => Class::Server,
        Some(_) | None => Class::Other,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn words_of_agents_have_their_classes() {
        let classifier = Classifier::new(&[]).unwrap();
        for (text, class) in [
            ("API Error: Request rejected (429) · rate limit reached", Class::RateLimit),
            ("You’ve hit your usage limit. Try again at 3:46 PM.", Class::UsageLimit),
            ("[API Error: You have exhausted your daily quota on this model.]", Class::UsageLimit),
            ("unexpected status 401 Unauthorized: bad, url: http://h:8765/s/e500", Class::Auth),
            ("authentication_failed", Class::Auth),
            ("Prompt is too long · the request is ~250000 tokens", Class::TooLong),
            ("ran out of room in the model's context window", Class::TooLong),
            ("404: {\"message\":\"model not found\"}", Class::BadModel),
            ("stream disconnected before completion: Transport error", Class::Network),
            ("stream disconnected before completion: failed in stream", Class::Server),
            ("experiencing high demand, which may cause temporary errors", Class::Server),
            ("500: {\"type\":\"server_error\"}", Class::Server),
            ("terminated (cause: UND_ERR_SOCKET: other side closed)", Class::Network),
            ("something else", Class::Other),
        ] {
            assert_eq!(classifier.class(text, None), class, "{text}");
        }
        assert_eq!(classifier.class("no words", Some(529)), Class::Server);
        assert_eq!(classifier.class("no words", Some(418)), Class::BadRequest);
    }

    #[test]
    fn a_manifest_decides_before_the_shared_patterns() {
        let own = ClassRule { pattern: "tide".to_owned(), class: Class::Network };
        let classifier = Classifier::new(&[own]).unwrap();
        assert_eq!(classifier.class("rate limit of the Tide", None), Class::Network);
        let own = ClassRule { pattern: "(".to_owned(), class: Class::Network };
        assert!(Classifier::new(&[own]).is_err());
    }
}
