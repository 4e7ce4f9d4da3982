"""Measures a table on a retrieval set in JSON Lines: alone, and beside BM25 as the engine uses it.

    python evaluate.py --teacher DIR --set NAME=DIR [--set …] TABLE…

A set is a folder with `corpus.jsonl` and `queries.jsonl`. A query is searched in its own scope. Scopes are dealt
alternately into two folds: choose on one, report the other.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import int4

WIDTH = 256
STOP_WORDS = set(
    "a an the and or but if of at by for with about to from in on is are was were be been am do does did has have had i you he "
    "she it we they me him her them my your his its our their this that these those what which who whom when where why how "
    "would could should can will shall may might must not no so than too very just as into out up down over s t".split()
)


def main():
    arguments = parse()
    tokenizer = Tokenizer.from_file(str(arguments.teacher / "tokenizer.json"))
    tokenizer.no_padding()
    sets = [(name, [Scope(*scope, tokenizer) for scope in read(Path(path))]) for name, path in arguments.set]
    print("| table | set | alone R@10 fold 1 / 2 / all | R@20 | NDCG@10 | BM25 | with BM25 fold 1 / 2 / all | NDCG@10 |")
    print("|---|---|---|---|---|---|---|---|")
    for path in arguments.tables:
        table = load(path)
        for name, scopes in sets:
            print(f"| {path.stem} | {name} | {line(scopes, table, arguments.weight)} |", flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teacher", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--set", action="append", type=lambda text: text.split("="), required=True)
    parser.add_argument("--weight", type=float, default=0.5, help="of the vectors beside BM25, as z-scores")
    parser.add_argument("tables", type=Path, nargs="+", help=".i4, or .npy with one row a piece")
    return parser.parse_args()


def load(path: Path) -> np.ndarray:
    if path.suffix == ".npy":
        return np.load(path).astype(np.float32)
    return int4.unpack(np.fromfile(path, np.uint8).reshape(-1, WIDTH // 2 + WIDTH // 16), WIDTH)


def read(folder: Path):
    """Returns the rows and queries of each scope."""
    lines = lambda name: [json.loads(text) for text in (folder / name).open(encoding="utf-8")]
    rows, queries = defaultdict(list), defaultdict(list)
    for row in lines("corpus.jsonl"):
        rows[row["scope"]].append(row)
    for query in lines("queries.jsonl"):
        if query["relevant"] and query["category"] != "adversarial":
            queries[query["scope"]].append(query)
    return [(rows[scope], queries[scope]) for scope in sorted(queries)]


class Scope:
    """Rows and queries of a scope, tokenized once for all tables."""

    def __init__(self, rows, queries, tokenizer):
        position = {row["id"]: index for index, row in enumerate(rows)}
        names = {row["speaker"] for row in rows if row.get("speaker")}
        ids = lambda texts: [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
        self.rows = ids([row["text"] for row in rows])
        self.queries = ids([without(names, query["text"]) for query in queries])
        self.relevant = [[position[id] for id in query["relevant"]] for query in queries]
        self.visible = [visible(rows, query) for query in queries]
        self.lexical = lexical(rows, queries)

    def measure(self, table, weight):
        """Returns recall@10, recall@20 and NDCG@10, alone and beside BM25, one line a query."""
        cosines = pool(table, self.queries) @ pool(table, self.rows).T
        lines = []
        for query, cosine in enumerate(cosines):
            shown = self.visible[query]
            fused = z(self.lexical[query], shown) + weight * z(cosine, shown)
            scores = [np.where(shown, score, -np.inf) for score in (cosine, self.lexical[query], fused)]
            lines.append([figure for score in scores for figure in figures(score, self.relevant[query])])
        return lines


def line(scopes, table, weight) -> str:
    measured = [scope.measure(table, weight) for scope in scopes]
    fold = lambda part, column: 100 * np.mean([row[column] for scope in part for row in scope])
    three = lambda column: " / ".join(f"{fold(part, column):.1f}" for part in (measured[::2], measured[1::2] or measured, measured))
    one = lambda column: f"{fold(measured, column):.1f}"
    return " | ".join([three(0), one(1), one(2), one(3), three(6), one(8)])


def without(names, text: str) -> str:
    """Removes the speakers' names from a query: with a name in it, greetings rank first."""
    for name in names:
        text = re.sub(rf"\b{re.escape(name)}(?:'s)?\b", " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def visible(rows, query):
    until = query.get("asof_seq")
    return np.array([until is None or row["seq"] < until for row in rows])


def pool(table, texts):
    vectors = np.stack([table[ids].sum(0) if ids else np.zeros(table.shape[1]) for ids in texts])
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def z(scores, shown):
    return (scores - scores[shown].mean()) / (scores[shown].std() + 1e-9) if shown.any() else scores


def figures(scores, relevant):
    order = np.argsort(-scores, kind="stable")[:20]
    gains = np.isin(order, relevant)
    discounts = 1 / np.log2(np.arange(2, 12))
    ndcg = (gains[:10] * discounts[: len(gains[:10])]).sum() / discounts[: min(10, len(relevant))].sum()
    return [gains[:10].sum() / len(relevant), gains.sum() / len(relevant), ndcg]


def lexical(rows, queries):
    """Scores BM25 in which a row also counts the words of its session's two rows on either side, at half and a quarter."""
    plain = [words(row["text"]) for row in rows]
    counts = [Counter(words(f"{row.get('speaker') or ''} {row['text']}")) for row in rows]
    for index, row in enumerate(rows):
        for other in range(max(0, index - 2), min(len(rows), index + 3)):
            if other != index and row["session"] and rows[other]["session"] == row["session"]:
                for word in plain[other]:
                    counts[index][word] += 0.5 / abs(index - other)
    lengths = np.array([sum(count.values()) for count in counts])
    postings = defaultdict(list)
    for index, count in enumerate(counts):
        for word, times in count.items():
            postings[word].append((index, times))
    norm = 0.9 * (1 - 0.4 + 0.4 * lengths / lengths.mean())
    scores = np.zeros((len(queries), len(rows)))
    for query, score in zip(queries, scores):
        for word in set(words(query["text"])):
            found = postings.get(word, [])
            idf = np.log(1 + (len(rows) - len(found) + 0.5) / (len(found) + 0.5))
            for index, times in found:
                score[index] += idf * times * 1.9 / (times + norm[index])
    return scores


def words(text):
    """Splits a text into lower-case stems without stop words: coarser than the engine's stemmer, the same for every table."""
    found = re.findall(r"[a-z0-9]+", text.lower().replace("'s", ""))
    return [re.sub(r"(?:ing|ed|es|s|e|ly)$", "", word) if len(word) > 4 else word.rstrip("s") for word in found if word not in STOP_WORDS]


if __name__ == "__main__":
    main()
