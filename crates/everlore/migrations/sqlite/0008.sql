-- Checksums of the search index (store/index/checksum.rs). Rows of a block with `checksums` end with one; blocks of older
-- programs have none until they are merged or rebuilt. A tail entry without one is of an older program.
ALTER TABLE blocks ADD COLUMN checksums INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tail ADD COLUMN checksum INTEGER;
