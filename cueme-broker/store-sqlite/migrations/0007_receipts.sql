-- A question that is deleted takes its receipts with it, without a look at everybody else's.
CREATE INDEX receipts_of_cue ON receipts (cue_id);
