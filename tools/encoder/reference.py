"""Runs an exported encoder in numpy, step by step as the engine does, and writes golden texts for its tests.

    python reference.py --model DIR --tokenizer tokenizer.json --han folds.bin

`golden.json` in the folder of the model has each text with its pieces and the first components of its vector.
"""

import argparse
import json
import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "embedder"), str(HERE.parent / "bilingual")]

import int4
import vocabulary
from chinese import Folds

SHOWN = 8
TEXTS = [
    "Hello, world!",
    "I'm allergic to peanuts and shellfish.",
    "is there anything i must not eat?",
    "The server crashed at 3am; restart nginx on port 8081.",
    "RetrievalAugmentedGeneration snake_case_name antidisestablishmentarianism",
    "Café déjà-vu, naïve façade; Zürich, São Paulo",
    "don't can't it's we're O'Brien's $5.99 50%",
    "The meeting with Priya moved from Tuesday, 4 March 2025 at 14:30 to next Friday because the venue was double-booked; "
    "she asked me to bring the revised budget, the slides about onboarding and two printed copies of the contract.",
    "a",
    "word " * 200,
    "我对花生过敏",
    "我有什么不能吃的？",
    "我上周三在北京见了老朋友。",
    "周末带孩子去哪儿玩比较好",
    "我對海鮮過敏，請幫我訂一家餐廳。",
    "支付网关是 Go 写的，每周四晚上十点以后发版，白天不准动。",
    "Mixed 中文 and English 混合text文本",
    "「你好」、《三体》：（好书）～",
    "龘靐 日本語のテキスト 안녕하세요 ☃ 🎉",
    "猫",
]


class Reference:
    def __init__(self, folder: Path, tokenizer: Path, folds):
        from safetensors.numpy import load_file

        self.config = json.loads((folder / "config.json").read_text())
        self.tensors = load_file(folder / "model.safetensors")
        self.words = int4.unpack(self.tensors["embeddings.word_embeddings.weight"], self.config["word_embedding_size"])
        self.encoding = vocabulary.load(folder, tokenizer, folds)

    def pieces(self, text: str) -> list[int]:
        return self.encoding.batch([text], self.config["max_position_embeddings"] - 2)[0]

    def vector(self, text: str) -> np.ndarray:
        """Returns the mean of the last hidden states, brought to length 1; zeros for a text without pieces."""
        pieces = self.pieces(text)
        if not pieces:
            return np.zeros(self.config["hidden_size"], np.float32)
        mean = self.hidden([vocabulary.FIRST, *pieces, vocabulary.LAST]).mean(0)
        return mean / np.linalg.norm(mean)

    def hidden(self, ids) -> np.ndarray:
        hidden = self.words[ids]
        if "embeddings.projection.weight" in self.tensors:
            hidden = self.linear(hidden, "embeddings.projection")
        for name, rows in (("position", np.arange(len(ids))), ("token_type", np.zeros(len(ids), int))):
            path = f"embeddings.{name}_embeddings.weight"
            hidden = hidden + self.tensors[path][rows] * self.tensors[f"{path}.scales"][rows, None]
        hidden = self.norm(hidden, "embeddings.LayerNorm")
        for number in range(self.config["num_hidden_layers"]):
            path = f"encoder.layer.{number}."
            attended = self.attention(hidden, path + "attention.self.")
            attended = self.linear(attended, path + "attention.output.dense")
            hidden = self.norm(hidden + attended, path + "attention.output.LayerNorm")
            inner = gelu(self.linear(hidden, path + "intermediate.dense"))
            hidden = self.norm(hidden + self.linear(inner, path + "output.dense"), path + "output.LayerNorm")
        return hidden

    def attention(self, hidden, path):
        heads = self.config["num_attention_heads"]
        split = lambda rows: rows.reshape(len(rows), heads, -1).transpose(1, 0, 2)
        query, key, value = (split(self.linear(hidden, path + name)) for name in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ value).transpose(1, 0, 2).reshape(len(hidden), -1)

    def linear(self, rows, name):
        """Multiplies integers: the row's by its own scale, the weights' by one scale an output."""
        scale = np.abs(rows).max(-1, keepdims=True) / 127
        whole = np.round(rows / np.maximum(scale, 1e-30)).astype(np.int64)
        out = whole @ self.tensors[f"{name}.weight"].T.astype(np.int64) * scale * self.tensors[f"{name}.weight.scales"]
        return (out + self.tensors.get(f"{name}.bias", 0)).astype(np.float32)

    def norm(self, rows, name):
        centred = rows - rows.mean(-1, keepdims=True)
        each = 1 / np.sqrt(np.square(centred).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return (centred * each * self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]).astype(np.float32)


def gelu(values):
    return values * 0.5 * (1 + np.vectorize(math.erf, otypes=[np.float32])(values / math.sqrt(2)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="folder of an exported model")
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json of the teacher")
    parser.add_argument("--han", type=Path, required=True, help="folds of traditional characters")
    arguments = parser.parse_args()
    reference = Reference(arguments.model, arguments.tokenizer, Folds(arguments.han))
    lines = []
    for text in TEXTS:
        vector = [round(float(value), 6) for value in reference.vector(text)[:SHOWN]]
        lines.append(json.dumps({"text": text, "ids": reference.pieces(text), "vector": vector}, ensure_ascii=False))
    (arguments.model / "golden.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
