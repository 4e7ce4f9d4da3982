"""The student: a table with one row a word piece; a text is the sum of its rows, brought to length 1."""

from dataclasses import dataclass

import torch
from torch.nn.functional import embedding_bag, kl_div, normalize

from teacher import Lessons

# Piece of unknown words.
UNKNOWN = 100
# Occurrences of a piece before its mean in context counts more than the piece alone.
ENOUGH_CONTEXTS = 5


@dataclass
class Recipe:
    """Hyperparameters; the defaults are those of the shipped table."""

    width: int = 256
    epochs: int = 40
    batch: int = 4096
    rate: float = 4e-3
    sif: float = 3e-3
    real_frequencies: bool = True
    contexts: bool = False
    cosine: float = 1.0
    kl: float = 0.3
    temperature: float = 0.05
    stay: float = 0.3
    cut: int = 2
    late: float = 0.0
    late_temperature: float = 0.05
    late_queries: int = 512
    late_batch: int = 2048
    thin: float = 0.0
    late_own: bool = False
    average: float = 0.0
    seed: int = 1


class Texts:
    """Pieces of texts on the device; any batch is gathered without a loop."""

    def __init__(self, pieces, device):
        self.ids = torch.as_tensor(pieces.ids, device=device)
        self.starts = torch.as_tensor(pieces.starts, device=device)
        self.frequency = torch.bincount(self.ids).float() / len(self.ids)

    def __len__(self):
        return len(self.starts) - 1

    def bag(self, rows):
        """Returns the positions of the pieces of these texts, text by text, and the number of each text's pieces."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        ends = lengths.cumsum(0)
        within = torch.arange(int(ends[-1]), device=rows.device) - (ends - lengths).repeat_interleave(lengths)
        return self.starts[rows].repeat_interleave(lengths) + within, lengths


def pool(table, ids, lengths):
    offsets = lengths.cumsum(0) - lengths
    return normalize(embedding_bag(ids, table, offsets, mode="sum"), dim=-1)


def project(sentences, width):
    """Returns the principal directions of the teacher's vectors."""
    centred = sentences - sentences.mean(0)
    _, vectors = torch.linalg.eigh((centred.T @ centred).double() / len(centred))
    return vectors.flip(1)[:, :width].float()


def start_table(recipe, alone, lessons: Lessons, texts: Texts, basis):
    """Returns the initial table: the teacher's vector of each piece, frequent pieces smaller."""
    size = len(alone)
    vectors = alone
    if recipe.contexts:
        assert lessons.pieces is not None
        sums = torch.zeros_like(alone)
        for part in torch.arange(len(texts.ids), device=alone.device).split(1 << 20):
            sums.index_add_(0, texts.ids[part], lessons.pieces[part].float())
        counts = torch.bincount(texts.ids, minlength=size)[:, None].float()
        vectors = normalize(sums + ENOUGH_CONTEXTS * alone * (counts > 0) + alone * (counts == 0), dim=-1)
    zipf = 1 / torch.arange(1, size + 1, device=alone.device)
    zipf /= zipf.sum()
    share = zipf
    if recipe.real_frequencies:
        counted = torch.zeros_like(zipf)
        counted[: len(texts.frequency)] = texts.frequency
        share = torch.where(counted > 0, counted, zipf.clamp(max=1 / len(texts.ids)))
    return vectors @ basis * (recipe.sif / (recipe.sif + share))[:, None]


def train(recipe: Recipe, texts: Texts, lessons: Lessons, alone, log=print):
    """Trains and returns the table."""
    torch.manual_seed(recipe.seed)
    basis = project(lessons.sentences, recipe.width)
    goal = normalize(lessons.sentences @ basis, dim=-1)
    start = start_table(recipe, alone, lessons, texts, basis)
    table = start.clone().requires_grad_()
    mean = start.clone()
    weights = idf(texts) if recipe.late else None
    optimizer = torch.optim.Adam([table], lr=recipe.rate)
    steps = recipe.epochs * (len(texts) // recipe.batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for epoch in range(recipe.epochs):
        order = torch.randperm(len(texts), device=table.device)
        total = 0.0
        for rows in order[: len(order) // recipe.batch * recipe.batch].split(recipe.batch):
            optimizer.zero_grad(set_to_none=True)
            loss = agreement(recipe, table, start, texts, lessons, goal, rows)
            if recipe.late:
                loss = loss + recipe.late * late_loss(recipe, table, texts, lessons, weights, rows)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.detach()
            if recipe.average:
                mean.lerp_(table.detach(), 1 - recipe.average)
        if epoch % 10 == 9 or epoch == recipe.epochs - 1:
            log(f"  epoch {epoch + 1}: loss {float(total) / (len(order) // recipe.batch):.4f}")
    table = mean if recipe.average else table.detach()
    table = without_common(table, texts, recipe.cut)
    # Texts of unknown characters alone must not be similar.
    table[UNKNOWN] = 0
    return table


def without_common(table, texts, count):
    """Removes the directions that nearly all texts share: they carry no meaning."""
    rows = torch.arange(min(len(texts), 100_000), device=table.device)
    positions, lengths = texts.bag(rows)
    vectors = pool(table, texts.ids[positions], lengths)
    _, directions = torch.linalg.eigh((vectors.T @ vectors).double())
    common = directions[:, directions.shape[1] - count :].float()
    return table - table @ common @ common.T


def agreement(recipe, table, start, texts, lessons, goal, rows):
    """Returns the loss: cosine to the teacher's vector, the same neighbours in the batch, and distance from the start."""
    positions, lengths = texts.bag(rows)
    vectors = pool(table, texts.ids[positions], lengths)
    loss = recipe.cosine * (1 - (vectors * goal[rows]).sum(-1).mean())
    if recipe.kl:
        taught = lessons.sentences[rows]
        loss = loss + recipe.kl * neighbours(taught @ taught.T, vectors @ vectors.T, recipe.temperature, recipe.temperature, False)
    return loss + recipe.stay * (table - start).square().sum(-1).mean()


def neighbours(taught, learnt, taught_temperature, learnt_temperature, with_own):
    """Returns the divergence of the distribution over the (other) texts of the batch from the teacher's."""
    own = torch.eye(*taught.shape, device=taught.device, dtype=torch.bool) & (not with_own)
    taught = (taught / taught_temperature).masked_fill(own, -1e4).softmax(-1)
    learnt = (learnt / learnt_temperature).masked_fill(own, -1e4).log_softmax(-1)
    return kl_div(learnt, taught, reduction="batchmean")


def late_loss(recipe, table, texts, lessons, weights, rows):
    """Returns the loss against the teacher's late interaction, which finds evidence far better than its sentence vectors.

    Some texts of the batch, with a random share of their pieces dropped, act as queries.
    """
    rows = rows[: recipe.late_batch]
    positions, lengths = texts.bag(rows)
    with torch.no_grad():
        query_pieces, query_lengths = thinned(recipe, *texts.bag(rows[: recipe.late_queries]))
        taught = late_interaction(texts, lessons, weights, query_pieces, query_lengths, rows)
    documents = pool(table, texts.ids[positions], lengths)
    queries = pool(table, texts.ids[query_pieces], query_lengths)
    return neighbours(taught, queries @ documents.T, recipe.late_temperature, recipe.temperature, recipe.late_own)


def thinned(recipe, positions, lengths):
    """Keeps a random part of the pieces of each text, at least one."""
    if not recipe.thin:
        return positions, lengths
    owner = torch.arange(len(lengths), device=positions.device).repeat_interleave(lengths)
    dropped = torch.rand(len(lengths), device=positions.device) * recipe.thin
    kept = torch.rand(len(positions), device=positions.device) >= dropped[owner]
    kept[lengths.cumsum(0) - 1] |= torch.zeros_like(lengths).index_add_(0, owner, kept.long()) == 0
    return positions[kept], torch.zeros_like(lengths).index_add_(0, owner, kept.long())


def late_interaction(texts, lessons, weights, query_pieces, query_lengths, rows):
    """Returns, for each query, the idf-weighted mean over its pieces of the best cosine among each document's pieces."""
    lengths = texts.starts[rows + 1] - texts.starts[rows]
    column = torch.arange(int(lengths.max()), device=rows.device)
    inside = column < lengths[:, None]
    position = (texts.starts[rows, None] + column).clamp(max=len(texts.ids) - 1)
    documents = lessons.pieces[position] * inside[..., None]
    flat = documents.reshape(-1, documents.shape[-1]).T
    best = []
    for part in lessons.pieces[query_pieces].split(2048):
        cosines = (part @ flat).view(len(part), *position.shape)
        best.append(cosines.masked_fill(~inside, -1).amax(-1))
    best = torch.cat(best).float()
    owner = torch.arange(len(query_lengths), device=rows.device).repeat_interleave(query_lengths)
    weight = weights[texts.ids[query_pieces]]
    total = torch.zeros(len(query_lengths), device=rows.device).index_add_(0, owner, weight)
    summed = torch.zeros(len(query_lengths), best.shape[1], device=rows.device).index_add_(0, owner, best * weight[:, None])
    return summed / total[:, None]


def idf(texts):
    owner = torch.arange(len(texts), device=texts.ids.device).repeat_interleave(texts.starts.diff())
    pairs = torch.unique(owner * 40_000 + texts.ids)
    found = torch.bincount(pairs % 40_000, minlength=40_000)
    return torch.log(1 + len(texts) / (0.5 + found))


@torch.no_grad()
def overlap(table, texts, lessons, first=10):
    """Returns the share of each text's nearest neighbours, among these texts, on which student and teacher agree."""
    every = torch.arange(len(texts), device=table.device)
    positions, lengths = texts.bag(every)
    nearest = []
    for vectors in (pool(table, texts.ids[positions], lengths), lessons.sentences):
        cosines = (vectors @ vectors.T).fill_diagonal_(-1)
        nearest.append(torch.zeros_like(cosines, dtype=torch.bool).scatter_(1, cosines.topk(first).indices, True))
    return float((nearest[0] & nearest[1]).sum() / (len(texts) * first))
