-- What agents ask people, and what people tell agents.
CREATE TABLE questions (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 1),
    word TEXT NOT NULL CHECK (word IN ('open', 'answered', 'closed')),
    question TEXT NOT NULL CHECK (json_valid(question)),
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- A feature is found by its id alone.
CREATE INDEX features_feature ON features (feature);

CREATE TABLE messages (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 1),
    word TEXT NOT NULL CHECK (word IN ('queued', 'written', 'accepted', 'consumed', 'failed')),
    message TEXT NOT NULL CHECK (json_valid(message)),
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
