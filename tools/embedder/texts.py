"""Reads the training texts and splits them into word pieces."""

import lzma
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

# The engine, too, embeds only the first pieces of a text; nearly all texts here are far shorter.
MAX_PIECES = 128

# Wrappers that a data set puts around tens of thousands of its texts; they would only teach themselves.
WRAPPERS = re.compile(
    r"^Is the following statement something you would say\?\s*"
    r"|^Choices:\s*|\s*\([A-E]\)\s+|^\s*\"|\"\s*$"
)
SPEAKERS = re.compile(r"\b(?:Human|Assistant):\s*")
NICKNAME = re.compile(r"^[\w\[\]`^|-]{2,16}[:,]\s+(?=\S)")


@dataclass
class Pieces:
    """Word pieces of many texts, concatenated; text i is `ids[starts[i]:starts[i + 1]]`."""

    ids: np.ndarray
    starts: np.ndarray

    def __len__(self):
        return len(self.starts) - 1

    def lengths(self):
        return np.diff(self.starts)


def read(path: Path, clean: bool) -> list[str]:
    """Reads the texts of a file, one a line, xz or plain; `clean` removes wrappers and splits dialogues into turns."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        texts = [line.strip() for line in lines]
    if clean:
        texts = [turn for text in texts for turn in turns(text)]
    return list(dict.fromkeys(text for text in texts if text))


def turns(text: str) -> list[str]:
    """Splits a dialogue into turns, without the speakers' names."""
    parts = SPEAKERS.split(text)
    parts = [NICKNAME.sub("", WRAPPERS.sub(" ", part).strip()) for part in parts]
    return [part for part in parts if len(part.split()) >= 2]


def cut(texts: list[str], tokenizer: Tokenizer) -> tuple[list[str], Pieces]:
    """Returns the texts that have pieces, and these pieces."""
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_PIECES)
    encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
    found = [(text, encoding.ids) for text, encoding in zip(texts, encodings) if encoding.ids]
    starts = np.cumsum([0] + [len(ids) for _, ids in found])
    ids = np.concatenate([np.asarray(ids, np.int64) for _, ids in found])
    return [text for text, _ in found], Pieces(ids, starts)


def spans(pieces: Pieces, random: np.random.Generator) -> Pieces:
    """Returns a short span of every text that is long enough: as short as a user's question."""
    lengths = pieces.lengths()
    rows = np.flatnonzero(lengths >= 8)
    sizes = random.integers(3, 1 + np.minimum(12, lengths[rows] - 2))
    firsts = pieces.starts[rows] + random.integers(0, lengths[rows] - sizes + 1)
    return gather(pieces.ids, firsts, sizes)


def swaps(pieces: Pieces, random: np.random.Generator, words: range) -> Pieces:
    """Replaces a quarter of each text's pieces at random, so that every piece occurs among others."""
    ids = pieces.ids.copy()
    chosen = random.random(len(ids)) < 0.25
    ids[chosen] = random.integers(words.start, words.stop, chosen.sum())
    return Pieces(ids, pieces.starts)


def gather(ids, firsts, sizes) -> Pieces:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    positions = np.arange(starts[-1]) - np.repeat(starts[:-1] - firsts, sizes)
    return Pieces(ids[positions], starts)


def join(parts: list[Pieces]) -> Pieces:
    lengths = np.concatenate([part.lengths() for part in parts])
    return Pieces(np.concatenate([part.ids for part in parts]), np.concatenate([[0], np.cumsum(lengths)]))
