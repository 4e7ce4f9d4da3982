-- Version of the text analysis that built each scope's index (store/index/entry.rs). Background work rebuilds older ones;
-- a program that knows an older analysis does not write to newer ones.
ALTER TABLE scopes ADD COLUMN index_version INTEGER NOT NULL DEFAULT 0;
UPDATE scopes SET index_version = coalesce((SELECT value FROM meta WHERE key = 'terms'), 0);
DELETE FROM meta WHERE key = 'terms';
CREATE INDEX scopes_index_version ON scopes (index_version);

-- Small documents that several processes share; `version` rises with every change.
CREATE TABLE documents (
    name TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    text TEXT NOT NULL
) WITHOUT ROWID;
