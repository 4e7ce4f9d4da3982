-- Vectors beside the lexical index: one slot a memory, in the order of the block's documents.

-- Every model that ever made vectors here; `meta.model` is the one in use. Number 0 stands for none.
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL
);

ALTER TABLE tail ADD COLUMN model INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tail ADD COLUMN vector BLOB;

-- The model of the vectors of the block, 0 if it has none, and how many of them are still to be made.
ALTER TABLE blocks ADD COLUMN model INTEGER NOT NULL DEFAULT 0;
ALTER TABLE blocks ADD COLUMN unmade INTEGER NOT NULL DEFAULT 0;

-- Slots of vectors, numbered block * 2^20 + index.
CREATE TABLE block_vectors (id INTEGER PRIMARY KEY, slots BLOB NOT NULL);
