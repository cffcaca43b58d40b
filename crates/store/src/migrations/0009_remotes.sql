-- A landing may wait for its remote to answer.

CREATE TABLE features_9 (
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
        'lock', 'no_progress', 'push_refused', 'quota', 'remote_unreachable', 'resources', 'review',
        'setup', 'silent_revert')),
    iteration INTEGER NOT NULL,
    tested_commit TEXT,
    landed_commit TEXT,
    feature_state TEXT NOT NULL CHECK (json_valid(feature_state)),
    PRIMARY KEY (run, feature),
    CHECK ((word = 'blocked') = (blocked IS NOT NULL)),
    CHECK (landed_commit IS NULL OR word = 'landed')
) STRICT, WITHOUT ROWID;
INSERT INTO features_9 (
    run, position, feature, wave, title, word, blocked, iteration, tested_commit, landed_commit,
    feature_state)
SELECT
    run, position, feature, wave, title, word, blocked, iteration, tested_commit, landed_commit,
    feature_state
FROM features;
DROP TABLE features;
ALTER TABLE features_9 RENAME TO features;

-- It went with its table.
CREATE INDEX features_feature ON features (feature);
