"""Trains the adapters of the built-in encoder: is a sentence worth keeping, does a newer statement end an older one
(`change_adapter.py`), and does a message call for memory, and for which (`message_adapter.py`).

    python adapters.py --model ENCODER --tokenizer tokenizer.json --han folds.bin --data DATA --topics topics.tsv --out ADAPTERS

`DATA` is `crates/everlore-eval/data`. An adapter adds a low-rank matrix to every linear layer (LoRA); the encoder's own weights stay as
they are. Prints how well sentences of authors outside the fit are judged, then trains on everything.
"""

import argparse
import json
import math
import random
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "embedder"), str(HERE.parent / "bilingual")]

import vocabulary
from chinese import Folds
from change_adapter import DROPOUT as CHANGE_DROPOUT
from change_adapter import RANK as CHANGE_RANK
from change_adapter import find_nearest, homes_of_messages, homes_of_pairs, print_curve, read_change_homes, train_changes
from message_adapter import DROPOUT, RANK, read_homes, read_topics, train_messages
from model import rows_int8
from reference import Reference

KINDS = "identity family work health preference feedback plan project decision request none".split()
MODES = "asserted correction retracted question hypothetical quoted acted joke translation pasted instruction smalltalk".split()
# Pieces before a sentence, in it, and after it: with the frame they fill the positions of the encoder.
BEFORE, TEXT, AFTER = 48, 60, 16
# Characters of an earlier text that are read.
EARLIER_CHARACTERS = 160
IGNORED = -100
LABEL = re.compile(r"(yes|maybe|no) (\w+) (.+?) (\w+) \| (.*)$")
KEEP = {"yes": 1.0, "maybe": 0.5, "no": 0.0}
GREETINGS = {
    "en": ["Hi! How can I help you today?", "Got it. Anything else?", "Sure, go ahead."],
    "zh": ["你好！有什么可以帮你的吗？", "好的，还有别的吗？", "收到。"],
}
PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attention_output": "attention.output.dense",
    "up": "intermediate.dense",
    "down": "output.dense",
}


def dialogues(path: Path):
    """Yields (texts before, label match, next text) for each labelled sentence of a file of dialogues."""
    before, message = [], []

    def flush():
        for at, label in enumerate(message):
            yield list(before), label, message[at + 1][5] if at + 1 < len(message) else ""
            before.append(label[5])
        message.clear()

    for line in path.read_text(encoding="utf-8").splitlines():
        label = LABEL.match(line)
        if label:
            message.append(label)
            continue
        yield from flush()
        if line.startswith(("## ", "--- ")):
            before.clear()
        elif line.startswith("assistant:"):
            before.append(line[10:].strip())
    yield from flush()


class Framer:
    """Turns texts into pieces as the engine does (`llm/local/sentence_head.rs`)."""

    def __init__(self, reference: Reference):
        self.pieces = reference.pieces

    def sentence(self, before, text, after):
        context = []
        for earlier in reversed(before):
            pieces = self.pieces(earlier[-EARLIER_CHARACTERS:])[-BEFORE:]
            if context and len(context) + len(pieces) > BEFORE:
                break
            context = pieces + context
        frame = [vocabulary.FIRST, *context, *([vocabulary.LAST] if context else [])]
        start = len(frame)
        frame += [*self.pieces(text)[:TEXT], vocabulary.LAST]
        end = len(frame)
        if after:
            frame += [*self.pieces(after)[:AFTER], vocabulary.LAST]
        return frame, start, end

    def message(self, text):
        frame = [vocabulary.FIRST, *self.pieces(text), vocabulary.LAST]
        return frame, 0, len(frame)

    def pair(self, old, new, most):
        """Returns the pieces of both statements, and where the older one ends."""
        framed = [vocabulary.FIRST, *self.pieces(old)[:most], vocabulary.LAST]
        return framed + [*self.pieces(new)[:most], vocabulary.LAST], len(framed)


def example(framed, keep, kind=IGNORED, mode=IGNORED, author="", weight=1.0):
    return {"framed": framed, "keep": keep, "kind": kind, "mode": mode, "author": author, "weight": weight}


def sentence_examples(data: Path, topics: Path, framer: Framer):
    rng, examples = random.Random(7), []

    def add(label, before, after, author):
        keep, kind, _, mode, text = label.groups()
        framed = framer.sentence(before, text, after)
        # A statement that is taken back later was worth keeping when it was said.
        is_kept = 1.0 if mode == "retracted" else KEEP[keep]
        kind = IGNORED if is_kept and kind == "none" else KINDS.index(kind)
        examples.append(example(framed, is_kept, kind, MODES.index(mode), author))

    for path in sorted((data / "dialogues").glob("train_*.txt")):
        for before, label, after in dialogues(path):
            add(label, before, after, path.stem[-1])
    for language in GREETINGS:
        labels = [LABEL.match(line) for line in (data / "dialogues" / f"plain_{language}.txt").read_text(encoding="utf-8").splitlines()]
        labels = [label for label in labels if label]
        for at, label in enumerate(labels):
            # A plain statement may open a talk, follow a greeting or follow another statement.
            before = rng.choice([[], [], [rng.choice(GREETINGS[language])], [labels[at - 1][5]]])
            add(label, before, "", f"plain{at % 3}")
    for line in topics.read_text(encoding="utf-8").splitlines():
        columns = line.split("\t")
        if line.startswith("#") or len(columns) < 3:
            continue
        for memory in columns[1].split("|"):
            if "{" not in memory and len(memory) > 5:
                examples.append(example(framer.sentence([], memory.strip(), ""), 1.0, mode=0, weight=0.5))
    for message in rng.sample(messages(data), 900):
        examples.append(example(framer.sentence([], message["text"], ""), 0.0, kind=KINDS.index("none"), weight=0.5))
    return examples


def messages(data: Path):
    return [json.loads(line) for line in (data / "messages.jsonl").read_text(encoding="utf-8").splitlines()]


class Adapted(nn.Module):
    """Linear layer whose weights stay, with a low-rank change."""

    def __init__(self, weight, bias, rank):
        super().__init__()
        self.register_buffer("weight", torch.tensor(weight))
        self.register_buffer("bias", torch.tensor(bias))
        self.narrow = nn.Parameter(torch.randn(rank, self.weight.shape[1]) / math.sqrt(self.weight.shape[1]))
        self.tall = nn.Parameter(torch.zeros(rank, self.weight.shape[0]))

    def forward(self, rows):
        return F.linear(rows, self.weight, self.bias) + rows @ self.narrow.T @ self.tall


class Net(nn.Module):
    """Encoder with an adapter, and a head on the mean of the last hidden states of the part that is read."""

    def __init__(self, reference: Reference, rank: int, outputs: int, dropout: float = 0.1):
        super().__init__()
        self.config, tensors = reference.config, reference.tensors
        dense = lambda name: tensors[f"{name}.weight"].astype(np.float32) * tensors[f"{name}.weight.scales"].reshape(-1, 1)
        place = dense("embeddings.position_embeddings")
        self.register_buffer("words", torch.tensor(reference.words.astype(np.float32) @ dense("embeddings.projection").T))
        self.register_buffer("places", torch.tensor(place))
        self.norms = nn.ParameterDict()
        layers = []
        for number in range(self.config["num_hidden_layers"]):
            name = f"encoder.layer.{number}."
            layers.append(nn.ModuleDict({
                part: Adapted(dense(name + tensor), tensors[f"{name}{tensor}.bias"], rank) for part, tensor in PARTS.items()
            }))
        self.layers = nn.ModuleList(layers)
        self.tensors = {name: torch.tensor(value) for name, value in tensors.items() if "LayerNorm" in name}
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(self.config["hidden_size"], outputs)
        self.head.weight.data *= 0.1

    def norm(self, rows, name):
        gain, bias = (self.tensors[f"{name}.{part}"].to(rows.device) for part in ("weight", "bias"))
        return F.layer_norm(rows, rows.shape[-1:], gain, bias, self.config["layer_norm_eps"])

    def forward(self, pieces, present, read):
        return self.head(self.dropout(self.mean(pieces, present, read)))

    def mean(self, pieces, present, read):
        """Returns the mean of the last hidden states of the part that is read."""
        return (self.hidden(pieces, present) * read[..., None]).sum(1) / read.sum(1, keepdim=True)

    def hidden(self, pieces, present):
        """Returns the last hidden states."""
        hidden = self.norm(self.words[pieces] + self.places[: pieces.shape[1]], "embeddings.LayerNorm")
        heads = self.config["num_attention_heads"]
        split = lambda rows: rows.unflatten(-1, (heads, -1)).transpose(1, 2)
        for number, layer in enumerate(self.layers):
            name = f"encoder.layer.{number}."
            queries, keys, values = (split(layer[part](hidden)) for part in ("query", "key", "value"))
            attended = F.scaled_dot_product_attention(queries, keys, values, attn_mask=present[:, None, None, :])
            attended = layer["attention_output"](attended.transpose(1, 2).flatten(2))
            hidden = self.norm(hidden + self.dropout(attended), name + "attention.output.LayerNorm")
            inner = layer["down"](F.gelu(layer["up"](hidden)))
            hidden = self.norm(hidden + self.dropout(inner), name + "output.LayerNorm")
        return hidden


def batch(examples, device):
    width = max(len(it["framed"][0]) for it in examples)
    pieces, present, read = (torch.zeros(len(examples), width, dtype=kind) for kind in (torch.long, torch.bool, torch.float))
    for row, it in enumerate(examples):
        frame, start, end = it["framed"]
        pieces[row, : len(frame)] = torch.tensor(frame)
        present[row, : len(frame)] = True
        read[row, start:end] = 1.0
    return pieces.to(device), present.to(device), read.to(device)


def loss_of(outputs, examples):
    column = lambda name, kind: torch.tensor([it[name] for it in examples], dtype=kind, device=outputs.device)
    keep = column("keep", torch.float)
    weight = column("weight", torch.float) * torch.where(keep == 0.5, 0.3, 1.0)
    loss = (F.binary_cross_entropy_with_logits(outputs[:, 0], keep, reduction="none") * weight).mean()
    if outputs.shape[1] > 1:
        kinds, modes = outputs[:, 1:].split([len(KINDS), len(MODES)], 1)
        for scores, name in ((kinds, "kind"), (modes, "mode")):
            labels = column(name, torch.long)
            if (labels != IGNORED).any():
                loss = loss + 0.3 * F.cross_entropy(scores, labels, ignore_index=IGNORED)
    return loss


def batches(examples, size, rng):
    """Yields batches of like lengths, in any order: shuffled within windows of eight."""
    order = sorted(examples, key=lambda it: len(it["framed"][0]))
    start = rng.randrange(8 * size)
    order = order[start:] + order[:start]
    windows = [order[at : at + 8 * size] for at in range(0, len(order), 8 * size)]
    order = [it for window in windows for it in rng.sample(window, len(window))]
    chosen = [order[at : at + size] for at in range(0, len(order), size)]
    yield from rng.sample(chosen, len(chosen))


@dataclass
class Settings:
    """Hyperparameters of the classifier of sentences."""

    epochs: int
    dropout: float
    size: int
    rate: float
    rank: int = 16


def train(reference, examples, outputs, settings, device, seed=0):
    torch.manual_seed(seed)
    rng = random.Random(seed)
    net = Net(reference, settings.rank, outputs, settings.dropout).to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=settings.rate, weight_decay=0.02)
    steps = settings.epochs * math.ceil(len(examples) / settings.size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: min(1, (at + 1) / (0.1 * steps)) * max(0, 1 - at / steps))
    for _ in range(settings.epochs):
        for chosen in batches(examples, settings.size, rng):
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                scores = net(*batch(chosen, device))
            loss = loss_of(scores.float(), chosen)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    return net.eval()


@torch.no_grad()
def log_odds(net, examples, device):
    parts = [net(*batch(examples[at : at + 256], device))[:, 0].cpu() for at in range(0, len(examples), 256)]
    return torch.cat(parts).numpy()


def area_under_curve(odds, labels):
    ranks = odds.argsort().argsort() + 1.0
    positive = labels.sum()
    return (ranks[labels].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))


def cross_validate(name, reference, examples, outputs, settings, device):
    for author in sorted({it["author"] for it in examples} - {""}):
        held = [it for it in examples if it["author"] == author]
        net = train(reference, [it for it in examples if it["author"] != author], outputs, settings, device)
        odds, keep = log_odds(net, held, device), np.array([it["keep"] for it in held])
        sure = keep != 0.5
        area = area_under_curve(odds[sure], keep[sure] == 1)
        found, right = (odds[keep == 1] > 4).mean(), (keep[odds > 4] > 0).mean()
        print(f"{name}, held out {author}: auc {area:.3f}, above 4: found {found:.2f}, right {right:.3f}", flush=True)


def export(net, path: Path, head=None):
    """Writes the adapter with the layers of its head: the linear one of the net, or others in half precision."""
    from safetensors.numpy import save_file

    kind = np.float16 if head else np.float32
    tensors = {}
    for number, layer in enumerate(head or [net.head]):
        for part in ("weight", "bias"):
            value = getattr(layer, part).detach().cpu().numpy().astype(kind)
            tensors[f"head.{number}.{part}"] = np.ascontiguousarray(value)
    for number, layer in enumerate(net.layers):
        for part, linear in layer.items():
            name = f"layer.{number}.{part}"
            narrow, scales = rows_int8(linear.narrow.detach().cpu().numpy())
            tensors[f"{name}.narrow"], tensors[f"{name}.narrow.scales"] = narrow, scales
            tall = linear.tall.detach().cpu().numpy().astype(np.float16)
            tensors[f"{name}.tall"] = np.ascontiguousarray(tall)
    save_file(tensors, path)


def change_adapter(reference, framer, arguments, homes, device):
    """Trains the adapter of changes; first on the homes of some authors, to print what it finds in those of the others."""
    base = Net(reference, 1, 1, 0).to(device).eval()

    @torch.no_grad()
    def vectors(texts):
        parts = [batch([{"framed": framer.message(text)} for text in texts[at : at + 256]], device) for at in range(0, len(texts), 256)]
        return F.normalize(torch.cat([base.mean(*part) for part in parts]), dim=-1)

    folder = arguments.data / "changes"
    own, others = list(read_change_homes(folder / "homes")), [*homes_of_pairs(folder), *homes_of_messages(homes)]
    for home in own + others:
        find_nearest(home, vectors, framer.pieces)
    if not arguments.quick:
        held = [home for home in own if re.match(r"train_.._[cdgh]", home.author)]
        net = Net(reference, CHANGE_RANK, 1, CHANGE_DROPOUT).to(device)
        head = train_changes(net, [home for home in own if home not in held] + others, framer.pair, device)
        for language in ("en", "zh"):
            print_curve(net, head, [home for home in held if language in home.author], framer.pair, device, language)
    net = Net(reference, CHANGE_RANK, 1, CHANGE_DROPOUT).to(device)
    export(net, arguments.out / "change.safetensors", train_changes(net, own + others, framer.pair, device).layers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("model", "tokenizer", "han", "data", "topics", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="skip cross-validation")
    parser.add_argument("--only", choices=("capture", "change", "message"), action="append", help="train only this adapter")
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    reference = Reference(arguments.model, arguments.tokenizer, Folds(arguments.han))
    framer = Framer(reference)
    arguments.out.mkdir(parents=True, exist_ok=True)
    outputs = 1 + len(KINDS) + len(MODES)
    is_wanted = lambda name: not arguments.only or name in arguments.only
    homes = read_homes(arguments.data / "homes")
    if is_wanted("capture"):
        examples, settings = sentence_examples(arguments.data, arguments.topics, framer), Settings(7, 0.1, 256, 2e-3)
        if not arguments.quick:
            cross_validate("capture", reference, examples, outputs, settings, device)
        export(train(reference, examples, outputs, settings, device), arguments.out / "capture.safetensors")
    if is_wanted("change"):
        change_adapter(reference, framer, arguments, homes, device)
    if not is_wanted("message"):
        return
    embed = lambda texts: batch([{"framed": framer.message(text)} for text in texts], device)
    net, base = (Net(reference, rank, 1, DROPOUT).to(device) for rank in (RANK, 1))
    labelled = [(message["text"], float(message["needs_memory"])) for message in messages(arguments.data)]
    topics = read_topics(arguments.topics, random.Random(1))
    export(train_messages(net, base.eval(), homes, topics, labelled, embed, device), arguments.out / "message.safetensors")


if __name__ == "__main__":
    main()
