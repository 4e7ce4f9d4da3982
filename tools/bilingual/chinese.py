"""Reads Chinese into the built-in table: segmentation, the word file, and the vector of a text.

This is the reference for the engine. The word file (`zh_words.bin`, little endian):

    4 bytes     `EZW1`
    8 × u32     number of words of 1, 2, … 8 characters
    keys        all words of 1 character, then of 2, …: each as its UTF-16 code units, sorted by them within a length
    rows        12 bytes a word, in the order of the keys: 4 × u16 row of the English table, 4 × i8 weight

The vector of a word is Σ weight / 32 · E[row] / |E[row]|, E being the table as unpacked from `table.i4`.
"""

import struct
from pathlib import Path

import numpy as np

MAGIC = b"EZW1"
LONGEST = 8
ROWS = 4
WEIGHT_STEPS = 32
# The engine stops reading here, too: word pieces and Chinese words together.
MAX_PIECES = 512
FIRST, LAST = "\u4e00", "\u9fff"
# Punctuation of Chinese text. Every Chinese text has it, so its rows would make all of them alike.
SILENT = (
    set(range(0x3001, 0x3004)) | set(range(0x3008, 0x3012)) | set(range(0x3014, 0x3020)) | {0x30FB}
    | set(range(0xFF01, 0xFF10)) | set(range(0xFF1A, 0xFF21)) | set(range(0xFF3B, 0xFF41)) | set(range(0xFF5B, 0xFF66))
)


def is_han(c: str) -> bool:
    return FIRST <= c <= LAST


class Folds:
    """Simplified form of traditional characters, from `assets/han/folds.bin`."""

    def __init__(self, path: Path):
        pairs = np.fromfile(path, "<u2").reshape(-1, 2)
        self.table = {int(source): int(target) for source, target in pairs}

    def __call__(self, text: str) -> str:
        return text.translate(self.table)


class Segmenter:
    """Longest match from the left over a set of words; a character that begins no word is left out."""

    def __init__(self, words):
        self.numbers = {word: number for number, word in enumerate(words)}

    def words(self, run: str) -> list[int]:
        found, at = [], 0
        while at < len(run):
            for length in range(min(LONGEST, len(run) - at), 0, -1):
                number = self.numbers.get(run[at : at + length])
                if number is not None:
                    found.append(number)
                    break
            at += length
        return found

    def split(self, text: str) -> tuple[list[int], str]:
        """Returns the Chinese words of a folded text, and the rest of it with blanks in their place."""
        words, rest, run = [], [], []
        for c in text + " ":
            if is_han(c):
                run.append(c)
                continue
            if run:
                words += self.words("".join(run))
                rest.append(" ")
                run.clear()
            rest.append(" " if ord(c) in SILENT else c)
        return words, "".join(rest[:-1])


class Bilingual:
    """Embeds texts in English, Chinese and both."""

    def __init__(self, table: np.ndarray, words, vectors: np.ndarray, folds: Folds, tokenizer):
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.table, self.vectors, self.folds, self.tokenizer = table, vectors, folds, tokenizer
        self.segmenter = Segmenter(words)

    def parts(self, text: str) -> tuple[list[int], list[int]]:
        """Returns the Chinese words and the word pieces of a text."""
        words, rest = self.segmenter.split(self.folds(text))
        # A text without Chinese goes to the tokenizer unchanged.
        rest = rest if words or any(is_han(c) for c in text) else "".join(" " if ord(c) in SILENT else c for c in text)
        pieces = self.tokenizer.encode(rest, add_special_tokens=False).ids
        words = words[:MAX_PIECES]
        return words, pieces[: MAX_PIECES - len(words)]

    def vector(self, text: str) -> np.ndarray:
        words, pieces = self.parts(text)
        total = self.table[pieces].sum(0) + self.vectors[words].sum(0)
        return total / max(np.linalg.norm(total), 1e-9)


def write(path: Path, words, rows: np.ndarray, weights: np.ndarray):
    """Writes the word file. `rows` and `weights` have four numbers a word."""
    order = sorted(range(len(words)), key=lambda number: (len(words[number]), words[number]))
    counts = [sum(len(word) == length for word in words) for length in range(1, LONGEST + 1)]
    with path.open("wb") as file:
        file.write(MAGIC + struct.pack("<8I", *counts))
        for number in order:
            file.write(words[number].encode("utf-16-le"))
        for number in order:
            file.write(rows[number].astype("<u2").tobytes() + weights[number].astype("i1").tobytes())


def read(path: Path, table: np.ndarray):
    """Returns the words of a file and their vectors."""
    data = path.read_bytes()
    assert data[:4] == MAGIC
    counts, at = struct.unpack_from("<8I", data, 4), 36
    words = []
    for length, count in enumerate(counts, 1):
        for _ in range(count):
            words.append(data[at : at + 2 * length].decode("utf-16-le"))
            at += 2 * length
    packed = np.frombuffer(data, np.uint8, offset=at).reshape(len(words), 12)
    rows = packed[:, :8].copy().view("<u2")
    weights = packed[:, 8:].copy().view("i1").astype(np.float32) / WEIGHT_STEPS
    return words, combine(table, rows, weights)


def combine(table, rows, weights):
    """Returns the weighted sums of English rows of length 1."""
    unit = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    return np.einsum("wk,wkd->wd", weights, unit[rows]).astype(np.float32)
