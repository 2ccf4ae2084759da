-- What a human may not have seen of an agent is counted by what there is of it, not by everything the agent ever asked:
-- its open questions, and those a rule answered.
ALTER TABLE cues ADD COLUMN automatic INTEGER NOT NULL DEFAULT 0;
UPDATE cues SET automatic = 1 WHERE seq IN (SELECT seq FROM decisions WHERE decided_by LIKE 'policy:%');
CREATE INDEX cues_open ON cues (agent_id, seq) WHERE outcome = 0;
CREATE INDEX cues_automatic ON cues (agent_id, seq) WHERE automatic = 1;
