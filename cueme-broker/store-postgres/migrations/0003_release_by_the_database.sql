-- When a held answer goes out by the clock of the database, which all brokers share; `released_at` is by that of the broker
-- that decided. A copied row has none.
ALTER TABLE decisions ADD COLUMN release_at timestamptz;
