"""Writes the engine's assets: vocabulary with its index, table, golden texts.

    python assets.py --teacher DIR --table TABLE.i4 --out crates/everlore/assets/embedder

The index is a hash table with open addressing, so that the engine parses nothing when it starts:
30,522 numbers of 32 bits say where each piece begins in `vocab.txt`; then 65,536 numbers of 16 bits hold the number of
a piece plus one, or 0. The search for a piece starts at the slot that `slot` returns. All are little endian.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import evaluate
from goldens import TEXTS

SLOTS = 1 << 16


def main():
    arguments = parse()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    vocabulary = (arguments.teacher / "vocab.txt").read_bytes()
    table = arguments.table.read_bytes()
    (out / "vocab.txt").write_bytes(vocabulary)
    (out / "vocab.index").write_bytes(index(vocabulary))
    (out / "table.i4").write_bytes(table)
    tokenizer = Tokenizer.from_file(str(arguments.teacher / "tokenizer.json"))
    goldens = golden(tokenizer, evaluate.load(out / "table.i4"))
    lines = ",\n".join(json.dumps(line, ensure_ascii=False) for line in goldens)
    (out / "golden.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teacher", type=Path, required=True, help="folder with vocab.txt and tokenizer.json")
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def index(vocabulary: bytes) -> bytes:
    pieces = vocabulary.split(b"\n")[:-1]
    starts = np.cumsum([0] + [len(piece) + 1 for piece in pieces])[:-1].astype("<u4")
    slots = np.zeros(SLOTS, "<u2")
    for number, piece in enumerate(pieces):
        at = slot(piece)
        while slots[at]:
            at = (at + 1) % SLOTS
        slots[at] = number + 1
    return starts.tobytes() + slots.tobytes()


def slot(piece: bytes) -> int:
    """Returns the first slot of a piece: FNV-1a over its bytes, `##` included, multiplied to spread over the slots."""
    hashed = 0x811C9DC5
    for byte in piece:
        hashed = (hashed ^ byte) * 0x01000193 & 0xFFFFFFFF
    return (hashed * 0x9E3779B1 & 0xFFFFFFFF) >> 16


def golden(tokenizer, table):
    """Yields each text with its pieces and the first components of its vector."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        vector = evaluate.pool(table, [ids[:512]])[0]
        yield {"text": text, "ids": ids, "vector": [round(float(value), 6) for value in vector[:16]]}


if __name__ == "__main__":
    main()
