-- A checksum over what an agent will read, because SQLite has none for its pages: a bit that flips on the disk is
-- noticed before anybody acts on it. Absent where a secret was erased, and in rows that are older than this.
ALTER TABLE decisions ADD COLUMN seal BLOB;
