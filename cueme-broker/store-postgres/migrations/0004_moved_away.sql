-- Where the content was moved to: the file of a machine. Brokers refuse a database that was moved away, because its content is in
-- force elsewhere.
ALTER TABLE head
    ADD COLUMN moved_host text,
    ADD COLUMN moved_file text,
    ADD COLUMN moved_at   timestamptz;
