"""Trains the adapter that compares two statements: does a newer one end an older one?

`adapters.py` runs it. A statement is compared with the nearest ones of a home, which compete: the log odds of each and a zero, for
none of them, go through one softmax, as in the engine (`ingest/rivals/replaced.rs`).
"""

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

# Statements that compete, pieces of each that are read, and the longest pair.
COMPETING, PIECES, LONGEST = 6, 54, 112
RANK, WIDTH, DROPOUT, EPOCHS, RATE = 16, 64, 0.15, 9, 1.5e-3
# Statements that are said later in a step.
STEP = 96
# Weight of shared pieces beside the cosine, for choosing the nearest.
SHARED = 0.35
# Statements of one author's pairs that make a home.
OF_AUTHOR = 60
# Weights of homes: of changes, of pairs, and of memories with messages, whose changes are labelled in part.
OF_CHANGES, OF_PAIRS, OF_MESSAGES = 3.0, 1.0, 0.5


@dataclass
class Later:
    """Statement that is said later, with the numbers of those that it ends, ends in part, and must not be compared with."""

    text: str
    ended: set = field(default_factory=set)
    disputed: set = field(default_factory=set)
    hidden: set = field(default_factory=set)


@dataclass
class ChangeHome:
    author: str
    memories: list
    news: list
    weight: float
    nearest: list = field(default_factory=list)


def read_change_homes(folder: Path):
    """Reads homes of statements that change: `m01<TAB>text`, then `new<TAB>text<TAB>names`."""
    for path in sorted(folder.glob("train_*.txt")):
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
        names = [row[0] for row in rows if row[0] != "new"]
        news = []
        for row in (row for row in rows if row[0] == "new"):
            cells = [cell.strip() for cell in row[2].split(",")]
            ended = {names.index(cell) for cell in cells if cell in names}
            news.append(Later(row[1], ended, {names.index(cell[1:]) for cell in cells if cell[:1] == "?" and cell[1:] in names}))
        yield ChangeHome(path.stem, [row[1] for row in rows if row[0] != "new"], news, OF_CHANGES)


def homes_of_pairs(folder: Path):
    """Makes homes of the older statements of an author's pairs."""
    for path in sorted(folder.glob("train_*.tsv")):
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        olds = list(dict.fromkeys(old for _, old, _ in rows))
        for start in range(0, len(olds), OF_AUTHOR):
            chosen = {old: number for number, old in enumerate(olds[start : start + OF_AUTHOR])}
            if len(chosen) <= COMPETING + 1:
                continue
            of = lambda label, wanted, old: {chosen[old]} if label == wanted else set()
            news = [Later(new, of(label, "replaces", old), of(label, "partly", old)) for label, old, new in rows if old in chosen]
            yield ChangeHome(path.stem[-1], list(chosen), news, OF_PAIRS)


def homes_of_messages(homes):
    """Each memory of a home is said again, after all others: it ends what the home's updates say."""
    for home in homes:
        news = []
        for number, text in enumerate(home["memories"]):
            ended = {old for old, new in home["updates"] if new == number}
            later = {new for old, new in home["updates"] if old == number}
            news.append(Later(text, ended, hidden=later | {number}))
        yield ChangeHome(home["author"], home["memories"], news, OF_MESSAGES)


def find_nearest(home: ChangeHome, vectors, pieces):
    """Fills in which statements compete for each later one; one that is ended is always among them."""
    sets = [set(pieces(text)) for text in home.memories]
    cosines = (vectors([later.text for later in home.news]) @ vectors(home.memories).T).cpu().numpy()
    for later, row in zip(home.news, cosines):
        own = set(pieces(later.text))
        likeness = row + SHARED * np.array([len(own & other) / (1 + min(len(own), len(other))) for other in sets])
        nearest = [int(at) for at in np.argsort(-likeness) if at not in later.hidden][:COMPETING]
        if later.ended and not later.ended & set(nearest):
            nearest[-1] = min(later.ended)
        home.nearest.append(nearest)


class PairHead(nn.Module):
    """Compares the means of two statements, each read in the light of the other."""

    def __init__(self, hidden: int):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4 * hidden, WIDTH), nn.Linear(WIDTH, 1)])
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, old, new):
        compared = torch.cat([old, new, (old - new).abs(), old * new], -1)
        return self.layers[1](self.dropout(F.gelu(self.layers[0](self.dropout(compared)))))[:, 0]


def frame_pairs(homes, frame, device):
    """Returns pieces, lengths and ends of the older statement for each pair, in the order of homes and news."""
    pairs = [(home.memories[at], later.text) for home in homes for later, near in zip(home.news, home.nearest) for at in near]
    pieces = torch.zeros(len(pairs), LONGEST, dtype=torch.long)
    lengths, ends = (torch.zeros(len(pairs), dtype=torch.long) for _ in range(2))
    for row, (old, new) in enumerate(pairs):
        framed, end = frame(old, new, PIECES)
        pieces[row, : len(framed)] = torch.tensor(framed)
        lengths[row], ends[row] = len(framed), end
    return pieces.to(device), lengths.to(device), ends.to(device)


def log_odds(net, head, pieces, lengths, ends):
    width = int(lengths.max())
    at = torch.arange(width, device=pieces.device)[None]
    present, old = at < lengths[:, None], at < ends[:, None]
    hidden = net.hidden(pieces[:, :width], present)
    mean = lambda mask: (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    return head(mean(old.float()), mean((present & ~old).float()))


def loss_of(scores, ended, counted, weights):
    """Cross-entropy of the competition, and of each pair alone."""
    alone = (F.binary_cross_entropy_with_logits(scores, ended, reduction="none") * counted).sum(1)
    likelihood = torch.cat([scores.masked_fill(counted == 0, -30), torch.zeros_like(scores[:, :1])], 1).log_softmax(1)
    one_of = -likelihood[:, :COMPETING].masked_fill(ended == 0, -1e4).logsumexp(1)
    return ((0.5 * alone + torch.where(ended.sum(1) > 0, one_of, -likelihood[:, COMPETING])) * weights).mean()


def train_changes(net, homes, frame, device, seed=0):
    """Trains `net` and returns its head. Every home has its nearest statements filled in."""
    torch.manual_seed(seed)
    pieces, lengths, ends = frame_pairs(homes, frame, device)
    news = [(home, later, near) for home in homes for later, near in zip(home.news, home.nearest)]
    table = lambda rows: torch.tensor(rows, dtype=torch.float, device=device)
    ended = table([[at in later.ended for at in near] for _, later, near in news])
    counted = table([[at not in later.disputed for at in near] for _, later, near in news])
    weights = table([home.weight for home, _, _ in news])
    head = PairHead(net.config["hidden_size"]).to(device)
    parameters = [*net.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.02)
    longest = lengths.view(-1, COMPETING).max(1).values.float()
    per_epoch = math.ceil(len(news) / STEP)
    steps = EPOCHS * per_epoch
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: min(1, (at + 1) / (0.08 * steps)) * max(0, 1 - at / steps))
    net.train(), head.train()
    for _ in range(EPOCHS):
        order = torch.argsort(longest + torch.rand_like(longest) * 14)
        for number in torch.randperm(per_epoch):
            chosen = order[number * STEP : (number + 1) * STEP]
            rows = (chosen[:, None] * COMPETING + torch.arange(COMPETING, device=device)).flatten()
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                scores = log_odds(net, head, pieces[rows], lengths[rows], ends[rows])
            loss = loss_of(scores.float().view(-1, COMPETING), ended[chosen], counted[chosen], weights[chosen])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            schedule.step()
    net.eval()
    return head.eval()


@torch.no_grad()
def print_curve(net, head, homes, frame, device, name):
    """Prints how many ended statements are found, and how many statements end something that holds, by probability."""
    pieces, lengths, ends = frame_pairs(homes, frame, device)
    parts = range(0, len(pieces), 512)
    scores = torch.cat([log_odds(net, head, *(it[at : at + 512] for it in (pieces, lengths, ends))).float() for at in parts])
    scores = torch.cat([scores.view(-1, COMPETING), torch.zeros(len(scores) // COMPETING, 1, device=device)], 1).softmax(1)
    best, which = scores[:, :COMPETING].max(1)
    news = [(later, near) for home in homes for later, near in zip(home.news, home.nearest)]
    named = [near[int(at)] for (_, near), at in zip(news, which)]
    needed = sum(len(later.ended) for later, _ in news)
    for least in (0.5, 0.9, 0.99, 0.997):
        sure = [(later, at) for (later, _), at, probability in zip(news, named, best) if probability >= least]
        right = sum(at in later.ended for later, at in sure)
        wrong = sum(at not in later.ended | later.disputed for later, at in sure)
        print(f"{name}, at least {least}: {right}/{needed} found, {wrong}/{len(news)} wrong", flush=True)
