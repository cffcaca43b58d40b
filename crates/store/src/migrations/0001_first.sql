-- The home: one row. Counters live here so that one guarded update fences every transaction.
CREATE TABLE home_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    home_id TEXT NOT NULL CHECK (length(home_id) = 16),
    generation INTEGER NOT NULL CHECK (generation >= 1),
    epoch INTEGER NOT NULL CHECK (epoch >= 0),
    turn INTEGER NOT NULL CHECK (turn >= 0),
    seq INTEGER NOT NULL CHECK (seq >= 0),
    run_seq INTEGER NOT NULL CHECK (run_seq >= 0),
    head BLOB NOT NULL CHECK (length(head) = 32),
    daemon_pid INTEGER,
    daemon_version TEXT,
    daemon_started_at INTEGER,
    daemon_stopped_at INTEGER,
    CHECK ((daemon_pid IS NULL) = (daemon_version IS NULL)),
    CHECK ((daemon_pid IS NULL) = (daemon_started_at IS NULL))
) STRICT;

-- The log. Append-only; a subject is `home`, `<run>` or `<run>/<feature>`.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    subject TEXT NOT NULL,
    n INTEGER NOT NULL CHECK (n >= 1),
    run TEXT,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL CHECK (at >= 0),
    generation INTEGER NOT NULL CHECK (generation >= 1),
    epoch INTEGER NOT NULL CHECK (epoch >= 1),
    body TEXT NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    CHECK ((run IS NULL) = (subject = 'home')),
    CHECK (run IS NULL OR subject = run OR substr(subject, 1, 12) = run || '/')
) STRICT;
CREATE UNIQUE INDEX events_subject ON events (subject, n);
CREATE INDEX events_run ON events (run, seq) WHERE run IS NOT NULL;

-- The newest entry of every subject: tells a cut tail from a short log.
CREATE TABLE chains (
    subject TEXT PRIMARY KEY,
    n INTEGER NOT NULL CHECK (n >= 1),
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
    id TEXT PRIMARY KEY CHECK (length(id) = 64),
    bytes BLOB NOT NULL
) STRICT;

-- From here on: projections of the log.

CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    common_dir TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX projects_common_dir ON projects (common_dir);

CREATE TABLE runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (length(id) = 11 AND id GLOB 'r*'),
    project TEXT NOT NULL,
    lane TEXT NOT NULL,
    adhoc TEXT NOT NULL,
    actor TEXT NOT NULL,
    parent TEXT,
    env TEXT NOT NULL,
    submitted_at INTEGER NOT NULL,
    claimed_at INTEGER,
    started_at INTEGER,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER,
    status TEXT NOT NULL
        CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    supervisor TEXT,
    cancel_actor TEXT,
    detail TEXT,
    active_wave INTEGER,
    exit_code INTEGER,
    signal INTEGER,
    disposition TEXT NOT NULL CHECK (disposition IN (
        'pending', 'running', 'completed', 'failed', 'cancelled',
        'launcher-lost-agents-running', 'launcher-lost-before-status')),
    recovery TEXT NOT NULL CHECK (recovery IN (
        'pending', 'healthy', 'degraded', 'resuming', 'recovered-from-progress', 'failed')),
    resume_action TEXT CHECK (resume_action IN ('wait-for-live-agents', 'resume-current-wave')),
    kind TEXT NOT NULL CHECK (kind IN ('launcher', 'plan')),
    -- Launcher runs.
    launcher_spec TEXT CHECK (json_valid(launcher_spec)),
    launcher_state TEXT CHECK (json_valid(launcher_state)),
    launcher_job INTEGER,
    launcher_pid INTEGER,
    resumes INTEGER NOT NULL,
    -- Plan runs.
    plan_title TEXT,
    plan_path TEXT,
    plan_target TEXT,
    plan_source TEXT,
    plan_config TEXT,
    features_total INTEGER NOT NULL,
    features_landed INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    CHECK ((status IN ('completed', 'failed', 'cancelled')) = (ended_at IS NOT NULL)),
    CHECK (status <> 'pending' OR (claimed_at IS NULL AND started_at IS NULL)),
    CHECK (status <> 'running' OR claimed_at IS NOT NULL),
    CHECK (status <> 'cancelled' OR cancel_actor IS NOT NULL),
    CHECK (status <> 'pending' OR disposition = 'pending'),
    CHECK (status <> 'completed' OR disposition = 'completed'),
    CHECK (status <> 'cancelled' OR disposition = 'cancelled'),
    CHECK (status <> 'failed' OR disposition IN ('failed', 'launcher-lost-before-status')),
    CHECK (status <> 'running' OR disposition IN ('running', 'launcher-lost-agents-running')),
    CHECK ((kind = 'launcher') = (launcher_spec IS NOT NULL)),
    CHECK ((kind = 'launcher') = (launcher_state IS NOT NULL)),
    CHECK ((kind = 'plan') = (plan_title IS NOT NULL)),
    CHECK ((kind = 'plan') = (plan_path IS NOT NULL)),
    CHECK ((kind = 'plan') = (plan_target IS NOT NULL)),
    CHECK ((kind = 'plan') = (plan_source IS NOT NULL)),
    CHECK (features_landed BETWEEN 0 AND features_total)
) STRICT;
-- At most one active run of a queue.
CREATE UNIQUE INDEX runs_active ON runs (project, lane, adhoc) WHERE status = 'running';
CREATE INDEX runs_status ON runs (status, seq);
CREATE INDEX runs_project ON runs (project, seq);
CREATE INDEX runs_lane ON runs (project, lane, seq);
CREATE INDEX runs_wave_seq ON runs (active_wave, seq);
CREATE INDEX runs_wave_lane ON runs (project, lane, active_wave, status, updated_at, adhoc);
CREATE INDEX runs_wave ON runs (active_wave, status, updated_at, project, lane, adhoc);
CREATE INDEX runs_plan ON runs (project, plan_path, seq) WHERE plan_path IS NOT NULL;
CREATE INDEX runs_parent ON runs (parent, seq) WHERE parent IS NOT NULL;

CREATE TABLE blob_refs (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    blob TEXT NOT NULL REFERENCES blobs (id),
    PRIMARY KEY (run, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_refs_blob ON blob_refs (blob);

CREATE TABLE features (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    feature TEXT NOT NULL,
    wave INTEGER NOT NULL,
    title TEXT NOT NULL,
    word TEXT NOT NULL CHECK (word IN (
        'queued', 'building', 'verifying', 'in_review', 'landing', 'blocked',
        'landed', 'failed', 'cancelled', 'skipped')),
    blocked TEXT CHECK (blocked IN (
        'conflict', 'target_dirty', 'target_missing', 'repo_held', 'git', 'quarantine')),
    iteration INTEGER NOT NULL,
    tested_commit TEXT,
    landed_commit TEXT,
    feature_state TEXT NOT NULL CHECK (json_valid(feature_state)),
    PRIMARY KEY (run, feature),
    CHECK ((word = 'blocked') = (blocked IS NOT NULL)),
    CHECK (landed_commit IS NULL OR word = 'landed')
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 1),
    purpose TEXT NOT NULL CHECK (purpose IN ('launcher', 'launcher_agent', 'agent', 'gate')),
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
    CHECK ((purpose IN ('agent', 'gate')) = (feature IS NOT NULL)),
    CHECK (word <> 'launching' OR started IS NULL),
    CHECK (word <> 'running' OR started IS NOT NULL),
    CHECK ((word = 'stopping') = (stop_actor IS NOT NULL)),
    CHECK ((word = 'finished') = (exit IS NOT NULL)),
    CHECK ((word = 'finished') = (reason IS NOT NULL)),
    CHECK ((word = 'quarantined') = (quarantine IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- Agents of a launcher: registered by it, or started for it, or both in turn.
CREATE TABLE agents (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    job INTEGER,
    registered TEXT CHECK (json_valid(registered)),
    PRIMARY KEY (run, agent),
    CHECK (job IS NOT NULL OR registered IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- Effects that the state asks for and nobody has confirmed.
CREATE TABLE outbox (
    run INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    key TEXT NOT NULL,
    opened_seq INTEGER NOT NULL,
    opened_at INTEGER NOT NULL,
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

-- Runs whose records do not read back: their lanes are held.
CREATE TABLE quarantined (
    run TEXT PRIMARY KEY,
    why TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Answers of commands, kept so that a repeated one is answered and not repeated.
CREATE TABLE commands (
    actor TEXT NOT NULL,
    key TEXT NOT NULL,
    verb TEXT NOT NULL,
    body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
    response TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (actor, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX commands_at ON commands (at);
