-- Runs that were deleted: what they left is gone, what happened stays in the log.
CREATE TABLE deleted_runs (
    run TEXT NOT NULL PRIMARY KEY,
    cleanup INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
