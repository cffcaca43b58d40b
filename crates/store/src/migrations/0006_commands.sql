-- Commands are remembered whole, from their beginning to their end, refused ones too.
CREATE TABLE commands_2 (
    -- The number of the log's event that came next when it was taken; older ones lie below zero.
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (length(id) = 11 AND id GLOB 'c*'),
    actor TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
    verb TEXT NOT NULL,
    run TEXT,
    feature TEXT,
    args TEXT NOT NULL CHECK (json_valid(args)),
    status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
    requested_at INTEGER NOT NULL,
    processed_at INTEGER,
    -- The daemon that claimed it last, and how often it was begun.
    epoch INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    -- The envelope that the client was given at once.
    response TEXT NOT NULL CHECK (json_valid(response)),
    -- The envelope of its end.
    result TEXT CHECK (json_valid(result)),
    -- What its end hangs on.
    awaits TEXT,
    -- The work that it started in the background of its lane, which is its run.
    background TEXT CHECK (background IN ('running', 'completed', 'failed')),
    background_ended_at INTEGER,
    background_error TEXT CHECK (json_valid(background_error)),
    CHECK ((status IN ('completed', 'failed')) = (processed_at IS NOT NULL)),
    CHECK ((status IN ('completed', 'failed')) = (result IS NOT NULL)),
    CHECK ((status = 'processing') = (awaits IS NOT NULL)),
    CHECK (background IS NULL OR run IS NOT NULL),
    CHECK ((background IN ('completed', 'failed')) = (background_ended_at IS NOT NULL)),
    CHECK ((background = 'failed') = (background_error IS NOT NULL))
) STRICT;
INSERT INTO commands_2 (
    seq, id, actor, key, body_hash, verb, args, status, requested_at, processed_at, epoch,
    attempts, response, result)
SELECT
    n - 1 - count, 'c' || printf('%010d', n), actor, key, body_hash, verb, '{}', 'completed', at, at,
    0, 1, '{"ok":true,"data":' || response || '}', '{"ok":true,"data":' || response || '}'
FROM (
    SELECT *, row_number() OVER (ORDER BY at, actor, key) AS n, count(*) OVER () AS count
    FROM commands
);
DROP TABLE commands;
ALTER TABLE commands_2 RENAME TO commands;
CREATE UNIQUE INDEX commands_key ON commands (actor, key);
CREATE INDEX commands_open ON commands (seq) WHERE status IN ('pending', 'processing');
CREATE INDEX commands_run ON commands (run, seq) WHERE run IS NOT NULL;
CREATE INDEX commands_at ON commands (requested_at);
CREATE INDEX commands_background ON commands (background, background_ended_at)
    WHERE background IS NOT NULL;
