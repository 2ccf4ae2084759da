-- What an agent is. Names, sessions and times may change; the id never does.
CREATE TABLE agents (
    agent_id    TEXT    NOT NULL PRIMARY KEY,
    runtime     TEXT    NOT NULL,
    project_dir TEXT    NOT NULL,
    terminal    TEXT    NOT NULL,
    session     TEXT,
    name        TEXT,
    joined_at   INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX agents_session ON agents (runtime, session) WHERE session IS NOT NULL;

-- The state of a question: small rows that are updated in place.
CREATE TABLE cues (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    cue_id          TEXT    NOT NULL UNIQUE,
    agent_id        TEXT    NOT NULL REFERENCES agents (agent_id),
    kind            INTEGER NOT NULL,
    origin          INTEGER NOT NULL,
    content         BLOB    NOT NULL,
    asked_at        INTEGER NOT NULL,
    outcome         INTEGER NOT NULL DEFAULT 0,
    delivery        INTEGER NOT NULL DEFAULT 0,
    handed_at       INTEGER,
    acknowledged_at INTEGER
) STRICT;
CREATE INDEX cues_of_agent ON cues (agent_id, seq);
-- What the machine keeps in memory: everything the agent has not acknowledged.
CREATE INDEX cues_live ON cues (seq) WHERE delivery < 2;

-- The words of a question: large rows that are written once.
CREATE TABLE questions (
    seq     INTEGER PRIMARY KEY REFERENCES cues (seq) ON DELETE CASCADE,
    prompt  TEXT NOT NULL,
    payload TEXT
) STRICT;

-- The words of a decision: written once, erased where they hold secrets, removed when taken back.
CREATE TABLE decisions (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    seq             INTEGER NOT NULL UNIQUE REFERENCES cues (seq) ON DELETE CASCADE,
    request_id      BLOB    NOT NULL,
    text            TEXT    NOT NULL,
    reminder        TEXT,
    answer          TEXT,
    redacted_text   TEXT,
    redacted_answer TEXT,
    decided_by      TEXT,
    decided_at      INTEGER NOT NULL,
    released_at     INTEGER
) STRICT;

-- Every call that means a question, for ever: this is what makes sending again safe.
CREATE TABLE requests (
    request_id BLOB    NOT NULL PRIMARY KEY,
    seq        INTEGER NOT NULL REFERENCES cues (seq) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_of_cue ON requests (seq);

-- Messages that humans left before being asked.
CREATE TABLE messages (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id BLOB    NOT NULL UNIQUE,
    agent_id   TEXT    NOT NULL REFERENCES agents (agent_id),
    text       TEXT    NOT NULL,
    said_by    TEXT,
    said_at    INTEGER NOT NULL,
    cue_id     TEXT
) STRICT;
CREATE INDEX messages_waiting ON messages (agent_id, seq) WHERE cue_id IS NULL;
CREATE INDEX messages_of_cue ON messages (cue_id) WHERE cue_id IS NOT NULL;

-- Which deliveries were acknowledged in which turn.
CREATE TABLE receipts (
    nonce           TEXT    NOT NULL,
    cue_id          TEXT    NOT NULL,
    acknowledged_at INTEGER NOT NULL
) STRICT;
CREATE INDEX receipts_of_turn ON receipts (nonce);

-- What happened, in order. Only ever appended to.
CREATE TABLE events (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL,
    what     INTEGER NOT NULL,
    agent_id TEXT    NOT NULL,
    cue_id   TEXT
) STRICT;

-- Full text: row 2n is the question of cue n, row 2n+1 what was answered. Filled behind the commits it follows;
-- the marks say how far.
CREATE VIRTUAL TABLE search USING fts5 (
    body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);
CREATE TABLE marks (
    name  TEXT    NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;
INSERT INTO marks (name, value) VALUES ('questions_indexed', 0), ('decisions_indexed', 0);
