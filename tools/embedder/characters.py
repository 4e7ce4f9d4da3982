"""Writes which characters the teacher's tokenizer drops, takes as marks and splits off, as it shows when asked.

    python characters.py --teacher DIR --out crates/everlore/src/llm/characters.rs
"""

import argparse
import unicodedata
from pathlib import Path

from tokenizers import Tokenizer

HEAD = '''//! What the teacher's tokenizer makes of characters beyond ASCII. Written by `tools/embedder/characters.py`, which asks it.

/// Whether the tokenizer drops `c` before anything else: control, format and private characters.
pub(super) fn is_dropped(c: char) -> bool {
    contains(&DROPPED, c)
}

/// Whether `c` is a mark that goes with the accents.
pub(super) fn is_mark(c: char) -> bool {
    contains(&MARKS, c)
}

/// Whether `c` is a word of its own.
pub(super) fn is_punctuation(c: char) -> bool {
    contains(&PUNCTUATION, c)
}

/// Whether `c` is a Chinese character, which is a word of its own even before it is decomposed.
pub(super) fn is_chinese(c: char) -> bool {
    contains(&CHINESE, c)
}

/// Whether `c` lies in one of the ranges, each given by its first and last character.
fn contains(ranges: &[u32], c: char) -> bool {
    let c = u32::from(c);
    let ranges = ranges.as_chunks::<2>().0;
    let after = ranges.partition_point(|&[first, _]| first <= c);
    after > 0 && c <= ranges[after - 1][1]
}
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teacher", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(arguments.teacher / "tokenizer.json"))
    classes = {name: [] for name in ("DROPPED", "MARKS", "PUNCTUATION", "CHINESE", None)}
    for code in [*range(0xD800), *range(0xE000, 0x110000)]:
        classes[classify(tokenizer, chr(code))].append(code)
    tables = [table(name, codes) for name, codes in classes.items() if name]
    arguments.out.write_text(HEAD + "".join(tables))


def classify(tokenizer, char: str):
    """What becomes of a character between two letters."""
    text = tokenizer.normalizer.normalize_str(f"a{char}b")
    if text == "ab":
        return "MARKS" if unicodedata.category(char).startswith("M") else "DROPPED"
    if text.startswith("a ") and text.endswith(" b") and len(text) > 3:
        return "CHINESE"
    return "PUNCTUATION" if len(tokenizer.pre_tokenizer.pre_tokenize_str(text)) == 3 else None


def table(name: str, codes: list[int]) -> str:
    ranges = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    pairs = ", ".join(f"0x{first:x}, 0x{last:x}" for first, last in ranges)
    return f"\nstatic {name}: [u32; {2 * len(ranges)}] = [{pairs}];\n"


if __name__ == "__main__":
    main()
