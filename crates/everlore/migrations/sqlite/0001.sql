-- Numbers of kinds, statuses, operations and actors are their positions in `types/`.

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- Whose memories there are, and how many journal lines, sessions and places outside sessions each scope has given out.
CREATE TABLE scopes (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    user TEXT NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0,
    sessions INTEGER NOT NULL DEFAULT 0,
    positions INTEGER NOT NULL DEFAULT 0,
    UNIQUE (agent, user)
);

CREATE TABLE sessions (
    scope INTEGER NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    positions INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) WITHOUT ROWID;

-- One row a memory, in the order of talk; `seq` is its newest line in the journal, `detail` the rest of it as JSON.
CREATE TABLE memories (
    scope INTEGER NOT NULL,
    place INTEGER NOT NULL,
    id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    uri TEXT NOT NULL,
    kind INTEGER NOT NULL,
    status INTEGER NOT NULL,
    at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_used_at INTEGER,
    version INTEGER NOT NULL,
    importance REAL NOT NULL,
    confidence REAL NOT NULL,
    weight REAL NOT NULL,
    text BLOB NOT NULL,
    detail TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (scope, place)
) WITHOUT ROWID;
CREATE UNIQUE INDEX memories_id ON memories (scope, id);
-- The uri of a turn ends with its id, and turns may say the same twice: neither needs an index.
CREATE UNIQUE INDEX memories_uri ON memories (scope, uri) WHERE kind <> 7;
CREATE INDEX memories_text ON memories (scope, text) WHERE kind <> 7;

-- Where removed memories stood, and their newest line in the journal.
CREATE TABLE gone (
    scope INTEGER NOT NULL,
    id BLOB NOT NULL,
    place INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (scope, id)
) WITHOUT ROWID;

-- The journal. `prev` is the line before of the same memory. What a memory said after a change is what it said before
-- the next one, or what its row says now, so only `before` is kept.
CREATE TABLE changes (
    scope INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id BLOB NOT NULL,
    op INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor INTEGER NOT NULL,
    cause TEXT NOT NULL,
    run TEXT,
    cost INTEGER NOT NULL,
    prev INTEGER,
    before BLOB,
    PRIMARY KEY (scope, seq)
) WITHOUT ROWID;
CREATE INDEX changes_run ON changes (scope, run) WHERE run IS NOT NULL;

-- Digests of erased texts.
CREATE TABLE tombstones (
    scope INTEGER NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (scope, text)
) WITHOUT ROWID;

-- The lexical index (docs/decisions/0001): new entries in the tail, sealed ones in blocks.
CREATE TABLE tail (
    scope INTEGER NOT NULL,
    place INTEGER NOT NULL,
    entry BLOB NOT NULL,
    PRIMARY KEY (scope, place)
) WITHOUT ROWID;

CREATE TABLE blocks (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    level INTEGER NOT NULL,
    docs INTEGER NOT NULL,
    part_bits INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL
);
CREATE INDEX blocks_scope ON blocks (scope, level);

-- Pages of documents and parts of postings, numbered block * 2^20 + index.
CREATE TABLE block_pages (id INTEGER PRIMARY KEY, docs BLOB NOT NULL);
CREATE TABLE block_parts (id INTEGER PRIMARY KEY, postings BLOB NOT NULL);

-- Documents of blocks that are no longer there.
CREATE TABLE block_gone (
    block INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    PRIMARY KEY (block, doc)
) WITHOUT ROWID;
