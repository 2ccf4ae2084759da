-- Runs that adapters drive, on this machine or in a cloud.
CREATE TABLE runs (
    seq            INTEGER NOT NULL PRIMARY KEY,
    run_id         TEXT    NOT NULL UNIQUE,
    kind           INTEGER NOT NULL,
    agent_id       TEXT REFERENCES agents (agent_id),
    project        TEXT    NOT NULL,
    title          TEXT    NOT NULL,
    status         TEXT    NOT NULL,
    ending         INTEGER,
    error          TEXT,
    session        TEXT,
    session_params TEXT,
    model          TEXT,
    branch         TEXT,
    pr_url         TEXT,
    url            TEXT,
    started_at     INTEGER NOT NULL,
    changed_at     INTEGER NOT NULL,
    ended_at       INTEGER
) STRICT;
CREATE INDEX runs_of_session ON runs (session) WHERE session IS NOT NULL;
CREATE INDEX runs_of_agent ON runs (agent_id) WHERE agent_id IS NOT NULL;

-- What happened in them.
CREATE TABLE run_events (
    seq    INTEGER NOT NULL PRIMARY KEY,
    run_id TEXT    NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    at     INTEGER NOT NULL,
    what   TEXT    NOT NULL,
    text   TEXT    NOT NULL
) STRICT;
CREATE INDEX run_events_of_run ON run_events (run_id, seq);

-- Webhooks that were received, so that each is acted on once.
CREATE TABLE deliveries (
    delivery_id TEXT    NOT NULL PRIMARY KEY,
    session     TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_by_age ON deliveries (received_at);

-- One-time tokens that were not exchanged yet. Only their hashes are kept.
CREATE TABLE bootstraps (
    token_hash BLOB    NOT NULL PRIMARY KEY,
    agent_id   TEXT    NOT NULL REFERENCES agents (agent_id),
    run_id     TEXT    NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
