-- Vectors that models on other servers made, so that the same text is not asked for twice. `used` is the day of its last
-- use, counted from 1970; `question` tells questions from memories, which such a model may see differently. `meta.cached` is
-- how many there are, `meta.cache_hits` and `meta.cache_misses` how often one was found and not found.
CREATE TABLE cached_vectors (
    scope INTEGER NOT NULL,
    model INTEGER NOT NULL,
    question INTEGER NOT NULL,
    text BLOB NOT NULL,
    used INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (scope, model, question, text)
) WITHOUT ROWID;
CREATE INDEX cached_vectors_used ON cached_vectors (used);
