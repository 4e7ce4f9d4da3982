"""Trains the adapter that reads messages: does one call for memory, and what are the memories like that it calls for.

`adapters.py` runs it. Memories keep the vectors that the encoder gives them; only the vector of a message is learnt, so that it is
nearer to the memories that bear on the message than to all others of its home.
"""

import math
import random
import re
from pathlib import Path

import torch
from torch.nn import functional as F

CATEGORIES = ("direct", "paraphrase", "inference", "task", "update", "none", "cross")
MEMORY = re.compile(r"(m\d+) (\d{4}-\d\d-\d\d) (.*)$")
EPOCHS, RANK, RATE, DROPOUT = 12, 8, 1e-3, 0.2
# Homes and topics of a step, messages of a topic, and messages that are judged for need.
HOMES, TOPICS, OF_TOPIC, JUDGED = 10, 60, 4, 128
TEMPERATURE = 0.05
# Weight of memories of other homes beside those of the same one, and of staying near the message's own vector.
OTHERS, KEEP = 0.3, 0.3


def read_homes(folder: Path):
    """Returns homes: memories as texts, messages as (category, text, relevant, neither here nor there)."""
    homes = []
    for path in sorted(folder.glob("train_*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            memory, cells = MEMORY.match(line), [cell.strip() for cell in line.split("|")]
            if line.startswith("## "):
                homes.append({"author": path.stem[-1], "ids": [], "memories": [], "messages": [], "updates": set()})
            elif memory:
                homes[-1]["ids"].append(memory[1])
                homes[-1]["memories"].append(memory[3])
            elif cells[0] in CATEGORIES:
                at = lambda cell: [homes[-1]["ids"].index(name) for name in cell.split()]
                text = "|".join(cells[1:-3]).strip()
                homes[-1]["messages"].append((cells[0], text, at(cells[-3]), at(cells[-2]) + at(cells[-1])))
                for old in at(cells[-1]):
                    homes[-1]["updates"].update((old, new) for new in at(cells[-3]) if old < new)
    return homes


def read_topics(path: Path, rng: random.Random):
    """Returns topics as homes of one subject: every message calls for every memory. Slots are filled alike on both sides."""
    slots, topics = {}, []
    is_chinese = lambda text: any("\u4e00" <= c <= "\u9fff" for c in text)
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if line.startswith("{"):
            slots[cells[0]] = [value.split("=") for value in cells[1].split("|")]
        elif len(cells) >= 3 and not line.startswith("#"):
            used = [slot for slot in slots if slot in line]
            for _ in range(4 if used else 1):
                chosen = {slot: rng.choice(slots[slot]) for slot in used}

                def fill(text):
                    for slot, (english, chinese) in chosen.items():
                        text = text.replace(slot, chinese if is_chinese(text) else english)
                    return text

                memories, messages = ([fill(text) for text in cell.split("|")] for cell in cells[1:3])
                every = list(range(len(memories)))
                topics.append({"topic": cells[0], "memories": memories, "messages": [("topic", text, every, []) for text in messages]})
    return topics


def contrast(scores, wanted, allowed):
    """Mean loss of each wanted memory against all allowed ones that are not wanted."""
    others = scores.masked_fill(~allowed | wanted, -1e9).logsumexp(-1, keepdim=True)
    likelihood = scores - torch.logaddexp(scores, others)
    return -((likelihood * wanted).sum(-1) / wanted.sum(-1)).mean()


class Step:
    """Homes of one step, with their messages and masks."""

    def __init__(self, homes, rng):
        self.homes, self.messages, starts = homes, [], [0]
        for home in homes:
            starts.append(starts[-1] + len(home["memories"]))
        for number, home in enumerate(homes):
            calling = [message for message in home["messages"] if message[2]]
            chosen = rng.sample(calling, min(OF_TOPIC, len(calling))) if "topic" in home else calling
            self.messages += [(number, *message) for message in chosen]
        shape = (len(self.messages), starts[-1])
        self.wanted, self.own, self.left_out = (torch.zeros(shape, dtype=torch.bool) for _ in range(3))
        for row, (number, _, _, relevant, neutral) in enumerate(self.messages):
            self.own[row, starts[number] : starts[number + 1]] = True
            self.wanted[row, [starts[number] + at for at in relevant]] = True
            self.left_out[row, [starts[number] + at for at in neutral]] = True
            for other, home in enumerate(homes):
                if other != number and "topic" in home and home["topic"] == homes[number].get("topic"):
                    self.left_out[row, starts[other] : starts[other + 1]] = True

    def loss(self, net, vectors, embed, device):
        wanted, own, left_out = (mask.to(device) for mask in (self.wanted, self.own, self.left_out))
        texts = [text for _, _, text, _, _ in self.messages]
        sought = F.normalize(net.mean(*embed(texts)).float(), dim=-1)
        scores = sought @ torch.cat([vectors[id(home)] for home in self.homes]).T / TEMPERATURE
        loss = contrast(scores, wanted, ~left_out)
        if "topic" not in self.homes[0]:
            loss = contrast(scores, wanted, own & ~left_out) + OTHERS * loss
        return loss, sought, texts


def train_messages(net, base, homes, topics, labelled, embed, device, seed=0):
    """Trains `net`; `base` is the encoder without an adapter, `labelled` are (text, needs memory), `embed` frames texts."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    with torch.no_grad():
        vectors = {id(home): F.normalize(base.mean(*embed(home["memories"])), dim=-1) for home in homes + topics}
    labelled = labelled + [(text, float(bool(relevant))) for home in homes for _, text, relevant, _ in home["messages"]]
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=0.02)
    steps = EPOCHS * (math.ceil(len(homes) / HOMES) + math.ceil(len(topics) / TOPICS))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: min(1, (at + 1) / (0.1 * steps)) * max(0, 1 - at / steps))
    for _ in range(EPOCHS):
        work = []
        for pool, size in ((homes, HOMES), (topics, TOPICS)):
            order = rng.sample(pool, len(pool))
            work += [order[at : at + size] for at in range(0, len(order), size)]
        for chosen in rng.sample(work, len(work)):
            net.train()
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                loss, sought, texts = Step(chosen, rng).loss(net, vectors, embed, device)
                judged = rng.sample(labelled, JUDGED)
                odds = net.head(net.mean(*embed([text for text, _ in judged])))[:, 0].float()
                labels = torch.tensor([float(label) for _, label in judged], device=device)
                with torch.no_grad():
                    own = F.normalize(base.mean(*embed(texts)).float(), dim=-1)
                loss = loss + F.binary_cross_entropy_with_logits(odds, labels) + KEEP * (1 - (sought * own).sum(-1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net.eval()
