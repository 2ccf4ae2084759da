-- What a message is for: 0 a note that goes above the next answer, 1 an answer for the next plain question. Messages from
-- before this are notes, so that none of them becomes an answer to a question its author has not seen.
ALTER TABLE messages ADD COLUMN purpose INTEGER NOT NULL DEFAULT 0;
-- Whether a queued answer decided it, before a human saw the question.
ALTER TABLE decisions ADD COLUMN from_queue INTEGER NOT NULL DEFAULT 0;
-- When the last client stopped waiting for it, while none waits.
ALTER TABLE cues ADD COLUMN detached_at INTEGER;

-- Which answers carry an uploaded file: one file may be in several.
CREATE TABLE upload_uses (
    upload_id TEXT NOT NULL REFERENCES uploads (upload_id) ON DELETE CASCADE,
    cue_id    TEXT NOT NULL,
    PRIMARY KEY (upload_id, cue_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX upload_uses_of_cue ON upload_uses (cue_id);
INSERT INTO upload_uses (upload_id, cue_id) SELECT upload_id, cue_id FROM uploads WHERE cue_id IS NOT NULL;
DROP INDEX uploads_of_cue;
ALTER TABLE uploads DROP COLUMN cue_id;
