-- What is still to be drawn from conversations: a row a session that ever had a turn, session 0 for turns outside of one.
-- `extracted` is the first position that was not read yet; `turns` and `exchanges` count what stands from there on, and change
-- with the rows in the same transaction. `owner` and `until` are the lease; `invalid` counts answers that could not be used.
CREATE TABLE captures (
    scope INTEGER NOT NULL,
    session INTEGER NOT NULL,
    extracted INTEGER NOT NULL DEFAULT 0,
    turns INTEGER NOT NULL DEFAULT 0,
    exchanges INTEGER NOT NULL DEFAULT 0,
    last_at INTEGER NOT NULL,
    ended_at INTEGER,
    owner TEXT,
    until INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    invalid INTEGER NOT NULL DEFAULT 0,
    retry_at INTEGER,
    error TEXT,
    PRIMARY KEY (scope, session)
) WITHOUT ROWID;
CREATE INDEX captures_waiting ON captures (scope) WHERE turns > 0;

CREATE UNIQUE INDEX sessions_number ON sessions (scope, number);

-- When memories were last drawn from a scope's conversations.
ALTER TABLE scopes ADD COLUMN extracted_at INTEGER;

INSERT INTO captures (scope, session, turns, exchanges, last_at)
SELECT scope, place >> 32, count(*),
    sum(coalesce(json_extract(detail, '$.source.role'), 'user') = 'user'), max(created_at)
FROM memories WHERE kind = 7 GROUP BY scope, place >> 32;

-- Drafts that were not remembered, for a person to look at. `verdict` is 0 for rejected and 1 for quarantined; `body` is the
-- rest as JSON.
CREATE TABLE held (
    scope INTEGER NOT NULL,
    id BLOB NOT NULL,
    at INTEGER NOT NULL,
    verdict INTEGER NOT NULL,
    text BLOB NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (scope, id)
) WITHOUT ROWID;
CREATE INDEX held_text ON held (scope, text);
