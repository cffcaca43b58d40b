-- What agents told: the conversation that a job is for, and what its stream said by its end.
ALTER TABLE jobs ADD COLUMN session TEXT CHECK (json_valid(session));
ALTER TABLE jobs ADD COLUMN told TEXT CHECK (json_valid(told));
