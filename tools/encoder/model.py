"""The encoder: BERT's architecture, small. It reads the teacher's weights, trains in bfloat16, and can run as quantized.

A text is `[CLS] pieces [SEP]`; its vector is the mean over all of them, brought to length 1.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

sys.path.append(str(Path(__file__).resolve().parent.parent / "embedder"))

import int4

EPSILON = 1e-12
CLS, SEP = 101, 102
LINEARS = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "attention_output": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense",
}
NORMS = {"attention_norm": "attention.output.LayerNorm", "output_norm": "output.LayerNorm"}


@dataclass
class Size:
    vocabulary: int
    width: int = 384
    layers: int = 3
    heads: int = 12
    inner: int = 1536
    # Width of the word embeddings, if they are narrower than the layers.
    rank: int = 0
    positions: int = 128


class Layer(nn.Module):
    def __init__(self, size: Size):
        super().__init__()
        width = size.width
        self.heads = size.heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.attention_output = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=EPSILON)
        self.up, self.down = nn.Linear(width, size.inner), nn.Linear(size.inner, width)
        self.output_norm = nn.LayerNorm(width, eps=EPSILON)

    def forward(self, hidden, mask, run):
        rows, length, width = hidden.shape
        split = lambda values: values.view(rows, length, self.heads, width // self.heads).transpose(1, 2)
        parts = [split(run(linear, hidden)) for linear in (self.query, self.key, self.value)]
        attended = F.scaled_dot_product_attention(*parts, attn_mask=mask[:, None, None]).transpose(1, 2)
        hidden = self.attention_norm(hidden + run(self.attention_output, attended.reshape(rows, length, width)))
        return self.output_norm(hidden + run(self.down, F.gelu(run(self.up, hidden))))


class Encoder(nn.Module):
    def __init__(self, size: Size):
        super().__init__()
        self.size = size
        self.words = nn.Embedding(size.vocabulary, size.rank or size.width)
        self.projection = nn.Linear(size.rank, size.width, bias=False) if size.rank else None
        self.positions = nn.Embedding(size.positions, size.width)
        self.norm = nn.LayerNorm(size.width, eps=EPSILON)
        self.layers = nn.ModuleList(Layer(size) for _ in range(size.layers))
        self.run = plain

    def forward(self, ids, mask):
        """Returns the hidden states of the last layer."""
        hidden = self.words(ids)
        if self.projection is not None:
            hidden = self.run(self.projection, hidden)
        hidden = self.norm(hidden + self.positions.weight[: ids.shape[1]])
        for layer in self.layers:
            hidden = layer(hidden, mask, self.run)
        return hidden


def plain(linear, rows):
    return linear(rows)


def quantized(linear, rows):
    """Multiplies as the engine does: weights are integers already, rows become integers of eight bits."""
    scale = rows.abs().amax(-1, keepdim=True) / 127
    whole = (rows / scale.clamp(min=1e-30)).round()
    out = whole @ linear.weight.T * scale * linear.scales
    return out if linear.bias is None else out + linear.bias


def pool(hidden, mask):
    mask = mask[..., None].to(hidden.dtype)
    return F.normalize(((hidden * mask).sum(1) / mask.sum(1)).float(), dim=-1)


# ---- weights


def read_teacher(folder: Path) -> dict[str, torch.Tensor]:
    """Reads a published model, or one that Everlore wrote with 8-bit weights."""
    from safetensors.numpy import load_file

    weights = {}
    tensors = load_file(folder / "model.safetensors")
    for name, values in tensors.items():
        if not name.endswith(".scales"):
            scales = tensors.get(f"{name}.scales")
            values = values.astype(np.float32) * (1 if scales is None else scales[:, None])
            weights[name] = torch.tensor(values)
    return weights


def teacher(weights) -> Encoder:
    words = weights["embeddings.word_embeddings.weight"]
    model = Encoder(Size(len(words), layers=6, positions=512))
    model.words.weight.data = words.clone()
    start_from(model, weights, range(6))
    return model


def start_from(model: Encoder, weights, layers):
    """Copies positions, norms and some of the teacher's layers; its token type 0 goes into the positions."""
    positions = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    model.positions.weight.data = positions[: model.size.positions].clone()
    copy(model.norm, weights, "embeddings.LayerNorm")
    for layer, number in zip(model.layers, layers):
        for name, path in (LINEARS | NORMS).items():
            copy(getattr(layer, name), weights, f"encoder.layer.{number}.{path}")


def copy(module, weights, name):
    module.weight.data = weights[f"{name}.weight"].clone()
    module.bias.data = weights[f"{name}.bias"].clone()


# ---- export


def rows_int8(matrix: np.ndarray):
    """Returns integers of eight bits and a scale a row, as the engine quantizes."""
    scales = (np.abs(matrix).max(1) / 127).astype(np.float32)
    return np.round(matrix / np.maximum(scales, 1e-30)[:, None]).astype(np.int8), scales


def export(model: Encoder, folder: Path):
    """Writes `model.safetensors` and `config.json`. README.md has the layout."""
    from safetensors.numpy import save_file

    size, tensors = model.size, {}
    array = lambda values: values.detach().float().cpu().numpy()

    def matrix(name, values):
        tensors[f"{name}.weight"], tensors[f"{name}.weight.scales"] = rows_int8(array(values))

    def floats(name, values):
        tensors[name] = array(values)

    tensors["embeddings.word_embeddings.weight"] = int4.pack(array(model.words.weight))
    matrix("embeddings.position_embeddings", model.positions.weight)
    matrix("embeddings.token_type_embeddings", torch.zeros(2, size.width))
    if model.projection is not None:
        matrix("embeddings.projection", model.projection.weight)
    floats("embeddings.LayerNorm.weight", model.norm.weight)
    floats("embeddings.LayerNorm.bias", model.norm.bias)
    for number, layer in enumerate(model.layers):
        for name, path in LINEARS.items():
            matrix(f"encoder.layer.{number}.{path}", getattr(layer, name).weight)
            floats(f"encoder.layer.{number}.{path}.bias", getattr(layer, name).bias)
        for name, path in NORMS.items():
            floats(f"encoder.layer.{number}.{path}.weight", getattr(layer, name).weight)
            floats(f"encoder.layer.{number}.{path}.bias", getattr(layer, name).bias)
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: np.ascontiguousarray(values) for name, values in tensors.items()}, folder / "model.safetensors")
    config = {
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": size.width, "intermediate_size": size.inner,
        "num_hidden_layers": size.layers, "num_attention_heads": size.heads, "max_position_embeddings": size.positions,
        "vocab_size": size.vocabulary, "layer_norm_eps": EPSILON, "position_embedding_type": "absolute",
        "word_embedding_size": size.rank or size.width, "word_embedding_bits": 4,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def read_size(folder: Path) -> Size:
    config = json.loads((folder / "config.json").read_text())
    width, rank = config["hidden_size"], config["word_embedding_size"]
    return Size(
        config["vocab_size"], width, config["num_hidden_layers"], config["num_attention_heads"],
        config["intermediate_size"], 0 if rank == width else rank, config["max_position_embeddings"],
    )


def read_floats(folder: Path) -> Encoder:
    """Reads a model as it was before it was quantized."""
    model = Encoder(read_size(folder))
    weights = torch.load(folder / "float.pt", map_location="cpu", weights_only=True)
    model.load_state_dict({name: values.float() for name, values in weights.items()})
    return model.eval()


def read_exported(folder: Path) -> Encoder:
    """Reads an exported model; it runs with the same integers as the engine."""
    from safetensors.numpy import load_file

    size = read_size(folder)
    rank = size.rank or size.width
    tensors, model = load_file(folder / "model.safetensors"), Encoder(size)
    model.run = quantized
    model.words.weight.data = torch.tensor(int4.unpack(tensors["embeddings.word_embeddings.weight"], rank))
    positions = tensors["embeddings.position_embeddings.weight"].astype(np.float32)
    model.positions.weight.data = torch.tensor(positions * tensors["embeddings.position_embeddings.weight.scales"][:, None])

    def linear(module, name):
        module.weight.data = torch.tensor(tensors[f"{name}.weight"].astype(np.float32))
        module.register_buffer("scales", torch.tensor(tensors[f"{name}.weight.scales"]))
        if module.bias is not None:
            module.bias.data = torch.tensor(tensors[f"{name}.bias"])

    def norm(module, name):
        module.weight.data, module.bias.data = torch.tensor(tensors[f"{name}.weight"]), torch.tensor(tensors[f"{name}.bias"])

    norm(model.norm, "embeddings.LayerNorm")
    if model.projection is not None:
        linear(model.projection, "embeddings.projection")
    for number, layer in enumerate(model.layers):
        for name, path in LINEARS.items():
            linear(getattr(layer, name), f"encoder.layer.{number}.{path}")
        for name, path in NORMS.items():
            norm(getattr(layer, name), f"encoder.layer.{number}.{path}")
    return model.eval()
