"""Gives Chinese words vectors in the space of the English table, and writes the engine's word file.

    python train.py --assets DIR --han folds.bin --tokenizer tokenizer.json --dictionary CEDICT --frequencies JIEBA --pairs FILE… --out DIR

A word starts at the mean of the table's vectors of its English glosses, is tuned on sentence pairs, and is stored as four
English rows with weights of eight bits. The English table does not change.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy, embedding_bag, normalize

sys.path.append(str(Path(__file__).resolve().parent.parent / "embedder"))

import chinese
import glosses
import int4

WIDTH = 256
SENSES = 4
# Smoothing of word frequencies: a word rarer than this counts in full.
RARE = 1e-3


def main():
    arguments = parse()
    torch.manual_seed(arguments.seed)
    table = load_table(arguments.assets)
    folds = chinese.Folds(arguments.han)
    tokenizer = Tokenizer.from_file(str(arguments.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    senses = glosses.glosses(arguments.dictionary, folds)
    words, shares = glosses.common_words(senses, glosses.frequencies(arguments.frequencies), arguments.words)
    start = start_vectors(words, shares, senses, table, tokenizer)
    sentences = Sentences(list(glosses.pairs(arguments.pairs, folds)), words, folds, table, tokenizer)
    print(f"{len(words)} words, {len(sentences)} pairs", flush=True)
    tuned = tune(start, sentences, arguments)
    rows, weights = pursue(tuned, table)
    arguments.out.mkdir(parents=True, exist_ok=True)
    chinese.write(arguments.out / "zh_words.bin", words, rows, weights)
    stored = chinese.combine(table, rows, weights.astype(np.float32) / chinese.WEIGHT_STEPS)
    lost = np.square(stored - tuned).sum() / np.square(tuned).sum()
    print(f"four rows a word lose {lost:.1%} of the squared length", flush=True)
    if arguments.keep:
        np.savez(arguments.out / "words.npz", words=np.array(words), tuned=tuned, start=start)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assets", type=Path, required=True, help="folder with the English table.i4")
    parser.add_argument("--han", type=Path, required=True, help="folds of traditional characters")
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json of the teacher")
    parser.add_argument("--dictionary", type=Path, required=True, help="senses of Chinese words, one a line")
    parser.add_argument("--frequencies", type=Path, required=True, help="jieba's dict.txt")
    parser.add_argument("--pairs", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--words", type=int, default=40_000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--rate", type=float, default=4e-3)
    parser.add_argument("--temperature", type=float, default=0.1)
    parser.add_argument("--stay", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="write the vectors before they are stored as rows, too")
    return parser.parse_args()


def load_table(assets: Path) -> np.ndarray:
    packed = np.fromfile(assets / "table.i4", np.uint8).reshape(-1, WIDTH // 2 + WIDTH // 16)
    return int4.unpack(packed, WIDTH)


def start_vectors(words, shares, senses, table, tokenizer) -> np.ndarray:
    """Returns the mean of each word's first glosses, earlier ones with more weight, frequent words shorter."""
    listed = [senses[word][:SENSES] for word in words]
    encodings = iter(tokenizer.encode_batch([sense for some in listed for sense in some], add_special_tokens=False))
    start = np.zeros((len(words), WIDTH), np.float32)
    for vector, some, share in zip(start, listed, shares):
        for rank in range(len(some)):
            vector += unit(table[next(encodings).ids].sum(0)) / (1 + rank)
        vector[:] = unit(vector) * RARE / (RARE + share)
    return start


def unit(vector):
    return vector / max(np.linalg.norm(vector), 1e-9)


class Sentences:
    """Sentence pairs: words of the Chinese side, the fixed sum of its other pieces, and the vector of the English side."""

    def __init__(self, pairs, words, folds, table, tokenizer):
        segmenter = chinese.Segmenter(words)
        split = [segmenter.split(folds(text)) for text, _ in pairs]
        kept = [at for at, (found, _) in enumerate(split) if found]
        split = [split[at] for at in kept]
        self.lengths = torch.tensor([len(found) for found, _ in split])
        self.starts = self.lengths.cumsum(0) - self.lengths
        self.words = torch.tensor([word for found, _ in split for word in found])
        self.rest = sums([rest for _, rest in split], table, tokenizer)
        self.goal = normalize(sums([pairs[at][1] for at in kept], table, tokenizer), dim=-1)

    def __len__(self):
        return len(self.lengths)

    def vectors(self, learnt, rows):
        lengths = self.lengths[rows]
        within = torch.arange(int(lengths.sum())) - (lengths.cumsum(0) - lengths).repeat_interleave(lengths)
        words = self.words[self.starts[rows].repeat_interleave(lengths) + within]
        return normalize(embedding_bag(words, learnt, lengths.cumsum(0) - lengths, mode="sum") + self.rest[rows], dim=-1)


def sums(texts, table, tokenizer):
    encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
    return torch.tensor(np.stack([table[encoding.ids].sum(0) for encoding in encodings]))


def tune(start, sentences, arguments) -> np.ndarray:
    """Moves the words so that a Chinese sentence lies beside its English side, and nearer to it than to others."""
    start = torch.tensor(start)
    learnt = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([learnt], lr=arguments.rate)
    batches = len(sentences) // arguments.batch
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / (arguments.epochs * batches))
    own = torch.arange(arguments.batch)
    for epoch in range(arguments.epochs):
        began, total = time.time(), 0.0
        for rows in torch.randperm(len(sentences))[: batches * arguments.batch].split(arguments.batch):
            vectors, goal = sentences.vectors(learnt, rows), sentences.goal[rows]
            near = vectors @ goal.T / arguments.temperature
            loss = 1 - (vectors * goal).sum(-1).mean() + (cross_entropy(near, own) + cross_entropy(near.T, own)) / 2
            loss = loss + arguments.stay * (learnt - start).square().sum(-1).mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss)
        print(f"epoch {epoch + 1}: loss {total / batches:.4f}, {time.time() - began:.0f} s", flush=True)
    return learnt.detach().numpy()


def pursue(vectors, table):
    """Returns four rows and weights for each vector: the row that explains most of the rest, four times (matching pursuit)."""
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    # Rows of unused pieces are zero or were never trained; a word must not lean on them.
    basis = torch.tensor(np.where(norms > 1e-6, table / np.maximum(norms, 1e-9), 0))
    rows = np.zeros((len(vectors), chinese.ROWS), np.uint16)
    weights = np.zeros((len(vectors), chinese.ROWS), np.int8)
    for part in np.array_split(np.arange(len(vectors)), max(1, len(vectors) // 2000)):
        goal = torch.tensor(vectors[part])
        chosen = torch.zeros(len(part), 0, dtype=torch.long)
        rest = goal
        for _ in range(chinese.ROWS):
            products = (rest @ basis.T).abs()
            products.scatter_(1, chosen, -1.0)
            chosen = torch.cat([chosen, products.argmax(1, keepdim=True)], 1)
            # All weights so far are fitted again (orthogonal matching pursuit).
            some = basis[chosen]
            fitted = torch.linalg.lstsq(some.transpose(1, 2), goal[..., None]).solution[..., 0]
            rest = goal - (fitted[:, None] @ some)[:, 0]
        rows[part] = chosen.numpy()
        weights[part] = (fitted * chinese.WEIGHT_STEPS).round().clamp(-127, 127).numpy()
    return rows, weights


if __name__ == "__main__":
    main()
