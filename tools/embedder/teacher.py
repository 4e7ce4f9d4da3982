"""Embeds texts and their word pieces with the teacher, all-MiniLM-L6-v2."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn.functional import normalize
from transformers import BertModel

from texts import Pieces

CLS, SEP = 101, 102
# Upper bound of a batch: rows times its longest text.
BATCH_PIECES = 1 << 16


@dataclass
class Lessons:
    """Vectors of the teacher: one a text and, if requested, one a piece in its context; all of length 1."""

    sentences: torch.Tensor
    pieces: torch.Tensor | None


class Teacher:
    def __init__(self, folder: Path, device: str):
        self.device = device
        self.model = BertModel.from_pretrained(folder, dtype=torch.float32).to(device).eval()

    @torch.inference_mode()
    def teach(self, pieces: Pieces, with_pieces: bool) -> Lessons:
        """Embeds all texts. Half precision where the device has it: the student is far coarser."""
        ids = torch.as_tensor(pieces.ids, device=self.device)
        starts = torch.as_tensor(pieces.starts, device=self.device)
        lengths = torch.as_tensor(pieces.lengths())
        width = self.model.config.hidden_size
        sentences = torch.empty(len(pieces), width, device=self.device)
        contexts = torch.empty(len(ids), width, device=self.device, dtype=torch.float16) if with_pieces else None
        for rows in batches(lengths):
            rows = rows.to(self.device)
            inputs, mask = padded(ids, starts, rows)
            hidden = self.forward(inputs, mask)
            pooled = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            sentences[rows] = normalize(pooled, dim=-1)
            if contexts is not None:
                position = starts[rows, None] + torch.arange(inputs.shape[1] - 2, device=self.device)
                inside = position < starts[rows + 1, None]
                contexts[position[inside]] = normalize(hidden[:, 1:-1][inside], dim=-1).half()
        return Lessons(sentences, contexts)

    @torch.inference_mode()
    def alone(self, size: int) -> torch.Tensor:
        """Returns the sentence vector of each word piece as a text of its own."""
        every = torch.arange(size, device=self.device)
        rows = torch.stack([torch.full_like(every, CLS), every, torch.full_like(every, SEP)], 1)
        parts = [self.forward(part, torch.ones_like(part)).mean(1) for part in rows.split(BATCH_PIECES // 3)]
        return normalize(torch.cat(parts), dim=-1)

    def forward(self, inputs: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        half = self.device != "cpu"
        with torch.autocast(self.device, dtype=torch.float16, enabled=half):
            return self.model(input_ids=inputs, attention_mask=mask).last_hidden_state.float()


def batches(lengths: torch.Tensor):
    """Yields rows of about the same length together, to save padding."""
    order = torch.argsort(lengths, stable=True).flip(0)
    while len(order):
        count = max(1, BATCH_PIECES // int(lengths[order[0]] + 2))
        yield order[:count]
        order = order[count:]


def padded(ids, starts, rows):
    """Returns [CLS] pieces [SEP] with padding, and the attention mask."""
    lengths = starts[rows + 1] - starts[rows]
    column = torch.arange(int(lengths.max()) + 2, device=ids.device)
    position = (starts[rows, None] + column - 1).clamp(0, len(ids) - 1)
    inputs = ids[position]
    inputs[:, 0] = CLS
    inputs[column == lengths[:, None] + 1] = SEP
    mask = (column <= lengths[:, None] + 1).long()
    return inputs * mask, mask
