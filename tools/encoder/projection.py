"""Fits the projection of token vectors to fewer dimensions and adds it to an exported encoder.

    python projection.py --model DIR --tokenizer tokenizer.json --han folds.bin --topics topics.tsv

Late interaction compares token vectors; their mean says nothing, and a third of the dimensions says as much as all. The
axes are those of most variance over our own memories and messages, in both languages.
"""

import argparse
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

import vocabulary
from chinese import Folds
from reference import Reference

DIMENSIONS = 128
# Every so many texts of the topics: a dozen vectors per dimension of the model are enough.
EVERY = 23
CENTRE, AXES = "everlore.centre", "everlore.axes"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="folder of an exported model")
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json of the teacher")
    parser.add_argument("--han", type=Path, required=True, help="folds of traditional characters")
    parser.add_argument("--topics", type=Path, required=True, help="our own questions and memories")
    arguments = parser.parse_args()
    reference = Reference(arguments.model, arguments.tokenizer, Folds(arguments.han))
    centre, axes = fit(np.concatenate([vectors(reference, text) for text in texts(arguments.topics)]))
    path = arguments.model / "model.safetensors"
    tensors = {name: value for name, value in load_file(path).items() if name not in (CENTRE, AXES)}
    save_file(tensors | {CENTRE: centre.astype(np.float16), AXES: axes.astype(np.float16)}, path)


def texts(topics: Path) -> list[str]:
    lines = [line.split("\t") for line in topics.read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#", "{")]
    return [text for line in lines for cell in line[1:3] for text in cell.split("|")][::EVERY]


def vectors(reference: Reference, text: str) -> np.ndarray:
    hidden = reference.hidden([vocabulary.FIRST, *reference.pieces(text), vocabulary.LAST])[1:-1]
    return hidden / np.linalg.norm(hidden, axis=1, keepdims=True)


def fit(rows: np.ndarray):
    centre = rows.mean(0)
    _, axes = np.linalg.eigh(np.cov((rows - centre).T))
    return centre, np.ascontiguousarray(axes.T[::-1][:DIMENSIONS])


if __name__ == "__main__":
    main()
