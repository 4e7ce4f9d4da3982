"""Generates the table that folds traditional Chinese characters into simplified ones.

    pip download --no-deps opencc-python-reimplemented==0.1.7 && unzip opencc*.whl
    python tools/han/fold_table.py opencc/dictionary/TSCharacters.txt crates/everlore/assets/han/folds.bin

A line of the source is a character, a tab, and the characters it may become, the commonest first. The table holds a pair
of little-endian 16-bit numbers for each character that becomes another one, sorted by the first: only characters of the
basic block (U+4E00 to U+9FFF), which all texts but dictionaries keep to.
"""

import struct
import sys

FIRST, LAST = 0x4E00, 0x9FFF


def in_block(text):
    return len(text) == 1 and FIRST <= ord(text) <= LAST


def read(path):
    """Returns the common fold of each character: the first that is not the character itself."""
    folds = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            source, _, targets = line.strip().partition("\t")
            others = [c for c in targets.split(" ") if c != source and in_block(c)]
            if in_block(source) and others:
                folds[source] = others[0]
    return folds


def settled(folds):
    """Follows chains to their end, so that folding twice equals folding once."""

    def end(c):
        seen = {c}
        while c in folds and folds[c] not in seen:
            c = folds[c]
            seen.add(c)
        return c

    return {source: end(source) for source in folds if end(source) != source}


def main(source, target):
    folds = settled(read(source))
    with open(target, "wb") as table:
        for pair in sorted(folds.items()):
            table.write(struct.pack("<HH", *map(ord, pair)))
    print(f"{len(folds)} characters, {4 * len(folds)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
