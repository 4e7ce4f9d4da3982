"""Distils encoders from all-MiniLM-L6-v2 and exports them quantized; `evaluate.py` compares them.

    python train.py --prepared DIR --teacher DIR --out DIR --seconds N VARIANT…

A variant is `name:setting=value,setting=value`; `Recipe` has the settings. It is written to a folder of its name: the model as
the engine reads it, and its weights in half precision.
"""

import argparse
import io
import lzma
import math
import time
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

import model as models
from model import Encoder, Size

GROUPS = ["english", "pair_english", "pair_chinese", "sense", "switched", "joined", "own"]
SOURCES = ["sgd", "persona", "service", "request", "ours", "paraphrase"]
# One topic in six is never trained on where `hold` is set: does the encoder understand topics that it was not told?
HOLD_EVERY = 6
# Pieces of a text that take part in the contrast by pieces.
MOST_LATE = 40


@dataclass
class Recipe:
    """Hyperparameters; the defaults are those of the shipped encoder."""

    width: int = 384
    layers: int = 3
    rank: int = 0
    # Start from layers of the teacher, or from random ones.
    inherit: int = 1
    batch: int = 4096
    rate: float = 5e-4
    kl: float = 0.3
    temperature: float = 0.05
    # Weight of the teacher's vectors of pieces, on English texts.
    pieces: float = 0.3
    # Weight of questions with answers, and how many a batch.
    answers: float = 0.1
    answer_batch: int = 512
    # Weight of the same contrast by the best match of each piece, on as many of the batch.
    late: float = 0.0
    late_batch: int = 256
    late_temperature: float = 0.03
    hold: int = 1
    seconds: float = 0
    seed: int = 1
    english: float = 0.36
    pair_english: float = 0.08
    pair_chinese: float = 0.24
    sense: float = 0.08
    switched: float = 0.14
    joined: float = 0.10
    own: float = 0.06
    sgd: float = 0.08
    persona: float = 0.32
    service: float = 0.10
    request: float = 0.15
    ours: float = 0.30
    paraphrase: float = 0.10


def main():
    arguments = parse()
    torch.backends.cuda.matmul.allow_tf32 = True
    say = lambda *what: print(f"{time.time() - BEGAN:5.0f} s", *what, flush=True)
    lessons = Lessons(arguments, say)
    for text in arguments.variants:
        name, recipe = parse_variant(text, arguments.seconds)
        encoder = train(recipe, lessons, lambda *what: say(name, *what))
        folder = arguments.out / name
        models.export(encoder, folder)
        (folder / "vocab.txt").write_bytes((arguments.prepared / "vocab.txt").read_bytes())
        torch.save({key: value.half().cpu() for key, value in encoder.state_dict().items()}, folder / "float.pt")
        say(name, f"{(folder / 'model.safetensors').stat().st_size / 1e6:.2f} MB", lessons.held_out(encoder))
        (folder / "done").touch()


BEGAN = time.time()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prepared", type=Path, required=True, help="folder written by prepare.py")
    parser.add_argument("--teacher", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=110, help="training time of a variant")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("variants", nargs="+")
    return parser.parse_args()


def parse_variant(text, seconds):
    name, _, settings = text.partition(":")
    kinds = {field.name: type(field.default) for field in fields(Recipe)}
    values = dict(setting.split("=") for setting in settings.split(",") if setting)
    return name, replace(Recipe(), **{"seconds": seconds} | {key: kinds[key](float(value)) for key, value in values.items()})


# ---- what is learnt


class Ragged:
    """Texts as pieces on the device; any batch is gathered without a loop."""

    def __init__(self, ids, lengths, device):
        self.lengths = torch.as_tensor(lengths.astype(np.int64), device=device)
        self.starts = self.lengths.cumsum(0) - self.lengths
        self.ids = torch.as_tensor(ids.astype(np.int32), device=device)

    def framed(self, rows, lengths=None):
        """Returns `[CLS] pieces [SEP]` with padding, and the mask."""
        lengths = self.lengths[rows] if lengths is None else lengths
        column = torch.arange(int(lengths.max()) + 2, device=rows.device)
        position = (self.starts[rows, None] + column - 1).clamp(0, len(self.ids) - 1)
        ids = self.ids[position].long()
        ids[:, 0] = models.CLS
        ids = torch.where(column == lengths[:, None] + 1, models.SEP, ids)
        mask = column <= lengths[:, None] + 1
        return ids * mask, mask


def expand(arrays, name):
    """Fills in the texts that are written as nothing but their goal."""
    lengths, goals = arrays[f"{name}_lengths"].astype(np.int64), arrays[f"{name}_goal"].astype(np.int64)
    taught = arrays["teacher_lengths"].astype(np.int64)
    same = lengths == 0
    own_starts, taught_starts = np.cumsum(lengths) - lengths, np.cumsum(taught) - taught
    full = np.where(same, taught[goals], lengths)
    first = np.where(same, taught_starts[goals], own_starts)
    ends = np.cumsum(full)
    position = np.repeat(first - (ends - full), full) + np.arange(ends[-1])
    from_goal = np.repeat(same, full)
    ids = np.empty(ends[-1], np.uint16)
    ids[from_goal] = arrays["from_teacher"][arrays["teacher_ids"][position[from_goal]]]
    ids[~from_goal] = arrays[f"{name}_ids"][position[~from_goal]]
    return ids, full, same


class Lessons:
    """Texts of the student with the teacher's vectors, and questions with answers."""

    def __init__(self, arguments, say):
        device = self.device = arguments.device
        arrays = dict(np.load(io.BytesIO(lzma.open(arguments.prepared / "prepared.npz.xz").read())))
        say("read")
        weights = self.weights = models.read_teacher(arguments.teacher)
        self.teacher = models.teacher(weights).to(device).eval()
        self.taught = Ragged(arrays["teacher_ids"], arrays["teacher_lengths"], device)
        with torch.inference_mode():
            self.vectors = torch.cat([part for part in self.teach()])[self.order.argsort()]
        say(f"{len(self.vectors)} vectors of the teacher")
        ids, lengths, same = expand(arrays, "text")
        self.texts = Ragged(ids, lengths, device)
        # Texts whose pieces are the teacher's own.
        self.aligned = torch.as_tensor(same, device=device)
        self.goal = torch.as_tensor(arrays["text_goal"].astype(np.int64), device=device)
        group = torch.as_tensor(arrays["group"].astype(np.int64), device=device)
        self.groups = [torch.nonzero((group == number) & (self.texts.lengths > 0))[:, 0] for number in range(len(GROUPS))]
        self.questions = Ragged(*expand(arrays, "question")[:2], device)
        self.answers = Ragged(*expand(arrays, "answer")[:2], device)
        self.topic = torch.as_tensor(arrays["topic"].astype(np.int64), device=device)
        zero = (self.topic >= 0)[:, None]
        goals = lambda name: self.vectors[torch.as_tensor(arrays[f"{name}_goal"].astype(np.int64), device=device)].masked_fill(zero, 0)
        self.question_vectors, self.answer_vectors = goals("question"), goals("answer")
        source = torch.as_tensor(arrays["source"].astype(np.int64), device=device)
        # Neighbouring lines that the teacher finds unrelated are not an answer.
        related = (self.question_vectors * self.answer_vectors).sum(-1) > 0.25
        held = (self.topic >= 0) & (self.topic % HOLD_EVERY == 0)
        fit = (related | (self.topic >= 0)) & (self.questions.lengths > 0) & (self.answers.lengths > 0)
        self.held = torch.nonzero(held)[:, 0]
        self.sources = {hold: [torch.nonzero((source == number) & fit & ~(held & bool(hold)))[:, 0] for number in range(len(SOURCES))] for hold in (0, 1)}
        say("answers", {name: len(rows) for name, rows in zip(SOURCES, self.sources[0])})
        self.start, self.start_weight = (torch.as_tensor(arrays[name].astype(kind)) for name, kind in (("start", np.int64), ("start_weight", np.float32)))
        vocabulary = (arguments.prepared / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
        final = [len(piece) == 1 and not piece.isalnum() for piece in vocabulary]
        self.is_mark = torch.tensor(final, device=device)

    def teach(self):
        """Yields the teacher's vectors, texts of like length together."""
        self.order = self.taught.lengths.argsort(descending=True)
        at = 0
        while at < len(self.order):
            rows = self.order[at : at + (1 << 18) // (int(self.taught.lengths[self.order[at]]) + 2)]
            at += len(rows)
            ids, mask = self.taught.framed(rows)
            with autocast(self.device):
                yield models.pool(self.teacher(ids, mask).float(), mask)

    def start_words(self):
        """Returns the first word embeddings: English ones as the teacher has them, Chinese ones from their glosses."""
        known = self.weights["embeddings.word_embeddings.weight"]
        mixed = (known[self.start] * self.start_weight[..., None]).sum(1)
        # The mean of several words is short; give it the length of a word.
        several = (self.start_weight > 0).sum(1) > 1
        scale = known.norm(dim=1).median() / mixed.norm(dim=1).clamp(min=1e-6)
        return torch.where(several[:, None], mixed * scale[:, None], mixed)

    @torch.inference_mode()
    def held_out(self, encoder):
        """Returns the share of questions of unseen topics whose nearest memory, among those of all topics, is of their topic."""
        encoder.eval()
        rows = torch.nonzero(self.topic >= 0)[:, 0]
        memories, questions = encode(encoder, self.answers, rows, self.device), encode(encoder, self.questions, self.held, self.device)
        found = (questions @ memories.T).argmax(1)
        encoder.train()
        return f"held-out topics {100 * (self.topic[rows[found]] == self.topic[self.held]).float().mean():.1f}"


def autocast(device):
    return torch.autocast(device, torch.bfloat16)


def encode(encoder, texts, rows, device):
    parts = []
    for some in rows.split(4096):
        ids, mask = texts.framed(some)
        with autocast(device):
            parts.append(models.pool(encoder(ids, mask).float(), mask))
    return torch.cat(parts)


# ---- training


def build(recipe: Recipe, lessons: Lessons) -> tuple[Encoder, torch.Tensor | None]:
    """Returns the untrained encoder, and the directions onto which the teacher is projected if it is wider."""
    words = lessons.start_words()
    heads = 12 if recipe.width == 384 else recipe.width // 32
    size = Size(len(words), recipe.width, recipe.layers, heads, 4 * recipe.width, recipe.rank)
    encoder = Encoder(size)
    if recipe.inherit:
        models.start_from(encoder, lessons.weights, {1: [0], 2: [0, 5], 3: [0, 2, 5], 4: [0, 2, 4, 5], 6: range(6)}[recipe.layers])
    else:
        torch.nn.init.normal_(encoder.positions.weight, std=0.02)
    inner = recipe.rank or recipe.width
    if inner < words.shape[1]:
        _, directions = torch.linalg.eigh((words.T @ words).double())
        directions = directions.flip(1)[:, :inner].float()
        # Rows of unit variance train well; the projection takes the rest.
        encoder.words.weight.data = words @ directions
        if recipe.rank:
            encoder.projection.weight.data = directions.clone()
    else:
        encoder.words.weight.data = words.clone()
    basis = None
    if recipe.width < lessons.vectors.shape[1]:
        vectors = lessons.vectors[:200_000]
        _, directions = torch.linalg.eigh((vectors.T @ vectors).double())
        basis = directions.flip(1)[:, : recipe.width].float()
    return encoder.to(lessons.device), basis


def train(recipe: Recipe, lessons: Lessons, say) -> Encoder:
    torch.manual_seed(recipe.seed)
    encoder, basis = build(recipe, lessons)
    words = [encoder.words.weight]
    others = [weights for name, weights in encoder.named_parameters() if name != "words.weight"]
    rate = recipe.rate if recipe.inherit else 2 * recipe.rate
    optimizer = torch.optim.AdamW(
        [{"params": others, "lr": rate}, {"params": words, "lr": 2 * rate, "weight_decay": 0}],
        weight_decay=0.01, betas=(0.9, 0.98), fused=lessons.device != "cpu",
    )
    rates = [group["lr"] for group in optimizer.param_groups]
    goals = lessons.vectors if basis is None else F.normalize(lessons.vectors @ basis, dim=-1)
    began, step = time.time(), 0
    size = sum(weights.numel() for weights in encoder.parameters())
    while (share := (time.time() - began) / recipe.seconds) < 1:
        now = min(1, (step + 1) / 300) * (0.5 * (1 + math.cos(math.pi * share)) + 0.01)
        for group, base in zip(optimizer.param_groups, rates):
            group["lr"] = base * now
        loss, parts = losses(recipe, encoder, lessons, goals, basis)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 1000 == 0 or step == 20:
            say(f"{step} steps, {time.time() - began:.0f} s,", ", ".join(f"{key} {float(value):.4f}" for key, value in parts.items()))
    say(f"{size / 1e6:.1f} M weights ({words[0].numel() / 1e6:.1f} M of words), {step} steps, {step * recipe.batch / len(lessons.goal):.1f} epochs")
    return encoder.eval()


def losses(recipe, encoder, lessons, goals, basis):
    rows = draw(lessons.groups, [getattr(recipe, name) for name in GROUPS], recipe.batch)
    lengths = lessons.texts.lengths[rows]
    # People leave out the last full stop or question mark; the meaning stays.
    last = lessons.texts.ids[lessons.texts.starts[rows] + lengths - 1].long()
    dropped = lessons.is_mark[last] & (lengths > 1) & (torch.rand(len(rows), device=rows.device) < 0.3)
    lengths = lengths - dropped.long()
    order = lengths.argsort()
    rows, lengths, dropped = rows[order], lengths[order], dropped[order]
    vectors, piece_loss = [], []
    # Rows of like length go together, to save padding.
    for some, those, cut in zip(rows.chunk(6), lengths.chunk(6), dropped.chunk(6)):
        ids, mask = lessons.texts.framed(some, those)
        with autocast(lessons.device):
            hidden = encoder(ids, mask)
        vectors.append(models.pool(hidden.float(), mask))
        if recipe.pieces:
            piece_loss.append(agreement(recipe, lessons, hidden, some, mask, cut, basis))
    vectors = torch.cat(vectors)
    goal, taught = goals[lessons.goal[rows]], lessons.vectors[lessons.goal[rows]]
    parts = {"cosine": 1 - (vectors * goal).sum(-1).mean()}
    loss = parts["cosine"]
    if recipe.kl:
        parts["kl"] = neighbours(taught, vectors, recipe.temperature)
        loss = loss + recipe.kl * parts["kl"]
    if recipe.pieces:
        parts["pieces"] = torch.stack([part for part in piece_loss if part is not None]).mean()
        loss = loss + recipe.pieces * parts["pieces"]
    if recipe.answers:
        parts["answers"] = contrast(recipe, encoder, lessons)
        loss = loss + recipe.answers * parts["answers"]
    return loss, parts


def draw(groups, weights, size):
    """Draws rows of each group by its weight."""
    total = sum(weights)
    found = [rows[torch.randint(len(rows), (round(size * weight / total),), device=rows.device)] for rows, weight in zip(groups, weights) if weight and len(rows)]
    return torch.cat(found)


def neighbours(taught, learnt, temperature):
    """Returns the divergence of the similarities within the batch from the teacher's."""
    own = torch.eye(len(taught), device=taught.device, dtype=torch.bool)
    taught = (taught @ taught.T / temperature).masked_fill(own, -1e4).log_softmax(-1)
    learnt = (learnt @ learnt.T / temperature).masked_fill(own, -1e4).log_softmax(-1)
    return F.kl_div(learnt, taught, log_target=True, reduction="batchmean")


def agreement(recipe, lessons, hidden, rows, mask, dropped, basis):
    """Returns the distance of the vectors of pieces from the teacher's, for a part of the English texts."""
    chosen = lessons.aligned[rows] & ~dropped & (torch.rand(len(rows), device=rows.device) < 0.5)
    chosen = torch.nonzero(chosen)[:, 0]
    if len(chosen) == 0:
        return None
    ids, inner = lessons.taught.framed(lessons.goal[rows[chosen]])
    with torch.no_grad(), autocast(lessons.device):
        taught = lessons.teacher(ids, inner)
    taught = taught if basis is None else taught.float() @ basis
    found = F.cosine_similarity(hidden[chosen][:, : ids.shape[1]].float(), taught.float(), dim=-1)
    return 1 - found[inner].mean()


def contrast(recipe, encoder, lessons):
    """Returns how badly questions find their answers among those of the batch, and answers their questions."""
    rows = draw(lessons.sources[recipe.hold], [getattr(recipe, name) for name in SOURCES], recipe.answer_batch)
    vectors, pieces = [], []
    for texts in (lessons.questions, lessons.answers):
        if recipe.late:
            pieces.append(piece_vectors(encoder, texts, rows[: recipe.late_batch], lessons.device))
        order = texts.lengths[rows].argsort()
        parts = []
        for some in rows[order].chunk(2):
            ids, mask = texts.framed(some)
            with autocast(lessons.device):
                parts.append(models.pool(encoder(ids, mask).float(), mask))
        vectors.append(torch.cat(parts)[order.argsort()])
    questions, answers = vectors
    # Others that are as good an answer are no mistakes.
    topic = lessons.topic[rows]
    same = (topic[:, None] == topic) & (topic >= 0)
    for taught in (lessons.question_vectors[rows], lessons.answer_vectors[rows]):
        same |= taught @ taught.T > 0.75
    same &= ~torch.eye(len(rows), device=rows.device, dtype=torch.bool)
    loss = find_own(questions @ answers.T / recipe.temperature, same)
    if recipe.late:
        some = recipe.late_batch
        loss = loss + recipe.late * find_own(best_matches(*pieces) / recipe.late_temperature, same[:some, :some])
    return loss


def find_own(near, same):
    """Returns how badly each row finds the column of its own number and the other way round; `same` pairs do not count."""
    near = near.masked_fill(same, -1e4)
    own = torch.arange(len(near), device=near.device)
    return (F.cross_entropy(near, own) + F.cross_entropy(near.T, own)) / 2


def piece_vectors(encoder, texts, rows, device):
    """Returns the vectors of the pieces of each text, and which of them are there; frames and long tails are not."""
    ids, mask = texts.framed(rows)
    with autocast(device):
        hidden = encoder(ids, mask)
    inner = mask.clone()
    inner[:, 0] = False
    inner[torch.arange(len(ids)), mask.sum(1) - 1] = False
    return F.normalize(hidden[:, :MOST_LATE].float(), dim=-1).bfloat16(), inner[:, :MOST_LATE]


def best_matches(questions, answers):
    """Returns, for each question and answer, the mean over the question's pieces of their best match in the answer."""
    (ours, there), (theirs, known) = questions, answers
    near = torch.einsum("qid,ajd->qaij", ours, theirs).masked_fill(~known[None, :, None, :], -1)
    best = near.amax(-1).float() * there[:, None, :]
    return best.sum(-1) / there.sum(-1).clamp(min=1)[:, None]


if __name__ == "__main__":
    main()
