-- Every key begins with the scope, a digest of agent and user: a database that distributes tables can do so by it.
-- Numbers of kinds, statuses, operations and actors are their positions in `types/`. Texts that are keys are bytes: no
-- collation takes two of them for one. MySQL commits each statement, so each may run again.

-- Schema version, oldest schema whose programs may write, numbers of the models in use, counters of the vector cache.
CREATE TABLE IF NOT EXISTS meta (
    name VARBINARY(64) NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO meta VALUES ('schema', 0), ('min_writer', 0), ('models', 0), ('model', 0), ('reranker', 0), ('cache_hits', 0), ('cache_misses', 0);

-- A row a scope, which is the lock of its writes. Counters tell how many journal lines, sessions, addresses outside
-- sessions, index blocks and usage lines it has given out. `write_id` names the last write; zero until there was one.
CREATE TABLE IF NOT EXISTS scopes (
    scope BINARY(16) NOT NULL PRIMARY KEY,
    agent VARBINARY(400) NOT NULL,
    user_name VARBINARY(400) NOT NULL,
    changes BIGINT NOT NULL DEFAULT 0,
    sessions BIGINT NOT NULL DEFAULT 0,
    positions BIGINT NOT NULL DEFAULT 0,
    blocks BIGINT NOT NULL DEFAULT 0,
    usage_lines BIGINT NOT NULL DEFAULT 0,
    captured_at BIGINT,
    index_version BIGINT NOT NULL,
    write_id BINARY(16) NOT NULL,
    KEY scopes_index_version (index_version)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS sessions (
    scope BINARY(16) NOT NULL,
    name VARBINARY(2048) NOT NULL,
    number BIGINT NOT NULL,
    positions BIGINT NOT NULL,
    PRIMARY KEY (scope, name),
    UNIQUE KEY sessions_number (scope, number)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A row a memory, in the order of talk. `seq` is its newest line in the journal, `digest` that of its content,
-- `detail` the rest as JSON. Turns have no `listed_uri`: their uri ends with their id.
CREATE TABLE IF NOT EXISTS memories (
    scope BINARY(16) NOT NULL,
    address BIGINT NOT NULL,
    id BINARY(16) NOT NULL,
    seq BIGINT NOT NULL,
    uri LONGTEXT NOT NULL,
    kind SMALLINT NOT NULL,
    status SMALLINT NOT NULL,
    at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    last_used_at BIGINT,
    version BIGINT NOT NULL,
    importance DOUBLE NOT NULL,
    confidence DOUBLE NOT NULL,
    weight DOUBLE NOT NULL,
    digest BINARY(16) NOT NULL,
    detail LONGTEXT NOT NULL,
    name LONGTEXT NOT NULL,
    description LONGTEXT NOT NULL,
    content LONGTEXT NOT NULL,
    listed_uri VARBINARY(3056) GENERATED ALWAYS AS (CASE WHEN kind = 7 THEN NULL ELSE uri END) STORED,
    PRIMARY KEY (scope, address),
    UNIQUE KEY memories_id (scope, id),
    UNIQUE KEY memories_uri (scope, listed_uri),
    KEY memories_digest (scope, digest)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Addresses of deleted memories, and their newest line in the journal.
CREATE TABLE IF NOT EXISTS deletions (
    scope BINARY(16) NOT NULL,
    id BINARY(16) NOT NULL,
    address BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (scope, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- `image` is the memory before the change. The first line of a write has its `write_id`.
CREATE TABLE IF NOT EXISTS journal (
    scope BINARY(16) NOT NULL,
    seq BIGINT NOT NULL,
    id BINARY(16) NOT NULL,
    op SMALLINT NOT NULL,
    at BIGINT NOT NULL,
    actor SMALLINT NOT NULL,
    reason LONGTEXT NOT NULL,
    run VARBINARY(2048),
    cost BIGINT NOT NULL,
    image LONGBLOB,
    write_id BINARY(16),
    PRIMARY KEY (scope, seq),
    KEY journal_memory (scope, id, seq),
    KEY journal_run (scope, run, seq)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Digests of erased texts.
CREATE TABLE IF NOT EXISTS tombstones (
    scope BINARY(16) NOT NULL,
    digest BINARY(16) NOT NULL,
    PRIMARY KEY (scope, digest)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The search index: new entries in the tail, sealed ones in blocks, whose rows end with a checksum and never change.
CREATE TABLE IF NOT EXISTS tail (
    scope BINARY(16) NOT NULL,
    address BIGINT NOT NULL,
    entry LONGBLOB NOT NULL,
    checksum BIGINT NOT NULL,
    model BIGINT NOT NULL,
    vector LONGBLOB,
    PRIMARY KEY (scope, address)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- `model` is 0 without vectors; `missing` counts documents without one.
CREATE TABLE IF NOT EXISTS blocks (
    scope BINARY(16) NOT NULL,
    block BIGINT NOT NULL,
    level BIGINT NOT NULL,
    docs BIGINT NOT NULL,
    part_bits BIGINT NOT NULL,
    first_address BIGINT NOT NULL,
    last_address BIGINT NOT NULL,
    model BIGINT NOT NULL,
    missing BIGINT NOT NULL,
    PRIMARY KEY (scope, block)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS block_docs (
    scope BINARY(16) NOT NULL,
    block BIGINT NOT NULL,
    number BIGINT NOT NULL,
    bytes LONGBLOB NOT NULL,
    PRIMARY KEY (scope, block, number)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS block_parts (
    scope BINARY(16) NOT NULL,
    block BIGINT NOT NULL,
    number BIGINT NOT NULL,
    bytes LONGBLOB NOT NULL,
    PRIMARY KEY (scope, block, number)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS block_vectors (
    scope BINARY(16) NOT NULL,
    block BIGINT NOT NULL,
    number BIGINT NOT NULL,
    bytes LONGBLOB NOT NULL,
    PRIMARY KEY (scope, block, number)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS block_deletions (
    scope BINARY(16) NOT NULL,
    block BIGINT NOT NULL,
    doc BIGINT NOT NULL,
    PRIMARY KEY (scope, block, doc)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Models that ever made vectors; `meta.model` and `meta.reranker` name those in use. Number 0 stands for none.
CREATE TABLE IF NOT EXISTS models (
    number BIGINT NOT NULL PRIMARY KEY,
    name VARBINARY(2048) NOT NULL UNIQUE,
    dimensions BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS token_vectors (
    scope BINARY(16) NOT NULL,
    address BIGINT NOT NULL,
    bytes LONGBLOB NOT NULL,
    PRIMARY KEY (scope, address)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Vectors of remote models by the digest of their text; days count from 1970.
CREATE TABLE IF NOT EXISTS cached_vectors (
    scope BINARY(16) NOT NULL,
    model BIGINT NOT NULL,
    is_query SMALLINT NOT NULL,
    digest BINARY(16) NOT NULL,
    used_day BIGINT NOT NULL,
    vector LONGBLOB NOT NULL,
    PRIMARY KEY (scope, model, is_query, digest),
    KEY cached_vectors_used (used_day)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Memories in prompts: digests and sketches, no texts.
CREATE TABLE IF NOT EXISTS usage_log (
    scope BINARY(16) NOT NULL,
    seq BIGINT NOT NULL,
    memory BINARY(16) NOT NULL,
    session VARBINARY(2048) NOT NULL,
    turn BIGINT NOT NULL,
    query_digest BINARY(16) NOT NULL,
    at BIGINT NOT NULL,
    shown SMALLINT NOT NULL,
    query_terms LONGBLOB NOT NULL,
    sketch LONGBLOB NOT NULL,
    was_used SMALLINT,
    is_weighed SMALLINT NOT NULL DEFAULT 0,
    PRIMARY KEY (scope, seq),
    KEY usage_log_session (scope, session, turn),
    KEY usage_log_memory (scope, memory),
    KEY usage_log_unweighed (scope, is_weighed, seq)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Cost of background work; days count from 1970. A scope may spend before it stores, so these name none of `scopes`.
CREATE TABLE IF NOT EXISTS ledger (
    scope BINARY(16) NOT NULL,
    day BIGINT NOT NULL,
    job VARBINARY(400) NOT NULL,
    calls BIGINT NOT NULL,
    tokens_read BIGINT NOT NULL,
    tokens_cached BIGINT NOT NULL,
    tokens_written BIGINT NOT NULL,
    millis BIGINT NOT NULL,
    cost DOUBLE NOT NULL,
    PRIMARY KEY (scope, day, job),
    KEY ledger_day (day)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS jobs (
    scope BINARY(16) NOT NULL,
    job VARBINARY(400) NOT NULL,
    begun_at BIGINT NOT NULL,
    PRIMARY KEY (scope, job)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Progress of capture: a row a session that ever had a turn, session 0 for turns outside of one. `checkpoint` is the
-- first position that was not read; `turns` and `exchanges` count from there on.
CREATE TABLE IF NOT EXISTS captures (
    scope BINARY(16) NOT NULL,
    session BIGINT NOT NULL,
    checkpoint BIGINT NOT NULL DEFAULT 0,
    turns BIGINT NOT NULL,
    exchanges BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    ended_at BIGINT,
    owner LONGTEXT,
    leased_until BIGINT,
    failures BIGINT NOT NULL DEFAULT 0,
    invalid BIGINT NOT NULL DEFAULT 0,
    retry_at BIGINT,
    error LONGTEXT,
    PRIMARY KEY (scope, session),
    KEY captures_waiting (turns)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Quarantined drafts; `body` is JSON.
CREATE TABLE IF NOT EXISTS drafts (
    scope BINARY(16) NOT NULL,
    id BINARY(16) NOT NULL,
    at BIGINT NOT NULL,
    verdict SMALLINT NOT NULL,
    digest BINARY(16) NOT NULL,
    body LONGTEXT NOT NULL,
    PRIMARY KEY (scope, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Small documents that servers share; `version` rises with every change.
CREATE TABLE IF NOT EXISTS documents (
    name VARBINARY(2048) NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL,
    body LONGTEXT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
