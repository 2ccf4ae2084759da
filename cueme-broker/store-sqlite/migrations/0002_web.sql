-- What a human made of an agent.
ALTER TABLE agents ADD COLUMN pinned   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN standing TEXT;
-- The newest question a human has looked at.
ALTER TABLE agents ADD COLUMN read_seq INTEGER NOT NULL DEFAULT 0;
-- The token it joined with, when it came over HTTP.
ALTER TABLE agents ADD COLUMN token_id TEXT;
CREATE INDEX agents_of_token ON agents (token_id) WHERE token_id IS NOT NULL;

-- Where in the queue a message was moved to; its own number unless it was moved.
ALTER TABLE messages ADD COLUMN place INTEGER;

-- What somebody has begun to write, by the question or the agent it is for.
CREATE TABLE drafts (
    place      TEXT    NOT NULL PRIMARY KEY,
    rev        INTEGER NOT NULL,
    body       TEXT    NOT NULL,
    written_by TEXT,
    written_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Files that humans added. The bytes are in the directory of attachments.
CREATE TABLE uploads (
    upload_id   TEXT    NOT NULL PRIMARY KEY,
    path        TEXT    NOT NULL UNIQUE,
    name        TEXT    NOT NULL,
    media_type  TEXT    NOT NULL,
    bytes       INTEGER NOT NULL,
    uploaded_at INTEGER NOT NULL,
    cue_id      TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX uploads_of_cue ON uploads (cue_id) WHERE cue_id IS NOT NULL;

-- Who may come in. Only hashes of what they carry are kept.
CREATE TABLE devices (
    device_id  TEXT    NOT NULL PRIMARY KEY,
    token_hash BLOB    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE links (
    token_hash BLOB    NOT NULL PRIMARY KEY,
    name       TEXT,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (
    token_id   TEXT    NOT NULL PRIMARY KEY,
    token_hash BLOB    NOT NULL UNIQUE,
    scope      INTEGER NOT NULL,
    agent_id   TEXT REFERENCES agents (agent_id),
    name       TEXT,
    created_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT, WITHOUT ROWID;

-- What humans chose on the page, as JSON.
CREATE TABLE settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Questions a rule has answered or tried to: it never tries twice.
CREATE TABLE automatic (
    cue_id TEXT    NOT NULL PRIMARY KEY,
    policy TEXT    NOT NULL,
    at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX automatic_of_policy ON automatic (policy, at);

-- What was sent where, so that it is sent once and can be taken back.
CREATE TABLE notified (
    cue_id    TEXT    NOT NULL,
    channel   TEXT    NOT NULL,
    reference TEXT,
    at        INTEGER NOT NULL,
    PRIMARY KEY (cue_id, channel)
) STRICT, WITHOUT ROWID;
