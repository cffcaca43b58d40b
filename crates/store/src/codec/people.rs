//! What agents ask people, and what people tell agents.

use tidegate_core::run::{Answer, Closing, Delivery, Fate, Message, Question, Typed, Way};

use super::json::{flattens, record, tagged, words};

record!(Question {
    feature "feature",
    job "job",
    text "text",
    choices "choices",
    waits (later "waits"),
    request (later "request"),
    at "at",
    fate "fate",
});
flattens!(Question { "feature", "job", "text", "choices", "waits", "request", "at", "fate" });

tagged!(Fate by "word" {
    Open "open" {},
    Answered "answered" { 0 answer "answer" },
    Closed "closed" { 0 why "why" },
});
words!(Closing { WentOn "went_on", Restarted "restarted", Ended "ended" });

record!(Answer { text "text", choice "choice", by "by", at "at" });
flattens!(Answer { "text", "choice", "by", "at" });

record!(Message {
    feature "feature",
    text "text",
    interrupts (later "interrupts"),
    by "by",
    at "at",
    told "told",
    typed "typed",
    delivery "delivery",
});

record!(Typed { job "job", taken "taken" });

tagged!(Delivery by "word" {
    Queued "queued" {},
    Written "written" { job job "job", way way "way" },
    Accepted "accepted" { job job "job" },
    Consumed "consumed" { job job "job" },
    Failed "failed" {},
});
words!(Way { Task "task", Terminal "terminal", Conversation "conversation" });
