-- Which memories were put into which prompts: no texts, only digests (`query`, `asked`) and sketches of terms. `shown` and
-- `used` are numbers of `store/usage.rs`; `weighed` tells whether weights have followed.
CREATE TABLE usage (
    scope INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    memory BLOB NOT NULL,
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    query BLOB NOT NULL,
    at INTEGER NOT NULL,
    shown INTEGER NOT NULL,
    asked BLOB NOT NULL,
    sketch BLOB NOT NULL,
    used INTEGER,
    weighed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (scope, seq)
) WITHOUT ROWID;
CREATE INDEX usage_session ON usage (scope, session, turn);
CREATE INDEX usage_memory ON usage (scope, memory);
CREATE INDEX usage_unweighed ON usage (scope, seq) WHERE used IS NOT NULL AND weighed = 0;

-- What background work spent; days count from 1970. By name, because a scope may spend before it stores.
CREATE TABLE ledger (
    day INTEGER NOT NULL,
    agent TEXT NOT NULL,
    user TEXT NOT NULL,
    job TEXT NOT NULL,
    calls INTEGER NOT NULL,
    read INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    written INTEGER NOT NULL,
    millis INTEGER NOT NULL,
    cost REAL NOT NULL,
    PRIMARY KEY (day, agent, user, job)
) WITHOUT ROWID;

-- When background work was last begun.
CREATE TABLE jobs (
    agent TEXT NOT NULL,
    user TEXT NOT NULL,
    job TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    PRIMARY KEY (agent, user, job)
) WITHOUT ROWID;
