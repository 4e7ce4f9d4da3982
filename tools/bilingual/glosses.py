"""Reads what the Chinese words start from: glosses of CC-CEDICT, and word frequencies."""

import lzma
from collections import defaultdict
from pathlib import Path

from chinese import LONGEST, is_han

# Occurrences in a general corpus that a word of the dictionary without any is counted for.
UNSEEN = 1


def lines(path: Path):
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n")


def glosses(path: Path, folds) -> dict[str, list[str]]:
    """Returns the senses of each word, in the order of the dictionary; a line is `zh, word, en, sense`."""
    found = defaultdict(list)
    for line in lines(path):
        _, word, _, sense = line.split("\t")[:4]
        word, sense = folds(word), clean(sense)
        if sense and 0 < len(word) <= LONGEST and all(map(is_han, word)):
            found[word].append(sense)
    return found


def clean(sense: str) -> str:
    """Takes off what says something about the entry and nothing about its meaning."""
    if sense.startswith(("surname ", "Taiwan pr.", "also pr.", "CL:")):
        return ""
    return sense.removeprefix("to ").removeprefix("a ").removeprefix("an ").strip()


def frequencies(path: Path) -> dict[str, int]:
    """Reads jieba's word list: word, occurrences, part of speech."""
    return {word: int(count) for word, count, *_ in (line.split(" ") for line in lines(path))}


def common_words(senses, counts, size: int):
    """Returns the words of the dictionary that occur most, and the share of each among all words."""
    total = sum(counts.values())
    # A single character is a word, whatever its frequency: no text may fall through.
    ranked = sorted(senses, key=lambda word: (len(word) > 1, -counts.get(word, UNSEEN), word))
    singles = [word for word in ranked if len(word) == 1]
    longer = [word for word in ranked if len(word) > 1]
    words = (singles + longer)[:size] if len(singles) < size // 2 else ranked[:size]
    return words, [counts.get(word, UNSEEN) / total for word in words]


def pairs(paths, folds):
    """Yields sentence pairs as (Chinese, English)."""
    for path in paths:
        for line in lines(path):
            fields = line.split("\t")
            if len(fields) < 4:
                continue
            sides = {fields[0][:2]: fields[1], fields[2][:2]: fields[3]}
            if "zh" in sides and "en" in sides:
                yield folds(sides["zh"]), sides["en"]
