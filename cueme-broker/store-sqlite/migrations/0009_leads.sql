-- Which driver of a run speaks with the human, and what was to be sent to its agent last: the questions that it answers, and
-- where the conversation stood. A driver that comes back after a crash of the broker, or in another's place, knows it from here.
CREATE TABLE run_leads (
    run_id   TEXT NOT NULL PRIMARY KEY,
    leader   TEXT NOT NULL,
    sender   TEXT,
    cue_ids  TEXT,
    position TEXT
) STRICT, WITHOUT ROWID;
