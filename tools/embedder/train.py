"""Distils a static table of word pieces from all-MiniLM-L6-v2.

    python train.py --teacher DIR --texts FILE --out DIR [--set NAME=VALUE …] [--variants FILE]

Writes `NAME.i4` (the table as the engine reads it) and, with --keep, `NAME.npy` (half precision). A file of variants
holds one a line: a name and settings, `name: setting=value setting=value`.
"""

import argparse
import os
import random
import time
from dataclasses import dataclass, fields, replace
from pathlib import Path

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
from tokenizers import Tokenizer

import int4
import texts
from student import Recipe, Texts, overlap, train
from teacher import Teacher

# Held-out texts, on which agreement with the teacher is measured.
HELD_OUT = 4096


# Whole words begin here in the vocabulary; before them are unused entries and single characters.
WORDS = range(1996, 30522)
SOURCE_DEFAULTS = (("clean", "1"), ("spans", "0"), ("swaps", "0"))


@dataclass(frozen=True)
class Source:
    """Preprocessing of the texts."""

    clean: bool
    spans: bool
    swaps: bool

    def more(self, pieces):
        random = np.random.default_rng(0)
        parts = [pieces]
        parts += [texts.spans(pieces, random)] if self.spans else []
        parts += [texts.swaps(pieces, random, WORDS)] if self.swaps else []
        return texts.join(parts)


def main():
    arguments = parse()
    torch.use_deterministic_algorithms(True, warn_only=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    device = arguments.device
    teacher = Teacher(arguments.teacher, device)
    alone = teacher.alone(teacher.model.config.vocab_size)
    classrooms = {}
    for name, recipe, source in variants(arguments):
        room = (source, recipe.contexts or recipe.late > 0)
        if room not in classrooms:
            classrooms.clear()
            classrooms[room] = classroom(arguments, teacher, *room)
        learnt, lessons, held, held_lessons = classrooms[room]
        began = time.time()
        print(f"{name}: {recipe} {source}", flush=True)
        table = train(recipe, learnt, lessons, alone, log=lambda text: print(text, flush=True))
        packed = int4.pack(table.cpu().numpy())
        packed.tofile(arguments.out / f"{name}.i4")
        coarse = torch.as_tensor(int4.unpack(packed, recipe.width), device=device)
        if arguments.keep:
            np.save(arguments.out / f"{name}.npy", table.half().cpu().numpy())
        print(
            f"{name}: held out overlap@10 {overlap(table, held, held_lessons):.4f}, "
            f"int4 {overlap(coarse, held, held_lessons):.4f}, {time.time() - began:.0f} s",
            flush=True,
        )


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teacher", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--texts", type=Path, required=True, help="one text a line, plain or xz")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--limit", type=int, help="train on this many random texts only")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of the recipe")
    parser.add_argument("--variants", type=Path, help="train one table for each line of this file")
    parser.add_argument("--keep", action="store_true", help="write the table in half precision too")
    return parser.parse_args()


def variants(arguments):
    """Yields name, recipe and source of each table to train."""
    lines = arguments.variants.read_text().splitlines() if arguments.variants else ["table: " + " ".join(arguments.set)]
    kinds = {field.name: type(field.default) for field in fields(Recipe)}
    for line in filter(None, lines):
        name, settings = line.split(":")
        settings = dict(setting.split("=") for setting in settings.split())
        source = Source(*(bool(int(settings.pop(name, start))) for name, start in SOURCE_DEFAULTS))
        values = {key: kinds[key](float(value)) for key, value in settings.items()}
        yield name.strip(), replace(Recipe(), **values), source


def classroom(arguments, teacher, source, with_pieces):
    """Returns the training texts with the teacher's vectors, and the held-out texts with theirs."""
    tokenizer = Tokenizer.from_file(str(arguments.teacher / "tokenizer.json"))
    found = texts.read(arguments.texts, source.clean)
    random.Random(0).shuffle(found)
    found = found[: arguments.limit] if arguments.limit else found
    held = min(HELD_OUT, len(found) // 5)
    result = []
    for part, learning in ((found[held:], True), (found[:held], False)):
        began = time.time()
        _, pieces = texts.cut(part, tokenizer)
        pieces = source.more(pieces) if learning else pieces
        print(f"{len(pieces)} texts, {len(pieces.ids)} pieces, {source}, cut in {time.time() - began:.0f} s", flush=True)
        result += [Texts(pieces, arguments.device), teacher.teach(pieces, with_pieces and learning)]
        print(f"taught after {time.time() - began:.0f} s", flush=True)
    return result


if __name__ == "__main__":
    main()
