"""The encoder's vocabulary and tokenizer: BERT's pieces that occur, Chinese characters, and common Chinese words.

A text is folded to simplified characters. A stretch of Chinese characters is cut by the longest match of whole pieces;
everything else is cut as BERT's uncased models do. `[UNK]`, `[CLS]` and `[SEP]` keep the numbers they have there.
"""

import json
import unicodedata
from pathlib import Path

from tokenizers import Tokenizer

UNKNOWN, FIRST, LAST = 100, 101, 102
SPECIAL = {0: "[PAD]", UNKNOWN: "[UNK]", FIRST: "[CLS]", LAST: "[SEP]", 103: "[MASK]"}
# Characters in the longest Chinese piece.
LONGEST_WORD = 4
RANGES = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)


def is_chinese(c: str) -> bool:
    """The characters that BERT sets apart."""
    code = ord(c)
    return code >= 0x3400 and any(first <= code <= last for first, last in RANGES)


def arrange(pieces: list[str]) -> list[str]:
    """Returns the vocabulary: the pieces in this order, the special ones at BERT's numbers."""
    rest, out = iter(piece for piece in pieces if piece not in SPECIAL.values()), []
    while True:
        if len(out) in SPECIAL:
            out.append(SPECIAL[len(out)])
            continue
        piece = next(rest, None)
        if piece is None:
            return out
        out.append(piece)


class Encoding:
    """Tokenizer of the encoder."""

    def __init__(self, pieces: list[str], base: Path, folds):
        self.folds = folds
        self.pieces = pieces
        self.numbers = {piece: number for number, piece in enumerate(pieces)}
        self.words = {piece for piece in pieces if is_chinese(piece[0])}
        config = json.loads(base.read_text(encoding="utf-8"))
        config["model"]["vocab"] = self.numbers
        config["normalizer"]["handle_chinese_chars"] = False
        # Names of special pieces in a text are plain text, as in the engine.
        config.update(added_tokens=[], post_processor=None, padding=None, truncation=None)
        self.tokenizer = Tokenizer.from_str(json.dumps(config))

    def spaced(self, text: str) -> str:
        """Returns the text with blanks around each Chinese piece."""
        out, run = [], []
        for c in self.folds(text) + " ":
            if is_chinese(c):
                run.append(unicodedata.normalize("NFD", c))
                continue
            if run:
                out.append(self.cut("".join(run)))
                run.clear()
            out.append(c)
        return "".join(out)[:-1]

    def cut(self, run: str) -> str:
        found, at = [], 0
        while at < len(run):
            for length in range(min(LONGEST_WORD, len(run) - at), 0, -1):
                if run[at : at + length] in self.words or length == 1:
                    break
            found.append(run[at : at + length])
            at += length
        return " " + " ".join(found) + " "

    def batch(self, texts: list[str], most: int) -> list[list[int]]:
        """Returns the pieces of each text, without `[CLS]` and `[SEP]`."""
        spaced = [self.spaced(text) for text in texts]
        return [encoding.ids[:most] for encoding in self.tokenizer.encode_batch(spaced)]


def load(folder: Path, base: Path, folds) -> Encoding:
    pieces = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return Encoding(pieces, base, folds)
