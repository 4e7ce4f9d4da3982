-- Every key begins with the scope, a digest of agent and user: a database that distributes tables can do so by it.
-- Numbers of kinds, statuses, operations and actors are their positions in `types/`. Texts that are keys compare by bytes.

-- Schema version, oldest schema whose programs may write, numbers of the models in use, counters of the vector cache.
CREATE TABLE meta (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO meta VALUES ('schema', 0), ('min_writer', 0), ('models', 0), ('model', 0), ('reranker', 0), ('cache_hits', 0), ('cache_misses', 0);

-- A row a scope, which is the lock of its writes. Counters tell how many journal lines, sessions, addresses outside
-- sessions, index blocks and usage lines it has given out. `write_id` names the last write; zero until there was one.
CREATE TABLE scopes (
    scope UUID NOT NULL PRIMARY KEY,
    agent TEXT COLLATE "C" NOT NULL,
    user_name TEXT COLLATE "C" NOT NULL,
    changes BIGINT NOT NULL DEFAULT 0,
    sessions BIGINT NOT NULL DEFAULT 0,
    positions BIGINT NOT NULL DEFAULT 0,
    blocks BIGINT NOT NULL DEFAULT 0,
    usage_lines BIGINT NOT NULL DEFAULT 0,
    captured_at BIGINT,
    index_version BIGINT NOT NULL,
    write_id UUID NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX scopes_index_version ON scopes (index_version);

CREATE TABLE sessions (
    scope UUID NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    positions BIGINT NOT NULL,
    PRIMARY KEY (scope, name)
);
CREATE UNIQUE INDEX sessions_number ON sessions (scope, number);

-- A row a memory, in the order of talk. `seq` is its newest line in the journal, `digest` that of its content,
-- `detail` the rest as JSON. Turns have no `listed_uri`: their uri ends with their id.
CREATE TABLE memories (
    scope UUID NOT NULL,
    address BIGINT NOT NULL,
    id UUID NOT NULL,
    seq BIGINT NOT NULL,
    uri TEXT COLLATE "C" NOT NULL,
    kind SMALLINT NOT NULL,
    status SMALLINT NOT NULL,
    at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    last_used_at BIGINT,
    version BIGINT NOT NULL,
    importance DOUBLE PRECISION NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    weight DOUBLE PRECISION NOT NULL,
    digest UUID NOT NULL,
    detail TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    content TEXT NOT NULL,
    listed_uri TEXT COLLATE "C" GENERATED ALWAYS AS (CASE WHEN kind = 7 THEN NULL ELSE uri END) STORED,
    PRIMARY KEY (scope, address)
);
CREATE UNIQUE INDEX memories_id ON memories (scope, id);
CREATE UNIQUE INDEX memories_uri ON memories (scope, listed_uri) WHERE listed_uri IS NOT NULL;
CREATE INDEX memories_digest ON memories (scope, digest) WHERE kind <> 7;

-- Addresses of deleted memories, and their newest line in the journal.
CREATE TABLE deletions (
    scope UUID NOT NULL,
    id UUID NOT NULL,
    address BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (scope, id)
);

-- `image` is the memory before the change. The first line of a write has its `write_id`.
CREATE TABLE journal (
    scope UUID NOT NULL,
    seq BIGINT NOT NULL,
    id UUID NOT NULL,
    op SMALLINT NOT NULL,
    at BIGINT NOT NULL,
    actor SMALLINT NOT NULL,
    reason TEXT NOT NULL,
    run TEXT COLLATE "C",
    cost BIGINT NOT NULL,
    image BYTEA,
    write_id UUID,
    PRIMARY KEY (scope, seq)
);
CREATE INDEX journal_memory ON journal (scope, id, seq);
CREATE INDEX journal_run ON journal (scope, run, seq) WHERE run IS NOT NULL;

-- Digests of erased texts.
CREATE TABLE tombstones (
    scope UUID NOT NULL,
    digest UUID NOT NULL,
    PRIMARY KEY (scope, digest)
);

-- The search index: new entries in the tail, sealed ones in blocks, whose rows end with a checksum and never change.
CREATE TABLE tail (
    scope UUID NOT NULL,
    address BIGINT NOT NULL,
    entry BYTEA NOT NULL,
    checksum BIGINT NOT NULL,
    model BIGINT NOT NULL,
    vector BYTEA,
    PRIMARY KEY (scope, address)
);

-- `model` is 0 without vectors; `missing` counts documents without one.
CREATE TABLE blocks (
    scope UUID NOT NULL,
    block BIGINT NOT NULL,
    level BIGINT NOT NULL,
    docs BIGINT NOT NULL,
    part_bits BIGINT NOT NULL,
    first_address BIGINT NOT NULL,
    last_address BIGINT NOT NULL,
    model BIGINT NOT NULL,
    missing BIGINT NOT NULL,
    PRIMARY KEY (scope, block)
);

CREATE TABLE block_docs (
    scope UUID NOT NULL,
    block BIGINT NOT NULL,
    number BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (scope, block, number)
);
CREATE TABLE block_parts (
    scope UUID NOT NULL,
    block BIGINT NOT NULL,
    number BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (scope, block, number)
);
CREATE TABLE block_vectors (
    scope UUID NOT NULL,
    block BIGINT NOT NULL,
    number BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (scope, block, number)
);
-- Hashes and quantized vectors do not compress.
ALTER TABLE block_docs ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE block_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE block_vectors ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE block_deletions (
    scope UUID NOT NULL,
    block BIGINT NOT NULL,
    doc BIGINT NOT NULL,
    PRIMARY KEY (scope, block, doc)
);

-- Models that ever made vectors; `meta.model` and `meta.reranker` name those in use. Number 0 stands for none.
CREATE TABLE models (
    number BIGINT NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    dimensions BIGINT NOT NULL
);

CREATE TABLE token_vectors (
    scope UUID NOT NULL,
    address BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (scope, address)
);

-- Vectors of remote models by the digest of their text; days count from 1970.
CREATE TABLE cached_vectors (
    scope UUID NOT NULL,
    model BIGINT NOT NULL,
    is_query SMALLINT NOT NULL,
    digest UUID NOT NULL,
    used_day BIGINT NOT NULL,
    vector BYTEA NOT NULL,
    PRIMARY KEY (scope, model, is_query, digest)
);
CREATE INDEX cached_vectors_used ON cached_vectors (used_day);

-- Memories in prompts: digests and sketches, no texts.
CREATE TABLE usage_log (
    scope UUID NOT NULL,
    seq BIGINT NOT NULL,
    memory UUID NOT NULL,
    session TEXT COLLATE "C" NOT NULL,
    turn BIGINT NOT NULL,
    query_digest UUID NOT NULL,
    at BIGINT NOT NULL,
    shown SMALLINT NOT NULL,
    query_terms BYTEA NOT NULL,
    sketch BYTEA NOT NULL,
    was_used SMALLINT,
    is_weighed SMALLINT NOT NULL DEFAULT 0,
    PRIMARY KEY (scope, seq)
);
CREATE INDEX usage_log_session ON usage_log (scope, session, turn);
CREATE INDEX usage_log_memory ON usage_log (scope, memory);
CREATE INDEX usage_log_unweighed ON usage_log (scope, seq) WHERE was_used IS NOT NULL AND is_weighed = 0;

-- Cost of background work; days count from 1970. A scope may spend before it stores, so these name none of `scopes`.
CREATE TABLE ledger (
    scope UUID NOT NULL,
    day BIGINT NOT NULL,
    job TEXT COLLATE "C" NOT NULL,
    calls BIGINT NOT NULL,
    tokens_read BIGINT NOT NULL,
    tokens_cached BIGINT NOT NULL,
    tokens_written BIGINT NOT NULL,
    millis BIGINT NOT NULL,
    cost DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (scope, day, job)
);
CREATE INDEX ledger_day ON ledger (day);

CREATE TABLE jobs (
    scope UUID NOT NULL,
    job TEXT COLLATE "C" NOT NULL,
    begun_at BIGINT NOT NULL,
    PRIMARY KEY (scope, job)
);

-- Progress of capture: a row a session that ever had a turn, session 0 for turns outside of one. `checkpoint` is the
-- first position that was not read; `turns` and `exchanges` count from there on.
CREATE TABLE captures (
    scope UUID NOT NULL,
    session BIGINT NOT NULL,
    checkpoint BIGINT NOT NULL DEFAULT 0,
    turns BIGINT NOT NULL,
    exchanges BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    ended_at BIGINT,
    owner TEXT,
    leased_until BIGINT,
    failures BIGINT NOT NULL DEFAULT 0,
    invalid BIGINT NOT NULL DEFAULT 0,
    retry_at BIGINT,
    error TEXT,
    PRIMARY KEY (scope, session)
);
CREATE INDEX captures_waiting ON captures (scope) WHERE turns > 0;

-- Quarantined drafts; `body` is JSON.
CREATE TABLE drafts (
    scope UUID NOT NULL,
    id UUID NOT NULL,
    at BIGINT NOT NULL,
    verdict SMALLINT NOT NULL,
    digest UUID NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (scope, id)
);

-- Small documents that servers share; `version` rises with every change.
CREATE TABLE documents (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL,
    body TEXT NOT NULL
);
