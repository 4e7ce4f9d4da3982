-- What a reranking model made of the words of a text: made when it is first needed, of one model at a time, which
-- `meta.reranker` names by its number in `models`.
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    place INTEGER NOT NULL,
    tokens BLOB NOT NULL
);
CREATE UNIQUE INDEX tokens_place ON tokens (scope, place);
