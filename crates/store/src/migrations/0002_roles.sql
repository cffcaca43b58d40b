-- Features may be worked on by agents of several roles, and wait for more than they did; jobs may be hooks.

CREATE TABLE features_2 (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    feature TEXT NOT NULL,
    wave INTEGER NOT NULL,
    title TEXT NOT NULL,
    word TEXT NOT NULL CHECK (word IN (
        'queued', 'planning', 'building', 'verifying', 'in_review', 'reconciling', 'landing',
        'blocked', 'landed', 'failed', 'cancelled', 'skipped')),
    blocked TEXT CHECK (blocked IN (
        'conflict', 'target_dirty', 'target_missing', 'repo_held', 'git', 'quarantine',
        'auth', 'budget', 'collision', 'diverged', 'gate', 'input', 'integrity', 'limit', 'local_behind',
        'lock', 'no_progress', 'push_refused', 'quota', 'resources', 'review', 'setup', 'silent_revert')),
    iteration INTEGER NOT NULL,
    tested_commit TEXT,
    landed_commit TEXT,
    feature_state TEXT NOT NULL CHECK (json_valid(feature_state)),
    PRIMARY KEY (run, feature),
    CHECK ((word = 'blocked') = (blocked IS NOT NULL)),
    CHECK (landed_commit IS NULL OR word = 'landed')
) STRICT, WITHOUT ROWID;
INSERT INTO features_2 (
    run, position, feature, wave, title, word, blocked, iteration, tested_commit, landed_commit,
    feature_state)
SELECT
    run, position, feature, wave, title, word, blocked, iteration, tested_commit, landed_commit,
    CASE json_extract(feature_state, '$.state.word')
        WHEN 'building' THEN
            json_set(feature_state, '$.state.word', 'working', '$.state.role', 'builder')
        ELSE feature_state
    END
FROM features;
DROP TABLE features;
ALTER TABLE features_2 RENAME TO features;

CREATE TABLE jobs_2 (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 1),
    purpose TEXT NOT NULL CHECK (purpose IN ('launcher', 'launcher_agent', 'agent', 'gate', 'hook')),
    feature TEXT,
    what TEXT NOT NULL CHECK (json_valid(what)),
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    nonce TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    word TEXT NOT NULL
        CHECK (word IN ('launching', 'running', 'stopping', 'finished', 'quarantined')),
    started TEXT CHECK (json_valid(started)),
    stop_actor TEXT,
    exit TEXT CHECK (json_valid(exit)),
    reason TEXT CHECK (reason IN (
        'exited', 'signalled', 'stopped', 'timeout', 'limit', 'oom', 'lost_shim', 'lost_reboot',
        'exec_failed', 'storage')),
    quarantine TEXT,
    PRIMARY KEY (run, number),
    CHECK ((purpose IN ('agent', 'gate', 'hook')) = (feature IS NOT NULL)),
    CHECK (word <> 'launching' OR started IS NULL),
    CHECK (word <> 'running' OR started IS NOT NULL),
    CHECK ((word = 'stopping') = (stop_actor IS NOT NULL)),
    CHECK ((word = 'finished') = (exit IS NOT NULL)),
    CHECK ((word = 'finished') = (reason IS NOT NULL)),
    CHECK ((word = 'quarantined') = (quarantine IS NOT NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO jobs_2 SELECT * FROM jobs;
DROP TABLE jobs;
ALTER TABLE jobs_2 RENAME TO jobs;
