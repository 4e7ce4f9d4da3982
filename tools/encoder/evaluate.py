"""Compares models by plain cosine on retrieval sets in JSON Lines, and by how well a message tells that it needs memory.

    python evaluate.py --bench DIR --teacher DIR --assets DIR --han folds.bin [--student DIR …]

`--bench` has a folder a set, each with `corpus.jsonl` and `queries.jsonl`; they are read, never copied. A query is searched
in its own scope. `--assets` has the static table; a student is a folder that `train.py` exported.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "embedder"), str(HERE.parent / "bilingual")]

import chinese
import int4
import model as models
import vocabulary

SETS = ["everyday_en", "everyday_zh", "crosslingual", "memdaily", "locomo", "realmem"]
DEPTHS = (1, 5, 10)
STATIC_WIDTH = 256


# ---- models: each turns texts into vectors of length 1, and into vectors of their pieces with the pieces' numbers


class Static:
    """The static table, alone or with Chinese words."""

    def __init__(self, assets: Path, tokenizer: Path, han: Path, bilingual: bool):
        packed = np.fromfile(assets / "table.i4", np.uint8).reshape(-1, STATIC_WIDTH // 2 + STATIC_WIDTH // 16)
        table = int4.unpack(packed, STATIC_WIDTH)
        words, vectors = [], np.zeros((0, STATIC_WIDTH), np.float32)
        if bilingual:
            words, vectors = chinese.read(assets / "zh_words.bin", table)
        self.reader = chinese.Bilingual(table, words, vectors, chinese.Folds(han), Tokenizer.from_file(str(tokenizer)))
        self.bilingual = bilingual

    def encode(self, texts, pieces=False):
        rows, tokens = [], []
        for text in texts:
            if self.bilingual:
                words, ids = self.reader.parts(text)
            else:
                words, ids = [], self.reader.tokenizer.encode(text, add_special_tokens=False).ids[:512]
            found = np.concatenate([self.reader.table[ids], self.reader.vectors[words]])
            rows.append(unit(found.sum(0)))
            tokens.append((np.concatenate([ids, np.array(words, int) + len(self.reader.table)]), unit(found)))
        return torch.tensor(np.stack(rows)), tokens if pieces else None


class Transformer:
    """A teacher or student; `cut` turns texts into pieces."""

    def __init__(self, model, cut, most: int, device: str):
        self.model, self.cut, self.most, self.device = model.to(device).eval(), cut, most, device

    @torch.inference_mode()
    def encode(self, texts, pieces=False):
        rows = self.cut(texts, self.most)
        width = self.model.size.width
        out, tokens = torch.zeros(len(rows), width), [None] * len(rows)
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        at = 0
        while at < len(order):
            some = order[at : at + max(1, 40_000 // (len(rows[order[min(at + 256, len(order) - 1)]]) + 2))]
            at += len(some)
            ids, mask = framed([rows[row] for row in some], self.device)
            hidden = self.model(ids, mask).float()
            out[some] = models.pool(hidden, mask).cpu()
            if pieces:
                hidden = torch.nn.functional.normalize(hidden, dim=-1).cpu().numpy()
                for row, states in zip(some, hidden):
                    count = len(rows[row])
                    tokens[row] = (np.array(rows[row], int), states[1 : 1 + count])
        # A text without pieces is similar to nothing.
        for row, ids in enumerate(rows):
            if not ids:
                out[row] = 0
        return out, tokens if pieces else None


def framed(rows, device):
    """Returns `[CLS] pieces [SEP]` with padding, and the mask."""
    longest = max(len(row) for row in rows) + 2
    ids = np.zeros((len(rows), longest), np.int64)
    mask = np.zeros((len(rows), longest), bool)
    for row, pieces in enumerate(rows):
        ids[row, : len(pieces) + 2] = [models.CLS, *pieces, models.SEP]
        mask[row, : len(pieces) + 2] = True
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)


def teacher(folder: Path, device: str) -> Transformer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    cut = lambda texts, most: [e.ids[:most] for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
    return Transformer(models.teacher(models.read_teacher(folder)), cut, 254, device)


def student(folder: Path, base: Path, han: Path, device: str, model=None) -> Transformer:
    encoding = vocabulary.load(folder, base, chinese.Folds(han))
    model = model or models.read_exported(folder)
    return Transformer(model, encoding.batch, model.size.positions - 2, device)


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


# ---- retrieval


class Retrieval:
    """A set: texts, and for each query the rows that it may see and the rows that it should find."""

    def __init__(self, folder: Path):
        load = lambda name: [json.loads(line) for line in (folder / name).open(encoding="utf-8")]
        rows = load("corpus.jsonl")
        rows += load("noise.jsonl") if (folder / "noise.jsonl").exists() else []
        speaker = folder.name == "locomo"
        self.texts = [(f"{row['speaker']}: " if speaker else "") + row["text"] for row in rows]
        by_scope, number = defaultdict(list), {row["id"]: at for at, row in enumerate(rows)}
        for at, row in enumerate(rows):
            by_scope[row["scope"]].append(at)
        self.queries, self.seen, self.relevant, self.categories = [], [], [], []
        for query in load("queries.jsonl"):
            if not query["relevant"] or query["category"] == "adversarial":
                continue
            seen = by_scope[query["scope"]] + (by_scope["*"] if query["scope"] != "*" else [])
            until = query.get("asof_seq")
            seen = [at for at in seen if until is None or rows[at]["seq"] < until]
            self.queries.append(query["text"])
            self.seen.append(np.array(seen))
            self.relevant.append({number[id] for id in query["relevant"]})
            self.categories.append(query["category"])

    def recall(self, scores):
        """Returns recall at each depth, averaged over queries; `scores` gives the scores of a query's rows."""
        found = []
        for number, (seen, relevant) in enumerate(zip(self.seen, self.relevant)):
            order = seen[np.argsort(-scores(number, seen), kind="stable")[: max(DEPTHS)]]
            found.append([len(relevant.intersection(order[:depth].tolist())) / len(relevant) for depth in DEPTHS])
        self.last = np.array(found)
        return 100 * self.last.mean(0)


def cosine(retrieval: Retrieval, encode):
    rows, queries = encode(retrieval.texts)[0].numpy(), encode(retrieval.queries)[0].numpy()
    return retrieval.recall(lambda number, seen: rows[seen] @ queries[number])


def late(retrieval: Retrieval, encode, share=0.5):
    """Returns recall by late interaction alone, and by its sum with the cosine of whole texts.

    Vectors of pieces are centred; a query's pieces count by how rare they are among the texts.
    """
    rows, row_tokens = encode(retrieval.texts, pieces=True)
    queries, query_tokens = encode(retrieval.queries, pieces=True)
    rows, queries = rows.numpy(), queries.numpy()
    seen = Counter(piece for ids, _ in row_tokens for piece in set(ids.tolist()))
    common = np.concatenate([vectors for _, vectors in row_tokens[:3000]]).mean(0)
    docs = [unit(vectors - common) for _, vectors in row_tokens]
    memo, stack = {}, {}

    def interact(number, visible):
        if (number, "late") not in memo:
            ids, vectors = query_tokens[number]
            weights = np.log(1 + len(docs) / np.array([1 + seen[piece] for piece in ids.tolist()] or [1.0]))
            vectors = unit(vectors - common)
            best = np.zeros(len(visible))
            if len(ids):
                key = visible.tobytes()
                if stack.get("key") != key:
                    stack.update(key=key, rows=np.concatenate([docs[at] for at in visible]).T)
                stacked = stack["rows"]
                lengths = np.array([len(docs[at]) for at in visible])
                starts = np.cumsum(lengths) - lengths
                products = vectors @ stacked
                filled = lengths > 0
                best[filled] = weights @ np.maximum.reduceat(products, starts[filled], axis=1) / weights.sum()
            memo[number, "late"] = best
        return memo[number, "late"]

    alone = retrieval.recall(interact)
    both = retrieval.recall(lambda number, visible: share * (rows[visible] @ queries[number]) + (1 - share) * interact(number, visible))
    return alone, both


# ---- does a message need memory?


def need(bench: Path, encode):
    """Returns the area under the curve in each language: logistic regression on vectors, fitted on the other homes."""
    messages = []
    for name in ("everyday_en", "everyday_zh"):
        for line in (bench / name / "queries.jsonl").open(encoding="utf-8"):
            query = json.loads(line)
            messages.append((name[-2:], query["scope"], query["text"], query["category"] != "none"))
    vectors = encode([text for _, _, text, _ in messages])[0].numpy().astype(float)
    vectors = (vectors - vectors.mean(0)) * np.sqrt(vectors.shape[1])
    homes = np.array([f"{language}/{scope}" for language, scope, _, _ in messages])
    wanted = np.array([needs for *_, needs in messages], float)
    scores = np.zeros(len(messages))
    for home in set(homes):
        rest = homes != home
        scores[~rest] = vectors[~rest] @ regression(vectors[rest], wanted[rest])
    result = {}
    for language in ("en", "zh"):
        mine = np.array([message[0] == language for message in messages])
        result[language] = area(scores[mine], wanted[mine])
    return result


def regression(vectors, wanted, penalty=10.0, steps=30):
    """Fits logistic regression by Newton's method; both classes weigh the same."""
    vectors = np.concatenate([vectors, np.ones((len(vectors), 1))], 1)
    weights = np.where(wanted == 1, 0.5 / wanted.mean(), 0.5 / (1 - wanted.mean()))
    found = np.zeros(vectors.shape[1])
    keep = penalty * np.eye(len(found))
    keep[-1, -1] = 1e-6
    for _ in range(steps):
        guess = 1 / (1 + np.exp(-np.clip(vectors @ found, -30, 30)))
        slope = vectors.T @ (weights * (guess - wanted)) + keep @ found
        bend = (vectors * (weights * guess * (1 - guess))[:, None]).T @ vectors + keep
        found -= np.linalg.solve(bend, slope)
    return found[:-1]


def area(scores, wanted):
    above, below = scores[wanted == 1], scores[wanted == 0]
    return float((above[:, None] > below).mean() + 0.5 * (above[:, None] == below).mean())


# ---- report


def report(name, bench: Path, sets, encode, with_late=False):
    cells = []
    for retrieval_name, retrieval in sets.items():
        line = lambda figures: "/".join(f"{figure:.1f}" for figure in figures)
        extra = late(retrieval, encode) if with_late else None
        cells.append(line(cosine(retrieval, encode)))
        if extra:
            cells[-1] += f" (late {line(extra[0])}; both {line(extra[1])})"
    areas = need(bench, encode)
    print(f"| {name} | {' | '.join(cells)} | {areas['en']:.3f} | {areas['zh']:.3f} |", flush=True)


def categories(retrieval: Retrieval, depth=1):
    """Returns recall@5 of each category, by the scores of the last call."""
    groups = defaultdict(list)
    for category, row in zip(retrieval.categories, retrieval.last):
        groups[category].append(100 * row[depth])
    return {name: round(float(np.mean(rows)), 1) for name, rows in sorted(groups.items())}


def head():
    print(f"| model | {' | '.join(SETS)} | need en | need zh |\n|{'---|' * (len(SETS) + 3)}", flush=True)


def read_sets(bench: Path):
    return {name: Retrieval(bench / name) for name in SETS if (bench / name).exists()}


def main():
    arguments = parse()
    sets = read_sets(arguments.bench)
    base = arguments.teacher / "tokenizer.json"
    head()
    show = lambda name, model: report(name, arguments.bench, sets, model.encode, arguments.late)
    if not arguments.students_only:
        show("static table", Static(arguments.assets, base, arguments.han, False))
        show("bilingual table", Static(arguments.assets, base, arguments.han, True))
        show("all-MiniLM-L6-v2", teacher(arguments.teacher, arguments.device))
    for folder in arguments.student:
        if (folder / "float.pt").exists():
            floats = models.read_floats(folder)
            report(f"{folder.name}, float", arguments.bench, sets, student(folder, base, arguments.han, arguments.device, floats).encode)
        show(f"{folder.name}, quantized", student(folder, base, arguments.han, arguments.device))
        print(folder.name, {name: categories(sets[name]) for name in sets if name.startswith("everyday")}, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--assets", type=Path, required=True, help="folder of the static table")
    parser.add_argument("--han", type=Path, required=True, help="folds of traditional characters")
    parser.add_argument("--student", type=Path, nargs="*", default=[])
    parser.add_argument("--students-only", action="store_true")
    parser.add_argument("--late", action="store_true", help="late interaction, too")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


if __name__ == "__main__":
    main()
