-- What a gate left beside its exit code.
ALTER TABLE jobs ADD COLUMN evidence TEXT CHECK (json_valid(evidence));
