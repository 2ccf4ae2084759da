-- Where the content was moved to: the file of a machine. Brokers refuse a database that was moved away, because its content is in
-- force elsewhere.
ALTER TABLE head
    ADD COLUMN moved_host text,
    ADD COLUMN moved_file text,
    ADD COLUMN moved_at   timestamptz;

-- The timeline of the server, which changes when a standby is promoted or the server is restored to a time. The identity changes with
-- it, because the history may lack its newest part: its numbers are given again.
ALTER TABLE head ADD COLUMN timeline text;

-- Files that were deleted: the path of each, and the questions whose agents got a copy of it. Every broker removes them from its own
-- disk.
CREATE TABLE dropped_files (
    name       text        PRIMARY KEY,
    dropped_at timestamptz NOT NULL DEFAULT now()
);
