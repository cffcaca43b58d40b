-- Turns of runs: priorities within a queue, holds, and pauses of queues. Stalls of jobs.
ALTER TABLE runs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN hold TEXT CHECK (json_valid(hold));
-- The next one of a queue, without a look at the others.
CREATE INDEX runs_turn ON runs (project, lane, adhoc, priority DESC, seq)
    WHERE status = 'pending' AND hold IS NULL;

-- Pauses of queues; an empty name means every project or every lane.
CREATE TABLE pauses (
    project TEXT NOT NULL,
    lane TEXT NOT NULL,
    pause TEXT NOT NULL CHECK (json_valid(pause)),
    PRIMARY KEY (project, lane)
) STRICT, WITHOUT ROWID;

-- When a job without a sign of life was noticed, on the wall clock.
ALTER TABLE jobs ADD COLUMN stalled_at INTEGER;
