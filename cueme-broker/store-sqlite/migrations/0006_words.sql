-- Every word that is indexed, each time it stands somewhere. Nothing is stored for it: it shows what `search` has.
CREATE VIRTUAL TABLE words USING fts5vocab (search, instance);
